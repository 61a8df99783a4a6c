/**
 * The lean way of adding edges, thousands at a time: of each that is new a statement, and of each that is there already no
 * more than its order, where that counts.
 */
import type { Tx } from '../../db/database.ts'
import { aspectTemplate } from '../../model/aspect-registry.ts'
import { packStatedEdges } from '../../model/graph-delta.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import { appendedPosition } from '../../model/list-order.ts'
import { bareRecordKey } from '../../model/record-keys.ts'
import { appendPackedGraphChange } from '../../store/graph-changes.ts'
import { countVersions, findWithoutAspect, insertPlainEdges, raiseOrder } from '../../store/plain-edges.ts'
import { findRemovals } from '../../store/plain-removals.ts'
import { createJournal } from './journal.ts'
import {
  distinct,
  pick,
  pickOfRepeats,
  placesWhere,
  reorder,
  without,
  type EdgeColumns
} from './edge-columns.ts'
import { aspectNamesOf, fieldsIn, type EdgesDone, type EdgeWork } from './edge-work.ts'
import { findStated } from './find-stated.ts'
import type { StatedKeys } from './stated-keys.ts'

export async function addEdges(tx: Tx, work: EdgeWork): Promise<EdgesDone> {
  const { chunk, context, guards, older, sourceId } = work
  const { columns, standing } = await withoutRemoved(tx, work)
  // Of an edge that is given more than once the last line counts, as it does in the general way.
  const last = pickOfRepeats(standing, 1)
  const stamp = { sourceId, recordKey: bareRecordKey, position: appendedPosition, seq: chunk.seq }
  const { bySource, byOthers } = await findStated(tx, last, stamp)
  const inserted = without(last, bySource)
  if (inserted.places.length > 0) await insertPlainEdges(tx, inserted, stamp)
  // Where something older may still take away what is there already.
  if (guards.raisesOrder && older.isDestructive && bySource.length > 0)
    await raiseOrder(tx, reorder(last, bySource), stamp)
  const fresh = without(last === standing ? last : pickOfRepeats(standing, -1), bySource, byOthers)
  const journal = createJournal()
  journal.addedColumns({ ...inserted, sourceId, recordKey: bareRecordKey })
  for (const made of await countChanged(tx, fresh, { actor: context.actor.urn, seq: chunk.seq }))
    journal.note({ kind: 'aspect', ...made, was: 'none' })
  if (context.stated) tellStated(context.stated, columns, inserted.places.length)
  await journal.write(tx, chunk)
  if (inserted.places.length > 0) await appendPackedGraphChange(tx, packStatedEdges(inserted))
  return { columns, applied: fresh.places.length }
}

/**
 * `standing` is without what was removed since by something newer, the lines behind it in the load included. An edge that was stated makes
 * its aspect exist, also when it has been removed since: owners to whom that is news are left.
 */
async function withoutRemoved(
  tx: Tx,
  { columns, chunk, ownersWithRemovals }: EdgeWork
): Promise<{ columns: EdgeColumns; standing: EdgeColumns }> {
  if (ownersWithRemovals.size === 0) return { columns, standing: columns }
  const { ownerIds, lines } = columns
  const asked = placesWhere(ownerIds.length, (at) => ownersWithRemovals.has(ownerIds[at] ?? 0))
  const removedBefore = new Int32Array(ownerIds.length)
  ;(await findRemovals(tx, reorder(columns, asked), chunk.seq)).forEach((line, index) => {
    removedBefore[asked[index] ?? 0] = line
  })
  const isRemoved = (at: number): boolean => (lines[at] ?? 0) < (removedBefore[at] ?? 0)
  const removed = pick(columns, isRemoved)
  if (removed.places.length === 0) return { columns, standing: columns }
  const left = await withoutAspect(tx, removed)
  const isLeft = (at: number): boolean => left.has(ownerIds[at] ?? 0)
  return {
    columns: left.size === 0 ? columns : pick(columns, (at) => !isLeft(at)),
    standing: pick(columns, (at) => !isRemoved(at) && !isLeft(at))
  }
}

async function withoutAspect(tx: Tx, { ownerIds, fields }: EdgeColumns): Promise<Set<number>> {
  const found = new Set<number>()
  for (const aspectName of aspectNamesOf(fields)) {
    const owners = distinct(
      ownerIds.filter((_, at) => lineageFieldByCode(fields[at] ?? 0).aspectName === aspectName)
    )
    for (const ownerId of await findWithoutAspect(tx, owners, aspectName)) found.add(ownerId)
  }
  return found
}

/** What a snapshot states, of which so many statements are new. */
export function tellStated(
  stated: StatedKeys,
  { downstreamIds, upstreamIds, ownerIds, fields }: EdgeColumns,
  newCount: number
): void {
  downstreamIds.forEach((downstreamId, at) => {
    stated.add({
      downstreamId,
      upstreamId: upstreamIds[at] ?? 0,
      ownerId: ownerIds[at] ?? 0,
      field: fields[at] ?? 0,
      recordKey: bareRecordKey
    })
  })
  stated.countNew(newCount)
}

/** One version for each aspect that has edges it had not; an aspect that is made by them has the order of its first line. Gives those. */
async function countChanged(
  tx: Tx,
  fresh: EdgeColumns,
  stamp: { actor: string; seq: number }
): Promise<{ entityId: number; aspectName: string }[]> {
  const firstLines = new Map<string, Map<number, number>>()
  const { fields, ownerIds, lines } = fresh
  for (const aspectName of aspectNamesOf(fields)) firstLines.set(aspectName, new Map())
  const linesOf = new Map(
    fieldsIn(fields).map((field) => [field, firstLines.get(lineageFieldByCode(field).aspectName)])
  )
  for (let at = 0; at < fields.length; at += 1) {
    const first = linesOf.get(fields[at] ?? 0)
    const [ownerId, line] = [ownerIds[at] ?? 0, lines[at] ?? 0]
    const known = first?.get(ownerId)
    if (known === undefined || line < known) first?.set(ownerId, line)
  }
  const made: { entityId: number; aspectName: string }[] = []
  for (const [aspectName, first] of firstLines) {
    const changed = Int32Array.from(first.keys()).sort()
    const owners = await countVersions(
      tx,
      {
        aspectName,
        ownerIds: changed,
        lines: changed.map((id) => first.get(id) ?? 0),
        template: aspectTemplate(aspectName)
      },
      stamp
    )
    for (const entityId of owners) made.push({ entityId, aspectName })
  }
  return made
}
