/** When an edge was created and changed according to its own stamps, and whether a person stated it. */
import type { JsonObject, JsonValue } from './changes.ts'
import { isObject } from './json-values.ts'
import type { TimeWindow } from './walk.ts'

/**
 * One statement of an edge. `isFromPeople`: a person stated it through the service, not a program with a
 * source of its own.
 */
export type StampedStatement = { attributes: JsonObject | null; isFromPeople: boolean }

export type EdgeStamps = {
  /** The time in epoch milliseconds; null if no statement has such a stamp. */
  createdOn: number | null
  updatedOn: number | null
  /** The actors in these stamps. */
  createdBy: string | null
  updatedBy: string | null
  isManual: boolean
}

/** The first creation and the last change in the stamps of an edge's statements. */
export function stampsOf(statements: readonly StampedStatement[]): EdgeStamps {
  const first = statements
    .flatMap(({ attributes }) => stampIn(attributes?.created))
    .sort((a, b) => a.time - b.time)[0]
  const last = statements
    .flatMap(({ attributes }) => [...stampIn(attributes?.lastModified), ...stampIn(attributes?.auditStamp)])
    .sort((a, b) => b.time - a.time)[0]
  return {
    createdOn: first?.time ?? null,
    updatedOn: last?.time ?? null,
    createdBy: first?.actor ?? null,
    updatedBy: last?.actor ?? null,
    isManual: statements.some(
      ({ attributes, isFromPeople }) =>
        isFromPeople || (isObject(attributes?.properties) && attributes.properties.source === 'UI')
    )
  }
}

/** What `countsIn` guarantees, for answers that filter by time. */
export const timeWindowRule =
  'An edge counts if the span from its first to its last use overlaps this time; uses in between are not kept. An edge without times, or that a person stated, always counts.'

/**
 * Whether an edge counts in a time window: the span from the first to the last stamp of all its statements
 * overlaps the window, no statement has a stamp, or a person stated it. Only the first and the last use are
 * known, so an edge also counts in the time between two uses.
 */
export function countsIn(statements: readonly StampedStatement[], { fromMs, toMs }: TimeWindow): boolean {
  const times = statements.flatMap(({ attributes }) => [
    ...timeOf(attributes?.created),
    ...timeOf(attributes?.lastModified),
    ...timeOf(attributes?.auditStamp)
  ])
  return (
    times.length === 0 ||
    (Math.min(...times) <= toMs && Math.max(...times) >= fromMs) ||
    stampsOf(statements).isManual
  )
}

/** The time and actor of a stamp; an unknown time is 0. */
const stampIn = (stamp: JsonValue | undefined): { time: number; actor: string | null }[] =>
  isObject(stamp) && typeof stamp.time === 'number' && stamp.time > 0
    ? [{ time: stamp.time, actor: typeof stamp.actor === 'string' ? stamp.actor : null }]
    : []

const timeOf = (stamp: JsonValue | undefined): number[] => stampIn(stamp).map(({ time }) => time)
