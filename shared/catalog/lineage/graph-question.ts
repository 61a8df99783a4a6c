/** Checks the input of a lineage graph and makes of it a question that can be answered without looking back at the input. */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { checkCount } from '../../model/count-checks.ts'
import { entityTypeOfGraphql, graphqlTypeOf } from '../../model/entity-types.ts'
import type { LineageDirection, LineageLevel } from '../../model/walk.ts'
import { entityTypeOf, toUrn, type Urn } from '../../urn/urn.ts'

type Maybe<T> = T | null | undefined

/** As clients send it; entity types are those of GraphQL. */
export type LineageGraphInput = {
  urn: string
  upHops?: Maybe<number>
  downHops?: Maybe<number>
  expand?: Maybe<readonly { urn: string; direction: LineageDirection; count?: Maybe<number> }[]>
  columns?: Maybe<boolean>
  types?: Maybe<readonly string[]>
  hideJobs?: Maybe<boolean>
  count?: Maybe<number>
}

export type Expand = { urn: Urn; direction: LineageDirection; count: number }

export type GraphQuestion = {
  startUrn: Urn
  /** From a column the nodes are columns. */
  level: LineageLevel
  hops: { [direction in LineageDirection]: number }
  expands: readonly Expand[]
  /** Whether the columns of assets are shown. */
  showsColumns: boolean
  /** GraphQL types to show; null for all. */
  types: ReadonlySet<string> | null
  hidesJobs: boolean
  /** Nodes at most, the start among them. */
  count: number
}

/** What runs and is shown as an edge where jobs are hidden. */
export const jobTypes: ReadonlySet<string> = new Set(['dataJob', 'dataProcessInstance'])

/** Throws BAD_REQUEST (a negative number), LIMIT_EXCEEDED, INVALID_URN, INVALID_CHARACTER; the message names the input. */
export function checkGraphQuestion(input: LineageGraphInput): GraphQuestion {
  const startUrn = toUrn(input.urn, 'input.urn')
  const level = entityTypeOf(startUrn) === 'schemaField' ? 'column' : 'asset'
  const expands = input.expand ?? []
  checkCount(expands.length, 'graphExpandsMaxCount', {
    field: 'input.expand',
    what: `input.expand has ${expands.length} entries`
  })
  const types = input.types ?? []
  return {
    startUrn,
    level,
    hops: {
      UPSTREAM: hopsOf(input.upHops, 'input.upHops'),
      DOWNSTREAM: hopsOf(input.downHops, 'input.downHops')
    },
    expands: expands.map(({ urn, direction, count }, index) => ({
      urn: toUrn(urn, `input.expand[${index}].urn`),
      direction,
      count: countOf(count, limits.graphNodesMaxCount, `input.expand[${index}].count`)
    })),
    showsColumns: input.columns === true && level === 'asset',
    types:
      types.length > 0
        ? new Set(types.map((type) => graphqlTypeOf(entityTypeOfGraphql(type) ?? 'OTHER')))
        : null,
    hidesJobs: input.hideJobs === true,
    count: countOf(input.count, limits.graphNodesDefaultCount, 'input.count')
  }
}

function hopsOf(hops: Maybe<number>, field: string): number {
  const wanted = hops ?? 1
  if (wanted < 0)
    throw new CatalogError('BAD_REQUEST', `${field} must not be negative`, { field, actual: wanted })
  checkCount(wanted, 'walkMaxHops', { field, what: `${field} is ${wanted}` })
  return wanted
}

function countOf(count: Maybe<number>, defaultCount: number, field: string): number {
  const wanted = count ?? defaultCount
  if (wanted < 1)
    throw new CatalogError('BAD_REQUEST', `${field} must be at least 1`, { field, actual: wanted })
  checkCount(wanted, 'graphNodesMaxCount', { field, what: `${field} is ${wanted}` })
  return wanted
}
