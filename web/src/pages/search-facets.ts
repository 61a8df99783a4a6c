/** The values that results can be filtered by, each with its name and the number of results it would leave. */
import { cardOf, lastPartOf } from '../api/entity.ts'
import type { Facet, NamedDomain } from '../api/queries.ts'
import { platformTitle } from '../parts/platforms.ts'
import { typeName } from '../texts.ts'
import { domainsField } from './search-question.ts'

export type FacetOption = { value: string; name: string; count: number }

/** Most frequent first. A domain counts what is in its sub-domains too, because its filter includes them. */
export const optionsOf = (facet: Facet): FacetOption[] =>
  facet.field === domainsField
    ? wholeDomains(facet.aggregations)
    : facet.aggregations.map(({ value, count, displayName, entity }) => ({
        value,
        count,
        name:
          facet.field === '_entityType'
            ? typeName(value)
            : facet.field === 'platform'
              ? platformTitle(lastPartOf(value))
              : entity
                ? cardOf(entity).name
                : (displayName ?? value)
      }))

function wholeDomains(aggregations: Facet['aggregations']): FacetOption[] {
  const options = new Map<string, FacetOption>()
  for (const { value, count, displayName, entity } of aggregations) {
    const own = { urn: value, name: entity ? cardOf(entity).name : (displayName ?? lastPartOf(value)) }
    const path = [own, ...(entity?.parentDomains?.domains ?? []).map(named)]
    // A broken tree may have a domain above itself.
    for (const [place, { urn }] of path.entries()) {
      if (path.findIndex((each) => each.urn === urn) < place) continue
      const option = options.get(urn) ?? { value: urn, name: pathOf(path.slice(place)), count: 0 }
      options.set(urn, { ...option, count: option.count + count })
    }
  }
  return [...options.values()].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
}

const named = ({ urn, properties }: NamedDomain): { urn: string; name: string } => ({
  urn,
  name: properties?.name ?? lastPartOf(urn)
})

/** Domains of different parents often have the same name. */
const pathOf = (path: readonly { name: string }[]): string =>
  path
    .map(({ name }) => name)
    .toReversed()
    .join(' › ')
