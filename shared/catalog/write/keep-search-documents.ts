/** Updates the search documents of entities in the transaction that changes their contents. */
import type { Tx } from '../../db/database.ts'
import type { JsonObject } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import type { EntityRow } from '../../store/entities.ts'
import { readDocuments } from '../../store/entity-reads.ts'
import { writeSearchDocuments } from '../../store/search-documents.ts'
import { hasSearchDocument, searchDocumentOf, searchedAspectNames } from '../search/search-document.ts'
import { currentValue, type AspectDrafts } from './aspect-drafts.ts'
import type { UnitOfWork } from './unit-of-work.ts'

type Named = Pick<EntityRow, 'id' | 'urn'>

/** How many entities have their aspects in memory at once. It is low because documents may be large. */
const entitiesPerSlice = 500

/** Rebuilds the search documents of entities from their stored aspects. */
export async function rebuildSearchDocuments(tx: Tx, rows: readonly Named[]): Promise<void> {
  const wanted = rows.filter(({ urn }) => hasSearchDocument(urn)).toSorted((a, b) => a.id - b.id)
  for (let begin = 0; begin < wanted.length; begin += entitiesPerSlice) {
    const slice = wanted.slice(begin, begin + entitiesPerSlice)
    const documentsOf = await readDocuments(
      tx,
      slice.map(({ id }) => id),
      [...searchedAspectNames]
    )
    await writeSearchDocuments(
      tx,
      slice.map(({ id, urn }) => searchDocumentOf(id, urn, documentsOf.get(id) ?? new Map()))
    )
  }
}

/**
 * Writes the search documents of the entities that the records created or changed; `forgotten` are ids that
 * are about to be deleted again.
 */
export async function keepSearchDocuments(
  tx: Tx,
  work: UnitOfWork,
  aspects: AspectDrafts,
  forgotten: ReadonlySet<number>
): Promise<void> {
  // Nobody searches for the result of a dry run.
  if (work.trialIds) return
  const inserted = new Set([...work.inserted].filter((id) => !forgotten.has(id)))
  // An entity that was deleted and exists again has no document, whatever recreated it.
  const changed = new Set([...work.created].filter((id) => typeof work.byId.get(id)?.deletedSeq === 'number'))
  const ofInserted = new Map<number, Map<string, JsonObject>>()
  for (const draft of aspects.values()) {
    if (!searchedAspectNames.has(draft.aspectName)) continue
    const value = currentValue(draft)
    if (inserted.has(draft.entityId)) {
      const own = ofInserted.get(draft.entityId) ?? new Map<string, JsonObject>()
      if (value) ofInserted.set(draft.entityId, own.set(draft.aspectName, value))
    } else if (
      draft.rows.at(-1) !== draft.storedCurrent &&
      !equalJson(value, draft.storedCurrent?.value ?? null)
    )
      changed.add(draft.entityId)
  }
  // All aspects of new entities are in memory; those of other entities must be read.
  await writeSearchDocuments(
    tx,
    [...inserted]
      .flatMap(rowsOf(work))
      .filter(({ urn }) => hasSearchDocument(urn))
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, urn }) => searchDocumentOf(id, urn, ofInserted.get(id) ?? new Map()))
  )
  await rebuildSearchDocuments(tx, [...changed].flatMap(rowsOf(work)))
}

const rowsOf =
  ({ byId }: UnitOfWork) =>
  (id: number): EntityRow[] => {
    const row = byId.get(id)
    return row ? [row] : []
  }
