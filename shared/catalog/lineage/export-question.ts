/**
 * Checks the parameters of an export and turns them into a complete question: nothing looks at the parameters
 * again.
 */
import { CatalogError } from '../../errors.ts'
import { checkCount } from '../../model/count-checks.ts'
import { entityTypes } from '../../model/entity-types.ts'
import type { LineageDirection, LineageLevel, TimeWindow } from '../../model/walk.ts'
import { entityTypeOf, toUrn, type Urn } from '../../urn/urn.ts'
import { soughtText } from '../entities/entity-texts.ts'
import { degreeValues, lineageFilterFields } from './filter-fields.ts'
import {
  checkFilters,
  mentions,
  type FacetFilterInput,
  type FilterGroupInput,
  type Filters
} from './lineage-filters.ts'
import { checkWindow } from './scroll-question.ts'
import type { HitFilters } from './filter-hits.ts'

/** The input as the URL has it; null for absent parameters. */
export type ExportInput = {
  urn: string | null
  direction: LineageDirection
  hops: number | null
  /** Entity types by their names in GraphQL. */
  types: readonly string[]
  query: string | null
  degrees: readonly string[]
  platforms: readonly string[]
  domain: string | null
  columns: boolean | null
  /** Whether a walk along columns has rows for jobs and dashboards. In a diagram they would have no edges. */
  withAssets: boolean
  startTimeMillis: number | null
  endTimeMillis: number | null
  filters: readonly FilterGroupInput[]
}

export type ExportQuestion = HitFilters & {
  startUrn: Urn
  direction: LineageDirection
  level: LineageLevel
  /** Whether the walk begins at the columns of the start, not at the start. */
  beginsAtColumns: boolean
  withAssets: boolean
  /** The number of hops to follow; Infinity for all. */
  hops: number
  window: TimeWindow | null
}

/**
 * An entity must match both the named parameters and `filters`. Throws BAD_REQUEST (no start, a type or
 * filter that is not allowed, assets requested from a column), LIMIT_EXCEEDED, INVALID_URN,
 * INVALID_CHARACTER; the error names the parameter.
 */
export function checkExport(input: ExportInput): ExportQuestion {
  if (input.urn === null || input.urn.trim() === '')
    throw new CatalogError('BAD_REQUEST', 'urn must say where the lineage begins', { field: 'urn' })
  const startUrn = toUrn(input.urn, 'urn')
  const isColumn = entityTypeOf(startUrn) === 'schemaField'
  if (isColumn && input.columns === false)
    throw new CatalogError(
      'BAD_REQUEST',
      'A walk that starts at a column always returns columns; omit columns',
      {
        field: 'columns'
      }
    )
  const filters = bothOf(checkFilters(input.filters, lineageFilterFields, 'filters'), ownFilters(input))
  return {
    startUrn,
    direction: input.direction,
    level: isColumn || input.columns === true ? 'column' : 'asset',
    beginsAtColumns: !isColumn && input.columns === true,
    withAssets: input.withAssets,
    hops: checkedHops(input.hops),
    window: windowOf(input),
    types: checkedTypes(input.types),
    text: soughtText(input.query, 'query'),
    filters,
    includesRemoved: mentions(filters, 'removed')
  }
}

function checkedHops(hops: number | null): number {
  checkCount(hops ?? 0, 'walkMaxHops', { field: 'hops', what: `hops is ${hops}` })
  return hops ?? Infinity
}

function windowOf({ startTimeMillis, endTimeMillis }: ExportInput): TimeWindow | null {
  if (startTimeMillis !== null && endTimeMillis !== null && endTimeMillis < startTimeMillis) {
    throw new CatalogError('BAD_REQUEST', 'endTimeMillis is before startTimeMillis', {
      field: 'endTimeMillis'
    })
  }
  return checkWindow({ startTimeMillis, endTimeMillis })
}

const typesWithLineage = entityTypes
  .filter(({ hasLineage }) => hasLineage)
  .map(({ graphqlType }) => graphqlType)

function checkedTypes(types: readonly string[]): ReadonlySet<string> | null {
  const wrong = types.find((type) => !entityTypes.some(({ graphqlType }) => graphqlType === type))
  if (wrong !== undefined)
    throw new CatalogError('BAD_REQUEST', `types: unknown entity type ${wrong.slice(0, 100)}`, {
      field: 'types',
      allowed: typesWithLineage
    })
  return types.length > 0 ? new Set(types) : null
}

/**
 * The filters that have parameters of their own, as one group or none. Checked first, so that errors name the
 * parameter.
 */
function ownFilters({ degrees, platforms, domain }: ExportInput): Filters {
  const wrong = degrees.find((degree) => !degreeValues.some((value) => value === degree))
  if (wrong !== undefined)
    throw new CatalogError('BAD_REQUEST', `degree cannot be ${wrong.slice(0, 100)}`, {
      field: 'degree',
      allowed: degreeValues
    })
  checkCount(platforms.length, 'filterValuesMaxCount', {
    field: 'platform',
    what: `platform has ${platforms.length} values`
  })
  const and: FacetFilterInput[] = [
    { field: 'degree', values: degrees },
    { field: 'platform', values: platforms },
    { field: 'domains', values: domain === null ? [] : [toUrn(domain, 'domain')] }
  ].filter(({ values }) => values.length > 0)
  return and.length > 0 ? checkFilters([{ and }], lineageFilterFields, 'filters') : []
}

/** Filters that keep only what both arguments keep; `own` has at most one group. */
const bothOf = (filters: Filters, own: Filters): Filters =>
  filters.length === 0 ? own : filters.map((group) => [...group, ...own.flat()])
