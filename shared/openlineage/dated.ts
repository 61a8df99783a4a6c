/** A value with the time of the event that stated it, and which of two counts. */
import type { JsonValue } from '../model/changes.ts'
import { isObject } from '../model/json-values.ts'

export type Dated<Value extends JsonValue> = { time: number; value: Value }

/**
 * The newer fact. If the times are equal, the values are compared as JSON, so that the order of arrival does
 * not matter.
 */
export function newest<Value extends JsonValue, Fact extends Dated<Value> = Dated<Value>>(
  a: Fact | null,
  b: Fact
): Fact {
  if (!a || b.time > a.time) return b
  return b.time < a.time || sortedText(a.value) >= sortedText(b.value) ? a : b
}

/** JSON with sorted keys, because jsonb does not keep the order of keys. */
const sortedText = (value: JsonValue): string =>
  JSON.stringify(value, (_key, each: JsonValue) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each
  )
