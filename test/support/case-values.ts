/**
 * Expands the short forms that case files use for long or computed input.
 *
 * {$repeat,times} and {$concat} are texts; {$times,of} is a list, and is spread if it is inside a list;
 * {$each,of} is the same as one text; {$base64} are bytes. ${name} is replaced by a value of `lookUp`, {i+1}
 * by the number of the repetition.
 */
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { isJsonObject } from './json-answer.ts'

/** Returns the value of `${name}`; throws for an unknown name, so that a misspelt one fails its test. */
export type LookUp = (name: string) => string

export const expandValue = (value: JsonValue, lookUp: LookUp, count?: number): JsonValue => {
  if (typeof value === 'string') return expandText(value, lookUp, count)
  if (Array.isArray(value))
    return value.flatMap((entry) =>
      isJsonObject(entry) && '$times' in entry
        ? repeated(entry, '$times', lookUp)
        : [expandValue(entry, lookUp, count)]
    )
  if (!isJsonObject(value)) return value
  if ('$repeat' in value) return String(value.$repeat).repeat(Number(value.times))
  if ('$concat' in value)
    return Array.isArray(value.$concat)
      ? value.$concat.map((part) => String(expandValue(part, lookUp, count))).join('')
      : ''
  if ('$times' in value) return repeated(value, '$times', lookUp)
  if ('$each' in value) return repeated(value, '$each', lookUp).join('')
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, expandValue(entry, lookUp, count)])
  )
}

const repeated = (value: JsonObject, key: '$times' | '$each', lookUp: LookUp): JsonValue[] =>
  Array.from({ length: Number(value[key]) }, (_, index) => expandValue(value.of ?? null, lookUp, index))

const expandText = (text: string, lookUp: LookUp, count: number | undefined): string => {
  const counted =
    count === undefined
      ? text
      : text.replaceAll(/\{i(?:\+(\d+))?\}/g, (_, plus: string | undefined) =>
          String(count + Number(plus ?? 0))
        )
  return counted.replaceAll(/\$\{([\w:.]+)\}/g, (_, name: string) => lookUp(name))
}
