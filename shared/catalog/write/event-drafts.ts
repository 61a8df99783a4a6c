/** The time-series events that records store, and whether each changes what is stored. */
import type { Tx } from '../../db/database.ts'
import { isTimeseries } from '../../model/aspect-registry.ts'
import type { ChangeRecord, JsonObject } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import { isNewer, type Order } from '../../model/order.ts'
import { eventKeyOf, findEvents, writeEvents, type EventKey, type EventRow } from '../../store/aspects.ts'
import type { UnitOfWork } from './unit-of-work.ts'

type EventDraft = {
  /** What the event is now: as it was stored, or as a record of this unit of work left it. */
  current: Order & { value: JsonObject }
  /** What must be written; null if nothing must. */
  row: EventRow | null
  hasChanged: boolean
}

export type EventDrafts = Map<string, EventDraft>

const textOf = ({ entityId, aspectName, timestampMillis, eventKey }: EventKey): string =>
  `${entityId} ${aspectName} ${timestampMillis} ${eventKey}`

/** Reads the events that the records store again. */
export async function readEventDrafts(
  tx: Tx,
  work: UnitOfWork,
  records: readonly ChangeRecord[]
): Promise<EventDrafts> {
  const drafts: EventDrafts = new Map()
  const keys = new Map<string, EventKey>()
  for (const { changes } of records)
    for (const change of changes) {
      if (change.kind !== 'upsertAspect' || !isTimeseries(change.aspectName, change.value)) continue
      const entity = work.entities.get(change.entityUrn)
      if (!entity) continue
      const key = {
        entityId: entity.id,
        aspectName: change.aspectName,
        timestampMillis: Number(change.value.timestampMillis),
        eventKey: eventKeyOf(change.value)
      }
      keys.set(textOf(key), key)
    }
  for (const current of await findEvents(tx, [...keys.values()]))
    drafts.set(textOf(current), { current, row: null, hasChanged: false })
  return drafts
}

/** Stores one event in the drafts, and returns whether a reader can see a difference. */
export function storeEvent(work: UnitOfWork, drafts: EventDrafts, row: EventRow): boolean {
  const key = textOf(row)
  const before = drafts.get(key)
  const current = before?.current
  if (current && work.guards.keepsOrder && isNewer(current, row)) return false
  const hasChanged = !current || !equalJson(current.value, row.value)
  // Something older that comes late must not win over a repetition.
  const mustRaiseOrder = work.guards.raisesOrder && work.older.isUnfinished
  if (!hasChanged && !mustRaiseOrder) return false
  drafts.set(key, { current: row, row, hasChanged: hasChanged || (before?.hasChanged ?? false) })
  work.undo.push(() => {
    if (before) drafts.set(key, before)
    else drafts.delete(key)
  })
  return hasChanged
}

/** Writes the drafts, and notes those that an undo of the load could not revert. */
export async function writeEventDrafts(tx: Tx, work: UnitOfWork, drafts: EventDrafts): Promise<void> {
  await writeEvents(tx, eventRowsOf(drafts))
  for (const { row, hasChanged } of drafts.values())
    if (row && hasChanged)
      work.journal?.note({ kind: 'event', entityId: row.entityId, aspectName: row.aspectName })
}

export const eventRowsOf = (drafts: EventDrafts): EventRow[] =>
  [...drafts.values()].flatMap(({ row }) => (row ? [row] : []))
