/**
 * The lean way of removing edges, thousands at a time, whoever states them: what is stated goes, and the removal is remembered where
 * something older may still come. By `npm run bench -- loading` an edge takes the worker 4 us and Postgres 13.
 */
import type { Tx } from '../../db/database.ts'
import type { GraphDelta } from '../../model/graph-delta.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import { bareRecordKey } from '../../model/record-keys.ts'
import { appendGraphChange } from '../../store/graph-changes.ts'
import {
  countRemovals,
  deleteEdges,
  readEdges,
  rememberRemovals,
  type StatedEdge
} from '../../store/plain-removals.ts'
import { createJournal } from './journal.ts'
import { distinct, pick, pickOfRepeats, type EdgeColumns } from './edge-columns.ts'
import { fieldsIn, type EdgesDone, type EdgeWork } from './edge-work.ts'

/** What of an owner's edges says more than that they are there (attributes, an entry of a written list) leaves the owner to the general way. */
export async function removeEdges(
  tx: Tx,
  { columns: given, chunk, context, guards, older }: EdgeWork
): Promise<EdgesDone> {
  const once = pickOfRepeats(given, 1)
  const read = await readEdges(tx, once, bareRecordKey)
  const leftOwners = new Set(
    read.flatMap(({ place, isPlain }) => (isPlain ? [] : (once.ownerIds[place] ?? 0)))
  )
  const isLeft = (ownerId: number | undefined): boolean => leftOwners.has(ownerId ?? 0)
  const taken = (each: EdgeColumns): EdgeColumns =>
    leftOwners.size === 0 ? each : pick(each, (at) => !isLeft(each.ownerIds[at]))
  const [columns, last] = [taken(given), taken(once)]

  // What a newer change has stated stays.
  const isOlder = ({ seq, line, place }: StatedEdge): boolean =>
    !guards.keepsOrder || seq < chunk.seq || (seq === chunk.seq && line <= (once.lines[place] ?? 0))
  const gone = read.filter((row) => !isLeft(once.ownerIds[row.place]) && isOlder(row))
  const journal = createJournal()
  const deltas: GraphDelta[] = []
  for (const { place, field, sourceId, position, seq, line, changedSeq } of gone) {
    const ends = { downstreamId: once.downstreamIds[place] ?? 0, upstreamId: once.upstreamIds[place] ?? 0 }
    journal.note({
      kind: 'removed',
      key: { ...ends, ownerId: once.ownerIds[place] ?? 0, field, sourceId, recordKey: bareRecordKey },
      before: { seq, line, changedSeq, position, attributes: null }
    })
    deltas.push({ kind: 'unstated', ...ends })
  }
  if (gone.length > 0) await take(tx, once, gone, context.actor.urn)
  if (guards.keepsOrder && older.isUnfinished && last.places.length > 0)
    await rememberRemovals(tx, last, chunk.seq)
  await journal.write(tx, chunk)
  await appendGraphChange(tx, deltas)
  return { columns, applied: countApplied(columns, once, gone, chunk.seq) }
}

async function take(tx: Tx, edges: EdgeColumns, gone: readonly StatedEdge[], actor: string): Promise<void> {
  const column = (of: Int32Array): Int32Array => Int32Array.from(gone, ({ place }) => of[place] ?? 0)
  const [ownerIds, fields] = [column(edges.ownerIds), Int32Array.from(gone, ({ field }) => field)]
  await deleteEdges(
    tx,
    {
      downstreamIds: column(edges.downstreamIds),
      upstreamIds: column(edges.upstreamIds),
      ownerIds,
      fields,
      sourceIds: Int32Array.from(gone, ({ sourceId }) => sourceId)
    },
    bareRecordKey
  )
  const ownersOf = new Map<string, number[]>()
  for (const field of fieldsIn(fields)) ownersOf.set(lineageFieldByCode(field).aspectName, [])
  fields.forEach((field, at) => {
    ownersOf.get(lineageFieldByCode(field).aspectName)?.push(ownerIds[at] ?? 0)
  })
  for (const [aspectName, owners] of ownersOf)
    await countRemovals(tx, aspectName, distinct(Int32Array.from(owners)), actor)
}

/** How many lines have taken something away: of an edge that is named by several, what the own load has stated between two of them goes with the second. */
function countApplied(
  { downstreamIds, upstreamIds, lines }: EdgeColumns,
  once: EdgeColumns,
  gone: readonly StatedEdge[],
  seq: number
): number {
  const isOf = (at: number, place: number): boolean =>
    downstreamIds[at] === once.downstreamIds[place] && upstreamIds[at] === once.upstreamIds[place]
  let [at, count, counted] = [0, 0, -1]
  // Both are in key order. What was stated first goes first.
  for (const { place, seq: statedSeq, line } of [...gone].sort(
    (a, b) => a.place - b.place || a.seq - b.seq || a.line - b.line
  )) {
    while (!isOf(at, place)) at += 1
    while (statedSeq === seq && (lines[at] ?? 0) < line && isOf(at + 1, place)) at += 1
    if (at !== counted) count += 1
    counted = at
  }
  return count
}
