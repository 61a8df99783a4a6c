/** Chooses one domain or several: a field to search by name, and below it the matching domains with their paths. */
import { useId, useRef, useState } from 'preact/hooks'
import { findDomains } from '../api/domain-queries.ts'
import { graphql } from '../api/request.ts'
import { toFound } from '../pages/domains/use-tree.ts'
import { unfinished } from '../search-words.ts'
import { domainTexts as words } from '../texts/domains.ts'
import { moveAmong } from './move-among.ts'
import { useResource } from './use-resource.ts'

const shownMaxCount = 50

export type NamedDomain = { urn: string; name: string }
export type Picked = NamedDomain | null

export function DomainPicker({
  label,
  chosen,
  choose,
  none,
  allows
}: {
  label: string
  /** The chosen domain; undefined if there is none. */
  chosen: Picked | undefined
  choose: (domain: Picked) => void
  /** The label for choosing no domain, if that is possible. */
  none?: string
  allows?: (domain: { urn: string; parents: readonly string[] }) => boolean
}) {
  const id = useId()
  const { field, found, note, list, onKeyDown } = useDomainSearch()
  const shown = found?.filter(
    ({ urn, parents }) => !allows || allows({ urn, parents: parents.map((parent) => parent.urn) })
  )
  return (
    <div class="stack picker" onKeyDown={onKeyDown}>
      {field}
      <div ref={list} class="picker-list" role="radiogroup" aria-label={label}>
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
        {shown?.map(({ urn, name, parents }) => (
          <label key={urn} class="row" title={urn}>
            <input
              type="radio"
              name={id}
              checked={chosen?.urn === urn}
              onChange={() => {
                choose({ urn, name })
              }}
            />
            <NameWithPath name={name} parents={parents} />
          </label>
        ))}
        {shown?.length === 0 && <span class="soft">{words.pickNone}</span>}
      </div>
      {note}
    </div>
  )
}

/** The chosen domains stay in the list, above the found domains, even if the search does not find them. */
export function DomainsPicker({
  label,
  chosen,
  choose
}: {
  label: string
  chosen: readonly NamedDomain[]
  choose: (domains: readonly NamedDomain[]) => void
}) {
  const { field, found, note, list, onKeyDown } = useDomainSearch()
  const [kept, setKept] = useState<readonly NamedDomain[]>(chosen)
  const isIn = (domains: readonly NamedDomain[], urn: string): boolean =>
    domains.some((domain) => domain.urn === urn)
  const shown = [
    ...kept.filter(({ urn }) => !isIn(found ?? [], urn)).map((domain) => ({ ...domain, parents: [] })),
    ...(found ?? [])
  ]
  return (
    <div class="stack picker" onKeyDown={onKeyDown}>
      {field}
      <div ref={list} class="picker-list" role="group" aria-label={label}>
        {shown.map(({ urn, name, parents }) => {
          const isChosen = isIn(chosen, urn)
          return (
            <label key={urn} class="row" title={urn}>
              <input
                type="checkbox"
                checked={isChosen}
                onChange={() => {
                  if (!isIn(kept, urn)) setKept([...kept, { urn, name }])
                  choose(
                    isChosen ? chosen.filter((domain) => domain.urn !== urn) : [...chosen, { urn, name }]
                  )
                }}
              />
              <NameWithPath name={name} parents={parents} />
            </label>
          )
        })}
        {found && shown.length === 0 && <span class="soft">{words.pickNone}</span>}
      </div>
      {note}
    </div>
  )
}

function useDomainSearch() {
  const [text, setText] = useState('')
  const list = useRef<HTMLDivElement>(null)
  const { last, error } = useResource(`pick ${text}`, async (signal) => {
    const { searchAcrossEntities: page } = await graphql(
      findDomains,
      { query: unfinished(text), count: shownMaxCount },
      signal
    )
    return { domains: page.searchResults.map(({ entity }) => toFound(entity)), total: page.total }
  })
  const field = (
    <>
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
    </>
  )
  const found = last?.domains
  const note = last && last.total > last.domains.length && (
    <p class="soft" role="status">
      {words.pickCut(last.domains.length, last.total)}
    </p>
  )
  // The arrow leads from the field into the list. There it moves as in every group of radio buttons; check boxes,
  // which have no such keys, get them here.
  const onKeyDown = (event: KeyboardEvent): void => {
    const { target, key } = event
    if (!(target instanceof HTMLInputElement)) return
    if (target.type === 'search') {
      const first = list.current?.querySelector<HTMLInputElement>('label[title] input')
      if (!first || (key !== 'ArrowDown' && key !== 'Enter')) return
      event.preventDefault()
      first.focus()
      if (first.type === 'radio') first.click()
    } else if (target.type === 'checkbox') {
      moveAmong(event, list.current, 'input')
      if (key !== 'Enter') return
      event.preventDefault()
      target.click()
    }
  }
  return { field, found, note, list, onKeyDown }
}

const NameWithPath = ({ name, parents }: { name: string; parents: readonly { name: string }[] }) => (
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
)
