/** Lists namespaces, and the datasets or jobs of one, as Marquez does. */
import { CatalogError } from '../../errors.ts'
import type { Connections } from '../../openlineage/connections.ts'
import {
  hasNamespace,
  pageOfNamespace,
  pageOfNamespaces,
  type NamedKind,
  type NamespaceRow
} from '../../store/named-assets.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'
import { readCards, type AssetCard } from './asset-cards.ts'
import { encoded, urnsNamed, type NamedAsset } from './named-assets.ts'

export type Namespace = NamespaceRow
export type PlainPage = { offset: number; count: number }

/** The cost of twenty searches, because all datasets and jobs are read. */
const namespacesUnits = 20
/** The cost of a list, which compares the URNs of all datasets or jobs that no event has named. */
const namespaceUnits = 5

/** Throws DEADLINE_EXCEEDED. */
export const listNamespaces = (
  sources: LineageSources,
  { offset, count }: PlainPage
): Promise<NamespaceRow[]> =>
  withLineage(sources, () => pageOfNamespaces(sources.db, null, offset, count), { units: namespacesUnits })

/** Throws NOT_FOUND if nothing has the namespace, DEADLINE_EXCEEDED. */
export async function readNamespace(sources: LineageSources, name: string): Promise<NamespaceRow> {
  const [row] = await withLineage(sources, () => pageOfNamespaces(sources.db, name, 0, 1), {
    units: namespacesUnits
  })
  if (!row) throw noNamespace(name)
  return row
}

const noNamespace = (name: string): CatalogError =>
  new CatalogError('NOT_FOUND', `No dataset and no job has the namespace ${name}`, { field: 'namespace' })

/** `total` counts all pages. Throws NOT_FOUND if nothing has the namespace, DEADLINE_EXCEEDED. */
export async function listNamed(
  sources: LineageSources,
  kind: NamedKind,
  namespace: string,
  { offset, count }: PlainPage
): Promise<{ cards: AssetCard[]; total: number }> {
  const names = { namespace, encoded: encoded(namespace) }
  return withLineage(
    sources,
    async (reader) => {
      const { urns, total } = await pageOfNamespace(sources.db, kind, names, offset, count)
      if (total === 0 && !(await hasNamespace(sources.db, names))) throw noNamespace(namespace)
      const known = await reader.find(urns)
      const cards = await readCards(
        reader,
        urns.flatMap((urn) => known.get(urn)?.id ?? [])
      )
      return { cards, total }
    },
    { units: namespaceUnits }
  )
}

/** Throws NOT_FOUND. */
export async function readNamed(
  sources: LineageSources,
  kind: NamedKind,
  name: NamedAsset,
  connections: Connections | undefined
): Promise<AssetCard> {
  const urns = await urnsNamed(sources.db, kind, [name], connections)
  const card = await withLineage(sources, async (reader) => {
    const known = await reader.find(urns)
    const ids = urns.flatMap((urn) => {
      const found = known.get(urn)
      return found?.exists && found.id !== null ? [found.id] : []
    })
    return (await readCards(reader, ids.slice(0, 1)))[0]
  })
  if (card) return card
  throw new CatalogError(
    'NOT_FOUND',
    `No ${kind === 'dataset' ? 'dataset' : 'job'} ${name.name} in the namespace ${name.namespace}`,
    { field: 'name' }
  )
}
