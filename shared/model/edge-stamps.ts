/** When an edge was stated, by its own stamps, and whether people stated it. */
import type { JsonObject, JsonValue } from './changes.ts'
import { isObject } from './json-values.ts'
import type { TimeWindow } from './walk.ts'

/** One statement of an edge. `isFromPeople`: made by them through the service, and not by a program under a name of its own. */
export type StampedStatement = { attributes: JsonObject | null, isFromPeople: boolean }

export type EdgeStamps = {
  /** Epoch milliseconds; null where no statement has such a stamp. */
  createdOn: number | null
  updatedOn: number | null
  isManual: boolean
}

/** The first creation and the last change that any of the statements of an edge names. */
export function stampsOf(statements: readonly StampedStatement[]): EdgeStamps {
  const created = statements.flatMap(({ attributes }) => timeOf(attributes?.created))
  const updated = statements.flatMap(({ attributes }) => [...timeOf(attributes?.lastModified), ...timeOf(attributes?.auditStamp)])
  return {
    createdOn: created.length > 0 ? Math.min(...created) : null,
    updatedOn: updated.length > 0 ? Math.max(...updated) : null,
    isManual: statements.some(({ attributes, isFromPeople }) => isFromPeople || (isObject(attributes?.properties) && attributes.properties.source === 'UI'))
  }
}

/** Whether an edge counts in a window: a stamp of any of its statements lies within, none has one, or people stated it. */
export function countsIn(statements: readonly StampedStatement[], { fromMs, toMs }: TimeWindow): boolean {
  const times = statements.flatMap(({ attributes }) => [...timeOf(attributes?.created), ...timeOf(attributes?.lastModified), ...timeOf(attributes?.auditStamp)])
  return times.length === 0 || times.some((time) => time >= fromMs && time <= toMs) || stampsOf(statements).isManual
}

/** The time of a stamp; 0 stands for an unknown one. */
const timeOf = (stamp: JsonValue | undefined): number[] => isObject(stamp) && typeof stamp.time === 'number' && stamp.time > 0 ? [stamp.time] : []
