/** What the lean ways of adding and of removing edges are given, and what they give back. */
import { fewValuesOf } from '../../model/few-values.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import type { OlderWork } from '../../store/order-of-changes.ts'
import type { ApplyContext } from './apply-records.ts'
import type { EdgeColumns } from './edge-columns.ts'
import type { Guards } from './guards.ts'

/** `columns` are in key order. Their owners are locked and exist, as the other ends do; `ownersWithRemovals` are those of which removed edges are remembered that may be newer. */
export type EdgeWork = {
  columns: EdgeColumns
  chunk: NonNullable<ApplyContext['chunk']>
  context: ApplyContext
  guards: Guards
  older: OlderWork
  sourceId: number
  ownersWithRemovals: ReadonlySet<number>
}

/** `columns` are those that were judged, all others are left; `applied` counts those that have changed something. */
export type EdgesDone = { columns: EdgeColumns; applied: number }

export const fieldsIn = (fields: Int32Array): number[] => fewValuesOf(fields.length, (at) => fields[at] ?? 0)

export const aspectNamesOf = (fields: Int32Array): string[] => [
  ...new Set(fieldsIn(fields).map((field) => lineageFieldByCode(field).aspectName))
]
