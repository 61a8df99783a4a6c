/**
 * The parts of an event that can be left out. A part that cannot be read is dropped and noted, so that it
 * costs the event only that part.
 */
import { CatalogError } from '../errors.ts'
import type { JsonObject, JsonValue } from '../model/changes.ts'
import { isObject } from '../model/json-values.ts'

/** A part that was left out, and what is wrong with it. */
export type DroppedPart = { field: string; reason: string }
/** How many parts were left out, and the first of them. */
export type DroppedParts = { count: number; first: DroppedPart[] }

export const shownPartsMaxCount = 20
/** So many faults are no longer an event with a fault, and would take long to collect. */
const droppedMaxCount = 1_000
/** The length of a path in an error, because names of columns may have any length. */
const fieldMaxChars = 300

export class EventParts {
  readonly #errors = new Map<string, CatalogError>()
  readonly #first: DroppedPart[] = []

  get dropped(): DroppedParts {
    return { count: this.#errors.size, first: [...this.#first] }
  }

  /** What was wrong with the part at this place; undefined if it was not dropped. */
  errorAt(field: string): CatalogError | undefined {
    return this.#errors.get(field)
  }

  /** What `read` returns; null if it throws a CatalogError, which is noted. Throws the error after too many. */
  take<Value>(read: () => Value): Value | null {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      this.drop(error)
      return null
    }
  }

  /** Notes the part that the error names. A place is counted once. Throws the error after too many. */
  drop(error: CatalogError): void {
    const { field: place } = error.details
    const field = typeof place === 'string' ? place.slice(0, fieldMaxChars + 1) : ''
    if (this.#errors.has(field)) return
    if (this.#errors.size === droppedMaxCount) throw error
    this.#errors.set(field, error)
    if (this.#first.length < shownPartsMaxCount)
      this.#first.push({ field: shown(field), reason: shown(error.message) })
  }

  /** The elements of a list; none if it is absent. Notes a value that is not a list. */
  list(sent: JsonValue | undefined, field: string): JsonValue[] {
    if (Array.isArray(sent)) return sent
    if (isGiven(sent)) this.drop(refuse(field, 'must be a list'))
    return []
  }

  /** The object; an empty one if it is absent. Notes a value that is not an object. */
  object(sent: JsonValue | undefined, field: string): JsonObject {
    if (isObject(sent)) return sent
    if (isGiven(sent)) this.drop(refuse(field, 'must be an object'))
    return {}
  }

  /** The objects in a list, each with its place. Notes elements that are not objects. */
  objects(sent: JsonValue | undefined, field: string): { each: JsonObject; place: string }[] {
    return this.list(sent, field).flatMap((each, index) => {
      const place = `${field}[${index}]`
      if (isObject(each)) return [{ each, place }]
      this.drop(refuse(place, 'must be an object'))
      return []
    })
  }
}

/** Places and reasons are stored, and may contain a key that cannot be. */
const shown = (text: string): string => text.replaceAll('\u0000', '\uFFFD').toWellFormed()

export const isGiven = (value: JsonValue | undefined): boolean => value !== undefined && value !== null

/** An error that names the place. */
export const refuse = (field: string, problem: string): CatalogError =>
  new CatalogError('BAD_REQUEST', `${field} ${problem}`, { field })

/** What `make` returns. Its errors name the place in the event. */
export function at<T>(field: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    const place = field.length > fieldMaxChars ? `${field.slice(0, fieldMaxChars)}…` : field
    throw new CatalogError(
      error.code,
      `${place}: ${error.message}`,
      { ...error.details, field: place },
      { cause: error }
    )
  }
}
