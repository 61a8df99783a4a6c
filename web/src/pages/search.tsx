/** Results of a search, with filters by facet and a list that can be extended. */
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { addressOf } from '../address.ts'
import { cardOf, lastPartOf } from '../api/entity.ts'
import { facetValuesMaxCount, search, type Facet } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { CardLink } from '../parts/card-line.tsx'
import { CopyAs } from '../parts/copy-as.tsx'
import { ShowAll } from '../parts/show-all.tsx'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { goTo } from '../parts/use-address.ts'
import { useResource } from '../parts/use-resource.ts'
import { texts, typeName } from '../texts.ts'
import { optionsOf, type FacetOption } from './search-facets.ts'
import { addressWith, asAsked, filtersOf, searchCommand, toggled, without } from './search-question.ts'

const pageCount = 50
/** The largest number of results for one question. */
const shownMaxCount = 10_000
/** The number of values of a facet that are shown at first. */
const valuesFirstCount = 12

export function SearchPage() {
  const { url, route } = useLocation()
  const params = new URL(url, location.href).searchParams
  const words = params.get('q') || '*'
  const filters = filtersOf(params)
  const question = JSON.stringify([words, filters])
  const [shown, setShown] = useState({ question, count: pageCount })
  /** Only on a narrow screen are they ever folded. */
  const [areFiltersOpen, setFiltersOpen] = useState(false)
  const count = shown.question === question ? shown.count : pageCount
  const {
    last: data,
    error,
    reload
  } = useResource(`${question} ${count}`, (signal) =>
    graphql(search, { query: words, start: 0, count, filters: asAsked(filters) }, signal)
  )
  // Hides results for other words if these could not be searched.
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return <Loading />
  const { total, isEstimate, searchResults, facets, suggestions } = data.searchAcrossEntities
  const filled = (facets ?? [])
    .filter(({ aggregations }) => aggregations.length > 0)
    .map((facet) => ({ facet, options: optionsOf(facet) }))
  return (
    <div class="split">
      <button
        type="button"
        class="filters-button"
        aria-expanded={areFiltersOpen}
        onClick={() => {
          setFiltersOpen(!areFiltersOpen)
        }}
      >
        {texts.search.filtersChosen(filters.reduce((sum, { values }) => sum + values.length, 0))}
      </button>
      <aside
        class={areFiltersOpen ? 'filters stack' : 'filters folded stack'}
        aria-label={texts.search.filters}
      >
        {filled.map(({ facet, options }) => (
          <FacetList
            key={facet.field}
            facet={facet}
            options={options}
            chosen={filters.find(({ field }) => field === facet.field)?.values ?? []}
            choose={(value) => {
              goTo(route, addressWith(words, toggled(filters, facet.field, value)))
            }}
          />
        ))}
      </aside>
      <section class="stack">
        <h1>{texts.search.results(total, isEstimate)}</h1>
        <p class="visually-hidden" role="status">
          {texts.search.results(total, isEstimate)}
        </p>
        {filters.length > 0 && (
          <div class="row">
            {filters.flatMap(({ field, values }) =>
              values.map((value) => {
                const name = nameOfFilter(filled, field, value)
                return (
                  <a
                    key={`${field}:${value}`}
                    class="chip"
                    href={addressWith(words, without(filters, field, value))}
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
            <p>{texts.search.noneHint}</p>
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
          </Empty>
        ) : (
          <ul class="list panel">
            {searchResults.map(({ entity }) => (
              <li key={entity.urn}>
                <CardLink card={cardOf(entity)} />
              </li>
            ))}
          </ul>
        )}
        {searchResults.length < total && searchResults.length < shownMaxCount && (
          <div>
            <button
              type="button"
              onClick={() => {
                setShown({ question, count: Math.min(shownMaxCount, count * 2) })
              }}
            >
              {texts.search.more}
            </button>
          </div>
        )}
        {searchResults.length < total && searchResults.length >= shownMaxCount && (
          <p class="soft">{texts.search.tooMany(shownMaxCount)}</p>
        )}
        <CopyAs
          graphql={{
            text: search.text,
            variables: { query: words, start: 0, count, filters: asAsked(filters) }
          }}
          command={searchCommand(words, filters, count)}
        />
      </section>
    </div>
  )
}

const FacetList = ({
  facet,
  options,
  chosen,
  choose
}: {
  facet: Facet
  options: readonly FacetOption[]
  chosen: readonly string[]
  choose: (value: string) => void
}) => (
  <fieldset class="facet">
    <legend>{facet.displayName ?? facet.field}</legend>
    <ShowAll
      // What is chosen can always be unchosen.
      items={[
        ...options.filter(({ value }) => chosen.includes(value)),
        ...options.filter(({ value }) => !chosen.includes(value))
      ]}
      firstCount={valuesFirstCount}
      label={facet.displayName ?? facet.field}
      draw={({ value, name, count }) => (
        <label key={value} class="row">
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={() => {
              choose(value)
            }}
          />
          <span>{name}</span>
          <span class="soft">{texts.count(count)}</span>
        </label>
      )}
    />
    {facet.aggregations.length >= facetValuesMaxCount && (
      <p class="soft">{texts.search.valuesCut(facetValuesMaxCount)}</p>
    )}
  </fieldset>
)

/** A filter that nothing matches has no facet, so it is called by its value. */
function nameOfFilter(
  facets: readonly { facet: Facet; options: readonly FacetOption[] }[],
  field: string,
  value: string
): string {
  const found = facets
    .find(({ facet }) => facet.field === field)
    ?.options.find((option) => option.value === value)
  if (found) return found.name
  return field === '_entityType' ? typeName(value) : lastPartOf(value)
}
