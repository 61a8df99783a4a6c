/** The questions of a reader around an asset, and what their answers say about the registers. */
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { valueAt } from '../support/json-answer.ts'
import type { Observation } from './freshness-history.ts'
import {
  directions,
  domainKey,
  domains,
  edgeKey,
  existsKey,
  layers,
  lowDomains,
  parentKey,
  removedKey,
  type Place
} from './freshness-workload.ts'
import { pick, type Random } from './workload.ts'

export type Read = { query: string; variables: JsonObject; decode: (data: JsonValue) => Observation[] }

const removedOrNot = { field: 'removed', values: ['true', 'false'] }

/** The assets one and two hops from an asset if every edge existed. */
function hopsOf(urn: string, direction: string): [string[], string[]] {
  const layer = layers.findIndex((members) => members.includes(urn))
  const step = direction === 'DOWNSTREAM' ? 1 : -1
  return [layers[layer + step] ?? [], layers[layer + 2 * step] ?? []]
}

const edgeBetween = (near: string, far: string, direction: string): string =>
  direction === 'DOWNSTREAM' ? edgeKey(near, far) : edgeKey(far, near)

/** The URN and degree of every result, in order. Empty for an unknown asset. */
function resultsOf(data: JsonValue): Map<string, number> {
  const results = valueAt(data, 'scrollAcrossLineage.searchResults')
  return new Map(
    (Array.isArray(results) ? results : []).map((result) => [
      String(valueAt(result, 'entity.urn')),
      Number(valueAt(result, 'degree'))
    ])
  )
}

const scroll = `query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { total searchResults { degree entity { urn } } } }`

const scrollOf = (urn: string, direction: string, filters: JsonObject[]): JsonObject => ({
  input: {
    urn,
    direction,
    query: '*',
    count: 100,
    ...(filters.length === 0 ? {} : { orFilters: [{ and: filters }] })
  }
})

/** Two hops including soft-deleted assets, so the results depend on edges alone. */
function walkRead(urn: string, direction: string): Read {
  const [near, far] = hopsOf(urn, direction)
  return {
    query: scroll,
    variables: scrollOf(urn, direction, [removedOrNot]),
    decode(data) {
      const results = resultsOf(data)
      const shown = near.filter((each) => results.get(each) === 1)
      const oneHop = near.map((each): Observation => [
        [edgeBetween(urn, each, direction), results.get(each) === 1 ? 'yes' : 'no']
      ])
      const twoHops = far.flatMap((each): Observation[] =>
        results.get(each) === 2
          ? [shown.map((via) => [edgeBetween(via, each, direction), 'yes'])]
          : shown.map((via) => [[edgeBetween(via, each, direction), 'no']])
      )
      return [...oneHop, ...twoHops]
    }
  }
}

/** One hop without soft-deleted assets. */
function keptRead(urn: string, direction: string): Read {
  const [near] = hopsOf(urn, direction)
  return {
    query: scroll,
    variables: scrollOf(urn, direction, [{ field: 'degree', values: ['1'] }]),
    decode(data) {
      const results = resultsOf(data)
      return near.flatMap((each): Observation[] => {
        const edge = edgeBetween(urn, each, direction)
        return results.has(each)
          ? [[[edge, 'yes']], [[removedKey(each), 'no']]]
          : [
              [
                [edge, 'no'],
                [removedKey(each), 'yes']
              ]
            ]
      })
    }
  }
}

/** One hop, only assets in one domain. */
function filteredRead(urn: string, direction: string, domain: string): Read {
  const [near] = hopsOf(urn, direction)
  const elsewhere = ['none', ...domains].filter((each) => each !== domain)
  return {
    query: scroll,
    variables: scrollOf(urn, direction, [
      { field: 'degree', values: ['1'] },
      removedOrNot,
      { field: 'domains', values: [domain] }
    ]),
    decode(data) {
      const results = resultsOf(data)
      return near.flatMap((each): Observation[] => {
        const edge = edgeBetween(urn, each, direction)
        return results.has(each)
          ? [[[edge, 'yes']], [[domainKey(each), domain]]]
          : [[[edge, 'no'], ...elsewhere.map((other) => [domainKey(each), other] as const)]]
      })
    }
  }
}

/** An asset alone: whether it exists, its domain, and the domains above that. */
function pointRead(urn: string): Read {
  return {
    query:
      'query ($urn: String!) { dataset(urn: $urn) { exists domain { domain { urn parentDomains { domains { urn } } } } } }',
    variables: { urn },
    decode(data) {
      const exists: Observation = [[existsKey(urn), valueAt(data, 'dataset.exists') === true ? 'yes' : 'no']]
      const domain = valueAt(data, 'dataset.domain.domain.urn')
      if (typeof domain !== 'string') return [exists, [[domainKey(urn), 'none']]]
      const above = valueAt(data, 'dataset.domain.domain.parentDomains.domains.0.urn')
      return [
        exists,
        [[domainKey(urn), domain]],
        ...(lowDomains.includes(domain)
          ? [[[parentKey(domain), typeof above === 'string' ? above : 'none']] as const]
          : [])
      ]
    }
  }
}

function parentRead(urn: string): Read {
  return {
    query: 'query ($urn: String!) { domain(urn: $urn) { parentDomains { domains { urn } } } }',
    variables: { urn },
    decode(data) {
      const above = valueAt(data, 'domain.parentDomains.domains.0.urn')
      return [[[parentKey(urn), typeof above === 'string' ? above : 'none']]]
    }
  }
}

/** A question whose answer shows most of what was just written. */
export function readAt({ urn, direction }: Place, random: Random): Read {
  if (lowDomains.includes(urn)) return parentRead(urn)
  if (direction === undefined && random() < 0.5) return pointRead(urn)
  const towards =
    direction ??
    pick(
      random,
      directions.filter((each) => hopsOf(urn, each)[0].length > 0)
    )
  const kind = random()
  if (kind < 0.6) return walkRead(urn, towards)
  if (kind < 0.8) return keptRead(urn, towards)
  return filteredRead(urn, towards, pick(random, domains))
}
