/**
 * Reads the documents that filters need. An entity without a browse path gets the path of its containers,
 * computed on each read, so that moving a container moves everything in it.
 */
import type { Db, Tx } from '../../db/database.ts'
import type { JsonObject } from '../../model/changes.ts'
import { findEntitiesById } from '../../store/entities.ts'
import { readDocuments } from '../../store/entity-reads.ts'
import { readParentContainers } from './parent-containers.ts'

const browsePathAspect = 'browsePathsV2'

/** Documents by id and aspect name. Not for `domains` and aspects that are lists of edges. */
export async function readFilterDocuments(
  db: Db | Tx,
  ids: readonly number[] | Int32Array,
  aspectNames: readonly string[]
): Promise<Map<number, Map<string, JsonObject>>> {
  if (!aspectNames.includes(browsePathAspect)) return readDocuments(db, ids, aspectNames)
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
