/** Marquez' search: datasets and jobs by words of their names. */
import { CatalogError } from '../../errors.ts'
import { searchEntities } from '../search/search-entities.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'
import { readCards } from './asset-cards.ts'

export type NamedSearch = { q?: string; filter?: string; sort?: string; count: number }

type NamedResult = { type: string; name: string; namespace: string; nodeId: string; updatedAt: string | null }

const filters: { readonly [filter: string]: readonly string[] } = { dataset: ['DATASET'], job: ['DATA_JOB'] }
/** Marquez' server calls the second order `UPDATE_AT`, and its documentation `UPDATED_AT`. */
const sorts = ['name', 'update_at', 'updated_at']

/**
 * `%` in a pattern, which means any text in Marquez, means any word here. Throws BAD_REQUEST, LIMIT_EXCEEDED,
 * DEADLINE_EXCEEDED.
 */
export async function searchNamed(
  sources: LineageSources,
  { q, filter, sort, count }: NamedSearch
): Promise<{ totalCount: number; results: NamedResult[] }> {
  if (!q?.trim()) throw new CatalogError('BAD_REQUEST', 'q must be given', { field: 'q' })
  const types = filter === undefined ? ['DATASET', 'DATA_JOB'] : filters[filter.toLowerCase()]
  if (!types)
    throw new CatalogError('BAD_REQUEST', 'filter must be dataset or job', {
      field: 'filter',
      allowed: Object.keys(filters)
    })
  if (sort !== undefined && !sorts.includes(sort.toLowerCase()))
    throw new CatalogError('BAD_REQUEST', 'sort must be name or updated_at', {
      field: 'sort',
      allowed: sorts
    })
  const page = await searchEntities(
    sources,
    { types, query: q.replaceAll('%', ' ').trim() || '*', start: 0, count },
    { facets: false, matchedFields: false }
  )
  const urns = page.results.map(({ entity }) => entity.urn)
  const cards = await withLineage(sources, async (reader) => {
    const known = await reader.find(urns)
    return readCards(
      reader,
      urns.flatMap((urn) => known.get(urn)?.id ?? [])
    )
  })
  const results = cards.map(({ type, name, nodeId, data }) => ({
    type,
    ...name,
    nodeId,
    updatedAt: typeof data.updatedAt === 'string' ? data.updatedAt : null
  }))
  if (sort?.toLowerCase() === 'name') results.sort((a, b) => (a.name < b.name ? -1 : 1))
  if (sort !== undefined && sort.toLowerCase() !== 'name')
    results.sort((a, b) => ((a.updatedAt ?? '') > (b.updatedAt ?? '') ? -1 : 1))
  return { totalCount: page.total, results }
}
