/** Lists namespaces, and the datasets or jobs of one, as Marquez does. */
import { CatalogError } from '../../errors.ts'
import type { Connections } from '../../openlineage/connections.ts'
import {
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

export const listNamespaces = (
  { db }: LineageSources,
  { offset, count }: PlainPage
): Promise<NamespaceRow[]> => pageOfNamespaces(db, null, offset, count)

/** Throws NOT_FOUND where nothing has the namespace. */
export async function readNamespace({ db }: LineageSources, name: string): Promise<NamespaceRow> {
  const [row] = await pageOfNamespaces(db, name, 0, 1)
  if (!row)
    throw new CatalogError('NOT_FOUND', `No dataset and no job has the namespace ${name}`, {
      field: 'namespace'
    })
  return row
}

/** `total` is of all pages. Throws NOT_FOUND where nothing has the namespace. */
export async function listNamed(
  sources: LineageSources,
  kind: NamedKind,
  namespace: string,
  { offset, count }: PlainPage
): Promise<{ cards: AssetCard[]; total: number }> {
  await readNamespace(sources, namespace)
  const { urns, total } = await pageOfNamespace(
    sources.db,
    kind,
    { namespace, encoded: encoded(namespace) },
    offset,
    count
  )
  return withLineage(sources, async (reader) => {
    const known = await reader.find(urns)
    const cards = await readCards(
      reader,
      urns.flatMap((urn) => known.get(urn)?.id ?? [])
    )
    return { cards, total }
  })
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
