/**
 * The record keys of statements that are not entries of a written list. They are stored in Postgres, so never
 * renumber them.
 *
 * Each kind of statement has a row of its own, so that kinds do not overwrite each other. Only the order of
 * their rows decides how they combine.
 */
import type { JsonObject } from './changes.ts'

/**
 * An edge stated only by its ends. It has no attributes, and does not change those that the aspect states
 * elsewhere.
 */
export const bareRecordKey = -(2 ** 31)

/** An entry stated under its own key (`/upstreams/<urn>`), independently of the rest of the list. */
export const singleRecordKey = -1

/** A pair of columns stated under its own keys. Pairs with the same operation and query have the same key. */
export function columnGroupKey(attributes: JsonObject): number {
  const { transformOperation, query } = attributes
  const group = JSON.stringify([transformOperation ?? 'NONE', query ?? 'NONE'])
  if (group === '["NONE","NONE"]') return 0
  let hash = 2166136261
  for (const character of group) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619)
  return -(hash >>> 1 || 1)
}

/**
 * The code under which the removal of one entry is stored: the code of the list, or the group of a column
 * record. The codes of whole aspects are stored in the same smallint and are smaller. Stored in Postgres, so
 * never renumber.
 */
export const removalCode = (fieldCode: number, group: number | null): number =>
  group === null ? fieldCode : -(1 + (Math.abs(group) % 32_767))
