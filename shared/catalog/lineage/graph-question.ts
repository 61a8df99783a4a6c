/**
 * Checks the input of a lineage graph and turns it into a complete question: nothing looks at the input
 * again.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { checkCount } from '../../model/count-checks.ts'
import { entityTypeOfGraphql, graphqlTypeOf } from '../../model/entity-types.ts'
import type { LineageDirection, LineageLevel, TimeWindow } from '../../model/walk.ts'
import { entityTypeOf, toUrn, type Urn } from '../../urn/urn.ts'
import { pageStart } from '../entities/page-count.ts'
import { checkWindow } from './scroll-question.ts'

type Maybe<T> = T | null | undefined

/** The input as clients send it; entity types are those of GraphQL. */
export type LineageGraphInput = {
  urn: string
  upHops?: Maybe<number>
  downHops?: Maybe<number>
  expand?: Maybe<
    readonly {
      urn: string
      direction: LineageDirection
      start?: Maybe<number>
      count?: Maybe<number>
      neighbours?: Maybe<readonly string[]>
    }[]
  >
  collapse?: Maybe<readonly { urn: string; direction: LineageDirection }[]>
  fanOut?: Maybe<FanOut>
  startTimeMillis?: Maybe<number>
  endTimeMillis?: Maybe<number>
  columns?: Maybe<boolean>
  columnRows?: Maybe<number>
  types?: Maybe<readonly string[]>
  hideJobs?: Maybe<boolean>
  count?: Maybe<number>
}

/** `start` is the number of neighbours to skip; `only` lists the neighbours to add, null for all. */
export type Expand = {
  urn: Urn
  direction: LineageDirection
  start: number
  count: number
  only: readonly Urn[] | null
}

/** A node with more than `above` neighbours to add in a direction adds the first `show`. */
export type FanOut = { above: number; show: number }

export type GraphQuestion = {
  startUrn: Urn
  /** The level of the start: from a column, the nodes are columns. */
  level: LineageLevel
  hops: { [direction in LineageDirection]: number }
  expands: readonly Expand[]
  /** Nodes at which hops in the direction end. */
  collapsed: { [direction in LineageDirection]: readonly Urn[] }
  /** Limits hops with many neighbours; null for no limit. */
  fanOut: FanOut | null
  window: TimeWindow | null
  /** Whether the columns of assets are shown. */
  showsColumns: boolean
  /** Number of columns listed for each asset, with or without edges. */
  columnRows: number
  /** GraphQL types to show; null for all. */
  types: ReadonlySet<string> | null
  hidesJobs: boolean
  /** The largest number of nodes, including the start. */
  count: number
}

/** More rows on a card would cover the graph. */
const defaultColumnRows = 8

/** Jobs and runs, which a graph without jobs shows as edges. */
export const jobTypes: ReadonlySet<string> = new Set(['dataJob', 'dataProcessInstance'])

/** Throws BAD_REQUEST (a number or time out of range), LIMIT_EXCEEDED, INVALID_URN, INVALID_CHARACTER; the message names the input. */
export function checkGraphQuestion(input: LineageGraphInput): GraphQuestion {
  const startUrn = toUrn(input.urn, 'input.urn')
  const level = entityTypeOf(startUrn) === 'schemaField' ? 'column' : 'asset'
  const expands = input.expand ?? []
  checkCount(expands.length, 'graphExpandsMaxCount', {
    field: 'input.expand',
    what: `input.expand has ${expands.length} entries`
  })
  const collapse = input.collapse ?? []
  checkCount(collapse.length, 'graphExpandsMaxCount', {
    field: 'input.collapse',
    what: `input.collapse has ${collapse.length} entries`
  })
  const collapsed = collapse.map(({ urn, direction }, index) => ({
    urn: toUrn(urn, `input.collapse[${index}].urn`),
    direction
  }))
  const named = expands.reduce((sum, { neighbours }) => sum + (neighbours?.length ?? 0), 0)
  checkCount(named, 'graphNodesMaxCount', {
    field: 'input.expand',
    what: `input.expand names ${named} neighbours`
  })
  const types = input.types ?? []
  const count = countOf(input.count, limits.graphNodesDefaultCount, 'input.count')
  return {
    startUrn,
    level,
    hops: {
      UPSTREAM: hopsOf(input.upHops, 'input.upHops'),
      DOWNSTREAM: hopsOf(input.downHops, 'input.downHops')
    },
    expands: expands.map(({ urn, direction, start, count, neighbours }, index) => ({
      urn: toUrn(urn, `input.expand[${index}].urn`),
      direction,
      start: pageStart(start, `input.expand[${index}].start`),
      count: countOf(count, limits.graphNodesMaxCount, `input.expand[${index}].count`),
      only: neighbours
        ? neighbours.map((neighbour, place) =>
            toUrn(neighbour, `input.expand[${index}].neighbours[${place}]`)
          )
        : null
    })),
    collapsed: {
      UPSTREAM: collapsed.filter(({ direction }) => direction === 'UPSTREAM').map(({ urn }) => urn),
      DOWNSTREAM: collapsed.filter(({ direction }) => direction === 'DOWNSTREAM').map(({ urn }) => urn)
    },
    fanOut: input.fanOut ? fanOutOf(input.fanOut) : null,
    window: checkWindow(input),
    showsColumns: input.columns === true && level === 'asset',
    columnRows: rowsOf(input.columnRows, count),
    types:
      types.length > 0
        ? new Set(types.map((type) => graphqlTypeOf(entityTypeOfGraphql(type) ?? 'OTHER')))
        : null,
    hidesJobs: input.hideJobs === true,
    count
  }
}

function rowsOf(count: Maybe<number>, nodeCount: number): number {
  const field = 'input.columnRows'
  const wanted = count ?? defaultColumnRows
  if (wanted < 0)
    throw new CatalogError('BAD_REQUEST', `${field} must not be negative`, { field, actual: wanted })
  checkCount(wanted, 'graphColumnRowsMaxCount', { field, what: `${field} is ${wanted}` })
  checkCount(wanted * nodeCount, 'graphColumnsMaxCount', {
    field,
    what: `${wanted} columns of ${nodeCount} nodes are ${wanted * nodeCount}`,
    wayOut: 'Ask for fewer nodes (input.count), or for fewer columns of each'
  })
  return wanted
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

function fanOutOf({ above, show }: FanOut): FanOut {
  if (show > above)
    throw new CatalogError('BAD_REQUEST', 'input.fanOut.show must not be more than input.fanOut.above', {
      field: 'input.fanOut.show',
      actual: show
    })
  return {
    above: countOf(above, above, 'input.fanOut.above'),
    show: countOf(show, show, 'input.fanOut.show')
  }
}
