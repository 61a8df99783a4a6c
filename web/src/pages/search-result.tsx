/** A result of a search: its card, what it is about, who owns it, and why it matched if its name does not show that. */
import { cardOf, wholeName } from '../api/entity.ts'
import type { MatchedField, RawCard, RawEvidence } from '../api/queries.ts'
import { Avatar } from '../parts/avatar.tsx'
import { CardLink } from '../parts/card-line.tsx'
import { texts } from '../texts.ts'
import { matchOf, plainText, type Match } from './search-match.ts'

/** More owners than this are a number. */
const ownersFirstCount = 3

export function SearchResult({
  entity,
  matchedFields,
  words
}: {
  entity: RawCard & RawEvidence
  matchedFields: readonly MatchedField[]
  words: string
}) {
  const card = cardOf(entity)
  const [about = ''] = (entity.editableProperties?.description || entity.properties?.description || '')
    .trim()
    .split(/\n\s*\n/)
  const owners = entity.ownership?.owners?.map(({ owner }) => cardOf(owner)) ?? []
  const match = matchOf(words, wholeName(card), matchedFields)
  const isInText = match?.field === 'description'
  return (
    <li class="result">
      <CardLink card={card} />
      {owners.length > 0 && (
        <span
          class="result-owners"
          role="img"
          aria-label={texts.search.owners(owners.map(({ name }) => name))}
        >
          {owners.slice(0, ownersFirstCount).map((owner) => (
            <Avatar key={owner.urn} card={owner} />
          ))}
          {owners.length === 1 && <span>{owners[0]?.name}</span>}
          {owners.length > ownersFirstCount && <span>+{owners.length - ownersFirstCount}</span>}
        </span>
      )}
      {about !== '' && !isInText && <p class="result-about">{plainText(about)}</p>}
      {match && (
        <p class="result-match" data-testid="match">
          {!isInText && <span class="soft">{texts.search.matchedIn(match.field)} </span>}
          <Marked match={match} />
        </p>
      )}
    </li>
  )
}

const Marked = ({ match: { parts } }: { match: Match }) => (
  <>{parts.map(({ text, isMark }, place) => (isMark ? <mark key={place}>{text}</mark> : text))}</>
)
