/** A result of a search: its row, and why it matched if its name does not show that. */
import { cardOf, wholeName } from '../api/entity.ts'
import type { MatchedField, RawCard } from '../api/queries.ts'
import { AssetRow } from '../parts/asset-row.tsx'
import { texts } from '../texts.ts'
import { matchOf, type Match } from './search-match.ts'

export function SearchResult({
  entity,
  matchedFields,
  words
}: {
  entity: RawCard
  matchedFields: readonly MatchedField[]
  words: string
}) {
  const card = cardOf(entity)
  const match = matchOf(words, wholeName(card), matchedFields)
  const isInText = match?.field === 'description'
  return (
    <li class="result">
      <AssetRow card={card} withAbout={!isInText}>
        {match && (
          <p class="row-about" data-testid="match">
            {!isInText && <span class="soft">{texts.search.matchedIn(match.field)} </span>}
            <Marked match={match} />
          </p>
        )}
      </AssetRow>
    </li>
  )
}

const Marked = ({ match: { parts } }: { match: Match }) => (
  <>{parts.map(({ text, isMark }, place) => (isMark ? <mark key={place}>{text}</mark> : text))}</>
)
