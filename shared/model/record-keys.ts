/**
 * The record keys of statements that are not entries of a list as written: stored in Postgres, never renumber.
 *
 * Each kind has its own row, so that none overwrites what another says and all of them are folded by their order alone.
 */
import type { JsonObject } from './changes.ts'

/** An edge stated by its ends alone: it says nothing beside them, and what the aspect says about the edge elsewhere stands. */
export const bareRecordKey = -(2 ** 31)

/** An entry of a list stated under its own key (`/upstreams/<urn>`), whatever the list held before. */
export const singleRecordKey = -1

/** A pair of columns stated under its own keys: pairs of one operation and query belong together. */
export function columnGroupKey(attributes: JsonObject): number {
  const { transformOperation, query } = attributes
  const group = JSON.stringify([transformOperation ?? 'NONE', query ?? 'NONE'])
  if (group === '["NONE","NONE"]') return 0
  let hash = 2166136261
  for (const character of group) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619)
  return -(hash >>> 1 || 1)
}

/**
 * Where the removal of one entry of one list is remembered: under the code of the list, or of a column record under its
 * group. Beside the codes of whole aspects, which are smaller, in the same smallint. Stored in Postgres, never renumber.
 */
export const removalCode = (fieldCode: number, group: number | null): number =>
  group === null ? fieldCode : -(1 + (Math.abs(group) % 32_767))
