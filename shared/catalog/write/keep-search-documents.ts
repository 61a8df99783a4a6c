/** Keeps the documents that entities are found by, in the transaction that changes what they are made of. */
import type { Tx } from '../../db/database.ts'
import type { JsonObject } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import type { EntityRow } from '../../store/entities.ts'
import { readDocuments } from '../../store/entity-reads.ts'
import { writeSearchDocuments } from '../../store/search-documents.ts'
import { hasSearchDocument, searchDocumentOf, searchedAspectNames } from '../search/search-document.ts'
import { currentValue, type AspectCells } from './aspect-cells.ts'
import type { WorkingSet } from './working-set.ts'

type Named = Pick<EntityRow, 'id' | 'urn'>

/** Entities whose aspects are in memory at once: documents may be large. */
const sliceCount = 500

/** Makes the documents of entities anew, of what is stored of them. */
export async function remakeDocuments(tx: Tx, rows: readonly Named[]): Promise<void> {
  const wanted = rows.filter(({ urn }) => hasSearchDocument(urn)).toSorted((a, b) => a.id - b.id)
  for (let begin = 0; begin < wanted.length; begin += sliceCount) {
    const slice = wanted.slice(begin, begin + sliceCount)
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

/** Writes the documents of what the records made or changed; `forgotten` are ids that are about to be taken back. */
export async function keepSearchDocuments(
  tx: Tx,
  set: WorkingSet,
  aspects: AspectCells,
  forgotten: ReadonlySet<number>
): Promise<void> {
  // What a dry run would be found by nobody looks for.
  if (set.trialIds) return
  const inserted = new Set([...set.inserted].filter((id) => !forgotten.has(id)))
  // What was deleted and is there again has no document, whatever made it.
  const changed = new Set([...set.created].filter((id) => typeof set.byId.get(id)?.deletedSeq === 'number'))
  const ofInserted = new Map<number, Map<string, JsonObject>>()
  for (const cell of aspects.values()) {
    if (!searchedAspectNames.has(cell.aspectName)) continue
    const value = currentValue(cell)
    if (inserted.has(cell.entityId)) {
      const own = ofInserted.get(cell.entityId) ?? new Map<string, JsonObject>()
      if (value) ofInserted.set(cell.entityId, own.set(cell.aspectName, value))
    } else if (
      cell.rows.at(-1) !== cell.storedCurrent &&
      !equalJson(value, cell.storedCurrent?.value ?? null)
    )
      changed.add(cell.entityId)
  }
  // All that is said of what is new is here; of the others the rest must be read.
  await writeSearchDocuments(
    tx,
    [...inserted]
      .flatMap(rowsOf(set))
      .filter(({ urn }) => hasSearchDocument(urn))
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, urn }) => searchDocumentOf(id, urn, ofInserted.get(id) ?? new Map()))
  )
  await remakeDocuments(tx, [...changed].flatMap(rowsOf(set)))
}

const rowsOf =
  ({ byId }: WorkingSet) =>
  (id: number): EntityRow[] => {
    const row = byId.get(id)
    return row ? [row] : []
  }
