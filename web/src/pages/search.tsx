/** Results of a search, with filters by facet, an order, and a list that can be extended. */
import { Button, Select } from '../parts/fields.tsx'
import { useLocation } from 'preact-iso'
import { useEffect, useRef, useState } from 'preact/hooks'
import { addressOf } from '../address.ts'
import { cardOf } from '../api/entity.ts'
import { complete, search } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { readFacts } from '../api/row-facts.ts'
import { moveAmong } from '../parts/move-among.ts'
import { AssetRow } from '../parts/asset-row.tsx'
import { CopyAs } from '../parts/copy-as.tsx'
import { FoldButton } from '../parts/fold-button.tsx'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { goTo } from '../parts/use-address.ts'
import { useResource } from '../parts/use-resource.ts'
import { texts } from '../texts.ts'
import { nameOfFilter, SearchFilters } from './search-filters.tsx'
import {
  addressWith,
  asAsked,
  questionIn,
  searchCommand,
  sortNames,
  toggled,
  without
} from './search-question.ts'
import { SearchResult } from './search-result.tsx'
import '../style/search.css'

const pageCount = 50
/** The largest number of results for one question. */
const shownMaxCount = 10_000

export function SearchPage() {
  const { url, route } = useLocation()
  const question = questionIn(new URL(url, location.href).searchParams)
  const { words, filters, sort } = question
  const key = JSON.stringify(question)
  const [shown, setShown] = useState({ key, count: pageCount })
  /** Only on a narrow screen are they ever folded. */
  const [areFiltersOpen, setFiltersOpen] = useState(false)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    // The arrow leads from the page, as from the field above it, into the results.
    const enter = (event: KeyboardEvent): void => {
      if (event.target === document.body) moveAmong(event, list.current, 'a.name')
    }
    addEventListener('keydown', enter)
    return () => {
      removeEventListener('keydown', enter)
    }
  }, [])
  const count = shown.key === key ? shown.count : pageCount
  const variables = asAsked(question, count)
  const {
    last: data,
    error,
    reload
  } = useResource(`${key} ${count}`, async (signal) => {
    const answer = await graphql(search, variables, signal)
    await readFacts(
      answer.searchAcrossEntities.searchResults.map(({ entity }) => entity.urn).slice(0, pageCount)
    )
    return answer
  })
  // Hides results for other words if these could not be searched.
  if (error)
    return (
      <div class="stack">
        <Failure error={error} retry={reload} />
        {sort !== '' && <a href={addressWith(words, filters)}>{texts.search.unsorted}</a>}
      </div>
    )
  if (!data) return <Loading />
  const { total, isEstimate, searchResults, suggestions } = data.searchAcrossEntities
  const { facets } = data.aggregateAcrossEntities
  // Where nothing is found, no other filter would change that.
  const hasFilters = total > 0 || filters.length > 0
  return (
    <div class={hasFilters ? 'split' : 'split alone'}>
      {hasFilters && (
        <>
          <FoldButton
            label={texts.search.filtersChosen(filters.reduce((sum, { values }) => sum + values.length, 0))}
            isOpen={areFiltersOpen}
            setOpen={setFiltersOpen}
          />
          <aside
            class={areFiltersOpen ? 'filters stack' : 'filters folded stack'}
            aria-label={texts.search.filters}
          >
            <SearchFilters
              facets={facets}
              filters={filters}
              choose={(field, value) => {
                goTo(route, addressWith(words, toggled(filters, field, value), sort))
              }}
            />
          </aside>
        </>
      )}
      <section class="stack">
        <div class="row apart">
          <h1>
            {words === '*' && filters.length === 0 && <span class="soft">{texts.search.allAssets} </span>}
            {texts.search.results(total, isEstimate)}
          </h1>
          {total > 0 && (
            <label class="row sort-choice">
              <span class="soft">{texts.search.sort}</span>
              <Select
                label={texts.search.sort}
                value={sort}
                change={(value) => goTo(route, addressWith(words, filters, value))}
                options={sortNames.map((name) => [name, texts.search.sortBy(name)] as const)}
              />
            </label>
          )}
        </div>
        <p class="visually-hidden" role="status">
          {texts.search.results(total, isEstimate)}
        </p>
        {filters.length > 0 && (
          <div class="row">
            {filters.flatMap(({ field, values }) =>
              values.map((value) => {
                const name = nameOfFilter(facets, field, value)
                return (
                  <a
                    key={`${field}:${value}`}
                    class="chip"
                    href={addressWith(words, without(filters, field, value), sort)}
                    aria-label={texts.search.remove(name)}
                  >
                    {name} ×
                  </a>
                )
              })
            )}
          </div>
        )}
        {total === 0 ? (
          <Empty title={texts.search.none(words)}>
            <p>{texts.search.noneHint(filters.length > 0)}</p>
            {filters.length > 0 && (
              <p>
                <a class="button" href={addressWith(words, [])}>
                  {texts.search.unfiltered}
                </a>
              </p>
            )}
            {suggestions && suggestions.length > 0 && (
              <p>
                {texts.search.didYouMean}{' '}
                {suggestions.map(({ text }) => (
                  <a key={text} class="chip" href={addressOf('search', { q: text })}>
                    {text}
                  </a>
                ))}
              </p>
            )}
            <Alike words={words} />
          </Empty>
        ) : (
          <ul
            ref={list}
            class="list panel results"
            onKeyDown={(event) => {
              moveAmong(event, list.current, 'a.name', () =>
                document.querySelector<HTMLElement>('[role=search] input')
              )
            }}
          >
            {searchResults.map(({ entity, matchedFields }) => (
              <SearchResult key={entity.urn} entity={entity} matchedFields={matchedFields} words={words} />
            ))}
          </ul>
        )}
        {searchResults.length < total && searchResults.length < shownMaxCount && (
          <div>
            <Button run={() => setShown({ key, count: Math.min(shownMaxCount, count * 2) })}>
              {texts.search.more}
            </Button>
          </div>
        )}
        {searchResults.length < total && searchResults.length >= shownMaxCount && (
          <p class="soft">{texts.search.tooMany(shownMaxCount)}</p>
        )}
        <CopyAs graphql={{ text: search.text, variables }} command={searchCommand(question, count)} />
      </section>
    </div>
  )
}

const alikeCount = 3

/** What has a name that begins like the longest of the words. */
function Alike({ words }: { words: string }) {
  const [longest = ''] = words.split(/[^\p{L}\p{N}]+/u).toSorted((a, b) => b.length - a.length)
  const beginning = longest.slice(0, 4)
  const { data } = useResource(beginning.length < 3 ? null : `alike ${beginning}`, (signal) =>
    graphql(complete, { query: beginning, limit: alikeCount }, signal)
  )
  const found =
    data?.autoCompleteForMultiple.suggestions.flatMap(({ entities }) => entities.map(cardOf)) ?? []
  if (found.length === 0) return null
  return (
    <>
      <h3>{texts.search.alike(beginning)}</h3>
      <ul class="list">
        {found.slice(0, 2 * alikeCount).map((card) => (
          <li key={card.urn}>
            <AssetRow card={card} />
          </li>
        ))}
      </ul>
    </>
  )
}
