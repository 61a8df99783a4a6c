/** Chooses a domain: a field to search by name, and below it the matching domains with their paths. */
import { useId, useState } from 'preact/hooks'
import { findDomains } from '../api/domain-queries.ts'
import { graphql } from '../api/request.ts'
import { toFound } from '../pages/domains/use-tree.ts'
import { unfinished } from '../search-words.ts'
import { domainTexts as words } from '../texts/domains.ts'
import { useResource } from './use-resource.ts'

const shownMaxCount = 50

export type Picked = { urn: string; name: string } | null

export function DomainPicker({
  label,
  chosen,
  choose,
  none,
  allows
}: {
  label: string
  /** Undefined while nothing is chosen. */
  chosen: Picked | undefined
  choose: (domain: Picked) => void
  /** The label for choosing no domain, if that is possible. */
  none?: string
  allows?: (domain: { urn: string; parents: readonly string[] }) => boolean
}) {
  const id = useId()
  const [text, setText] = useState('')
  const { last: data, error } = useResource(`pick ${text}`, async (signal) => {
    const { searchAcrossEntities: page } = await graphql(
      findDomains,
      { query: unfinished(text), count: shownMaxCount },
      signal
    )
    return page.searchResults.map(({ entity }) => toFound(entity))
  })
  const shown = (data ?? []).filter(
    ({ urn, parents }) => !allows || allows({ urn, parents: parents.map((parent) => parent.urn) })
  )
  return (
    <div class="stack picker">
      <label class="field">
        {words.pick}
        <input
          type="search"
          value={text}
          autofocus
          onInput={(event) => {
            setText(event.currentTarget.value)
          }}
        />
      </label>
      {error && <p class="problem">{error.message}</p>}
      <div class="picker-list" role="radiogroup" aria-label={label}>
        {none !== undefined && (
          <label class="row">
            <input
              type="radio"
              name={id}
              checked={chosen === null}
              onChange={() => {
                choose(null)
              }}
            />
            {none}
          </label>
        )}
        {shown.map(({ urn, name, parents }) => (
          <label key={urn} class="row" title={urn}>
            <input
              type="radio"
              name={id}
              checked={chosen?.urn === urn}
              onChange={() => {
                choose({ urn, name })
              }}
            />
            <span>
              {parents.length > 0 && (
                <span class="soft">
                  {parents
                    .map((parent) => parent.name)
                    .toReversed()
                    .join(' / ')}
                  {' / '}
                </span>
              )}
              {name}
            </span>
          </label>
        ))}
        {data && shown.length === 0 && <span class="soft">{words.pickNone}</span>}
      </div>
    </div>
  )
}
