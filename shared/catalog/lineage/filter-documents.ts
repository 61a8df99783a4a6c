/**
 * Reads the documents that filters need. An entity without a browse path gets the path of its containers, and a
 * column without owners those of its asset, computed on each read, so that both follow every change.
 */
import type { Db, Tx } from '../../db/database.ts'
import type { JsonObject } from '../../model/changes.ts'
import { findEntitiesById } from '../../store/entities.ts'
import { parentIdsOf, readDocuments } from '../../store/entity-reads.ts'
import { readParentContainers } from './parent-containers.ts'

const browsePathAspect = 'browsePathsV2'
const ownershipAspect = 'ownership'

/** Documents by id and aspect name. Not for `domains` and aspects that are lists of edges. */
export async function readFilterDocuments(
  db: Db | Tx,
  ids: readonly number[] | Int32Array,
  aspectNames: readonly string[]
): Promise<Map<number, Map<string, JsonObject>>> {
  const documents = aspectNames.includes(browsePathAspect)
    ? await withBrowsePaths(db, ids, aspectNames)
    : await readDocuments(db, ids, aspectNames)
  if (aspectNames.includes(ownershipAspect)) await addOwnersOfAssets(db, ids, documents)
  return documents
}

async function withBrowsePaths(
  db: Db | Tx,
  ids: readonly number[] | Int32Array,
  aspectNames: readonly string[]
): Promise<Map<number, Map<string, JsonObject>>> {
  const documents = await readDocuments(db, ids, [...new Set([...aspectNames, 'container'])])
  const placed = [...documents].flatMap(([id, own]) =>
    own.has('container') && !own.has(browsePathAspect) ? [id] : []
  )
  const entities = await findEntitiesById(db, placed)
  const chains = await readParentContainers(
    db,
    entities.map(({ urn }) => urn)
  )
  for (const [index, { id }] of entities.entries()) {
    // The outermost container first, each with its URN as its name, as DataHub writes browse paths.
    const path = (chains[index] ?? []).map(({ urn }) => ({ id: urn, urn })).toReversed()
    if (path.length > 0) documents.get(id)?.set(browsePathAspect, { path })
  }
  return documents
}

async function addOwnersOfAssets(
  db: Db | Tx,
  ids: readonly number[] | Int32Array,
  documents: Map<number, Map<string, JsonObject>>
): Promise<void> {
  const assetIds = await parentIdsOf(
    db,
    [...ids].filter((id) => !documents.get(id)?.has(ownershipAspect))
  )
  const ofAssets = await readDocuments(db, [...new Set(assetIds.values())], [ownershipAspect])
  for (const [columnId, assetId] of assetIds) {
    const ownership = ofAssets.get(assetId)?.get(ownershipAspect)
    if (ownership)
      documents.set(columnId, new Map([...(documents.get(columnId) ?? []), [ownershipAspect, ownership]]))
  }
}
