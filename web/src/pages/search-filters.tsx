/** The filters of a search: the values that results have, each with their number, and whether there is lineage. */
import type { ComponentChildren } from 'preact'
import { lastPartOf } from '../api/entity.ts'
import { facetValuesMaxCount, type Facet, type Filter } from '../api/queries.ts'
import { Avatar } from '../parts/avatar.tsx'
import { PlatformMark } from '../parts/platform-mark.tsx'
import { ShowAll } from '../parts/show-all.tsx'
import { texts, typeName } from '../texts.ts'
import { noDomain } from './impact-question.ts'
import { optionsOf, type FacetOption } from './search-facets.ts'
import { domainsField, lineageField } from './search-question.ts'

/** The number of values of a facet that are shown at first. */
const valuesFirstCount = 8
const markSize = 18

export function SearchFilters({
  facets,
  filters,
  choose
}: {
  facets: readonly Facet[]
  filters: readonly Filter[]
  /** Puts a value of a field in, or takes it out. */
  choose: (field: string, value: string) => void
}) {
  const chosenOf = (field: string): readonly string[] =>
    filters.find((filter) => filter.field === field)?.values ?? []
  return (
    <>
      {facets
        .filter(({ field, aggregations }) => aggregations.length > 0 || chosenOf(field).length > 0)
        .map((facet) => (
          <FacetList
            key={facet.field}
            facet={facet}
            options={optionsOf(facet)}
            chosen={chosenOf(facet.field)}
            choose={(value) => {
              choose(facet.field, value)
            }}
          />
        ))}
      <fieldset class="facet">
        <legend>{texts.search.lineage}</legend>
        {['true', 'false'].map((value) => (
          <Choice
            key={value}
            name={texts.search.hasLineage(value)}
            isChosen={chosenOf(lineageField).includes(value)}
            choose={() => {
              choose(lineageField, value)
            }}
          />
        ))}
      </fieldset>
    </>
  )
}

function FacetList({
  facet,
  options,
  chosen,
  choose
}: {
  facet: Facet
  options: readonly FacetOption[]
  chosen: readonly string[]
  choose: (value: string) => void
}) {
  const label = facet.displayName ?? facet.field
  const isChosen = ({ value }: FacetOption): boolean => chosen.includes(value)
  return (
    <fieldset class="facet">
      <legend>{label}</legend>
      <ShowAll
        // What is chosen can always be unchosen.
        items={[...options.filter(isChosen), ...options.filter((option) => !isChosen(option))]}
        firstCount={valuesFirstCount}
        label={label}
        draw={(option) => (
          <Choice
            key={option.value}
            name={option.name}
            mark={<OptionMark field={facet.field} option={option} />}
            count={texts.search.about(option.count, facet.isEstimate)}
            isChosen={isChosen(option)}
            choose={() => {
              choose(option.value)
            }}
          />
        )}
      />
      {facet.field === domainsField && (
        <Choice
          name={texts.search.noDomain}
          isChosen={chosen.includes(noDomain)}
          choose={() => {
            choose(noDomain)
          }}
        />
      )}
      {facet.aggregations.length >= facetValuesMaxCount && (
        <p class="soft">{texts.search.valuesCut(facetValuesMaxCount)}</p>
      )}
    </fieldset>
  )
}

const OptionMark = ({ field, option: { value, name } }: { field: string; option: FacetOption }) =>
  field === 'platform' ? (
    <PlatformMark platform={lastPartOf(value)} size={markSize} />
  ) : field === 'owners' ? (
    <Avatar card={{ urn: value, name }} size={markSize} />
  ) : null

const Choice = ({
  name,
  mark,
  count,
  isChosen,
  choose
}: {
  name: string
  mark?: ComponentChildren
  count?: string
  isChosen: boolean
  choose: () => void
}) => (
  <label class="row">
    <input type="checkbox" checked={isChosen} onChange={choose} />
    {mark}
    <span class="facet-name">{name}</span>
    {count !== undefined && <span class="soft">{count}</span>}
  </label>
)

/** A filter that nothing matches has no facet, so it is called by its value. */
export function nameOfFilter(facets: readonly Facet[], field: string, value: string): string {
  if (field === lineageField) return texts.search.hasLineage(value)
  if (field === domainsField && value === noDomain) return texts.search.noDomain
  const facet = facets.find((each) => each.field === field)
  const found = facet && optionsOf(facet).find((option) => option.value === value)
  if (found) return found.name
  return field === '_entityType' ? typeName(value) : lastPartOf(value)
}
