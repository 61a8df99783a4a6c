/** Checks the query of an export request: an unknown parameter or value is an error, never ignored. */
import type { ExportInput } from '../../shared/catalog/lineage/export-question.ts'
import type { FacetFilterInput, FilterGroupInput } from '../../shared/catalog/lineage/lineage-filters.ts'
import { CatalogError } from '../../shared/errors.ts'
import { isObject } from '../../shared/model/json-values.ts'
import { readQuery, type Query } from '../query-parameters.ts'

const parameters = [
  'urn',
  'direction',
  'format',
  'of',
  'hops',
  'types',
  'query',
  'degree',
  'platform',
  'domain',
  'columns',
  'startTimeMillis',
  'endTimeMillis',
  'filters'
]

const exportFormats = ['csv', 'ndjson', 'dot', 'mermaid'] as const
export type ExportFormat = (typeof exportFormats)[number]

const exportContents = ['entities', 'edges', 'graph'] as const
export type ExportContent = (typeof exportContents)[number]

/** The contents that each format can have; the first is the default. */
const contentsOf: { readonly [Format in ExportFormat]: readonly [ExportContent, ...ExportContent[]] } = {
  csv: ['entities', 'edges'],
  ndjson: ['entities', 'edges', 'graph'],
  dot: ['graph'],
  mermaid: ['graph']
}

export type ExportRequest = { input: ExportInput; format: ExportFormat; of: ExportContent }

/**
 * Throws BAD_REQUEST; the error names the parameter and says what is allowed. The export itself checks the
 * values.
 */
export function readExportQuery(sent: unknown): ExportRequest {
  const query = readQuery(sent, parameters)
  const format = oneOf(query, 'format', exportFormats, exportFormats[0])
  const contents = contentsOf[format]
  const of = oneOf(query, 'of', contents, contents[0])
  return {
    format,
    of,
    input: {
      urn: query.urn ?? null,
      direction: oneOf(query, 'direction', ['UPSTREAM', 'DOWNSTREAM'], 'DOWNSTREAM'),
      hops: readHops(query.hops),
      types: listed(query.types),
      query: query.query ?? null,
      // In a URL a bare + is a space.
      degrees: listed(query.degree?.replaceAll(' ', '+')),
      platforms: listed(query.platform),
      domain: query.domain ?? null,
      columns:
        query.columns === undefined ? null : oneOf(query, 'columns', ['true', 'false'], 'true') === 'true',
      withAssets: of === 'entities',
      startTimeMillis: readMillis(query, 'startTimeMillis'),
      endTimeMillis: readMillis(query, 'endTimeMillis'),
      filters: readFilters(query.filters)
    }
  }
}

function oneOf<Value extends string>(
  query: Query,
  field: string,
  allowed: readonly Value[],
  fallback: Value
): Value {
  const text = query[field]
  if (text === undefined) return fallback
  const found = allowed.find((value) => value === text)
  if (found === undefined)
    throw new CatalogError('BAD_REQUEST', `${field} cannot be ${text.slice(0, 100)} here`, { field, allowed })
  return found
}

const listed = (text: string | undefined): string[] => (text ?? '').split(',').filter((value) => value !== '')

function readHops(text: string | undefined): number | null {
  if (text === undefined) return null
  const hops = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (hops < 1) throw new CatalogError('BAD_REQUEST', 'hops must be a whole number from 1', { field: 'hops' })
  return hops
}

function readMillis(query: Query, field: 'startTimeMillis' | 'endTimeMillis'): number | null {
  const text = query[field]
  if (text === undefined) return null
  if (!/^\d{1,15}$/.test(text))
    throw new CatalogError('BAD_REQUEST', `${field} must be milliseconds since 1970`, { field })
  return Number(text)
}

/** The groups of `orFilters`, as JSON. */
function readFilters(text: string | undefined): FilterGroupInput[] {
  if (text === undefined) return []
  const groups = parsed(text)
  if (!Array.isArray(groups))
    throw badFilters(
      'filters',
      'must be JSON: a list of groups such as [{"and": [{"field": "platform", "values": ["hive"]}]}]'
    )
  return groups.map((group: unknown, index) => {
    const place = `filters[${index}]`
    const { and } = fieldsOf(group, place, ['and'])
    if (!Array.isArray(and)) throw badFilters(`${place}.and`, 'must be a list of filters')
    return { and: and.map((filter: unknown, at) => readFilter(filter, `${place}.and[${at}]`)) }
  })
}

function readFilter(value: unknown, place: string): FacetFilterInput {
  const { field, values, negated, condition } = fieldsOf(value, place, [
    'field',
    'values',
    'negated',
    'condition'
  ])
  if (typeof field !== 'string') throw badFilters(`${place}.field`, 'must be a string')
  if (
    values !== undefined &&
    values !== null &&
    !(Array.isArray(values) && values.every((each) => typeof each === 'string'))
  )
    throw badFilters(`${place}.values`, 'must be a list of strings')
  if (negated !== undefined && negated !== null && typeof negated !== 'boolean')
    throw badFilters(`${place}.negated`, 'must be true or false')
  if (condition !== undefined && condition !== null && typeof condition !== 'string')
    throw badFilters(`${place}.condition`, 'must be a string')
  return {
    field,
    ...(values ? { values } : {}),
    ...(negated ? { negated } : {}),
    ...(condition ? { condition } : {})
  }
}

function fieldsOf(value: unknown, place: string, allowed: readonly string[]): { [name: string]: unknown } {
  if (!isObject(value)) throw badFilters(place, 'must be an object')
  const unknown = Object.keys(value).find((name) => !allowed.includes(name))
  if (unknown !== undefined)
    throw new CatalogError('BAD_REQUEST', `${place} has no field ${unknown.slice(0, 100)}`, {
      field: place,
      allowed
    })
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const badFilters = (field: string, text: string): CatalogError =>
  new CatalogError('BAD_REQUEST', `${field} ${text}`, { field })
