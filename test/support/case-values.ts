/**
 * Expands what a case file may write in place of long or computed input.
 *
 * {$repeat,times} and {$concat} are texts; {$times,of} is a list and is spread where it stands in a list; {$each,of} is
 * the same as one text; {$base64} are bytes. ${name} stands for a value of `lookUp`, {i+1} for the count of the repetition.
 */
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'

/** Gives the value of `${name}`; throws when there is none, so that a misspelt name fails its test. */
export type LookUp = (name: string) => string

const isObject = (value: JsonValue | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

export const expandValue = (value: JsonValue, lookUp: LookUp, count?: number): JsonValue => {
  if (typeof value === 'string') return expandText(value, lookUp, count)
  if (Array.isArray(value)) return value.flatMap((entry) => isObject(entry) && '$times' in entry ? repeated(entry, '$times', lookUp) : [expandValue(entry, lookUp, count)])
  if (!isObject(value)) return value
  if ('$repeat' in value) return String(value.$repeat).repeat(Number(value.times))
  if ('$concat' in value) return Array.isArray(value.$concat) ? value.$concat.map((part) => String(expandValue(part, lookUp, count))).join('') : ''
  if ('$times' in value) return repeated(value, '$times', lookUp)
  if ('$each' in value) return repeated(value, '$each', lookUp).join('')
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, expandValue(entry, lookUp, count)]))
}

const repeated = (value: JsonObject, key: '$times' | '$each', lookUp: LookUp): JsonValue[] =>
  Array.from({ length: Number(value[key]) }, (_, index) => expandValue(value.of ?? null, lookUp, index))

const expandText = (text: string, lookUp: LookUp, count: number | undefined): string => {
  const counted = count === undefined ? text : text.replaceAll(/\{i(?:\+(\d+))?\}/g, (_, plus: string | undefined) => String(count + Number(plus ?? 0)))
  return counted.replaceAll(/\$\{([\w:.]+)\}/g, (_, name: string) => lookUp(name))
}

/** The value at a path such as `data.dataset.urn`; `\.` is a dot within a name. Undefined where there is none. */
export const valueAt = (value: JsonValue | undefined, path: string): JsonValue | undefined => {
  let current = value
  for (const step of path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))) {
    if (Array.isArray(current)) current = current[Number(step)]
    else if (isObject(current)) current = current[step]
    else return undefined
  }
  return current
}

/** What of `actual` stands at the places that `expected` names, so that the two can be compared as a whole. */
export const pick = (actual: JsonValue | undefined, expected: JsonValue): JsonValue | undefined => {
  if (Array.isArray(expected) && Array.isArray(actual)) return actual.map((entry, index) => index < expected.length ? pick(entry, expected[index] ?? null) ?? null : entry)
  if (!isObject(expected) || !isObject(actual)) return actual
  return Object.fromEntries(Object.entries(expected).flatMap(([key, entry]) => {
    const found = pick(actual[key], entry)
    return found === undefined ? [] : [[key, found]]
  }))
}
