/** Makes change proposals for the records of a dbt load. */
import type { JsonObject } from '../../model/changes.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'

/** An `add` operation of a JSON Patch. */
export type Addition = { op: 'add'; path: string; value: JsonObject | string }

/** Takes away a value that is there. */
export type Operation = Addition | { op: 'remove'; path: string }

export const upsert = (urn: Urn, aspectName: string, aspect: JsonObject): JsonObject => ({
  entityType: entityTypeOf(urn),
  entityUrn: urn,
  changeType: 'UPSERT',
  aspectName,
  aspect: { json: aspect }
})

/** `keys` are members of the patch document other than its operations. */
export const patch = (
  urn: Urn,
  aspectName: string,
  operations: readonly Operation[],
  keys: JsonObject = {}
): JsonObject => ({
  ...upsert(urn, aspectName, { patch: [...operations], ...keys }),
  changeType: 'PATCH'
})

const pathOf = (steps: readonly string[]): string =>
  steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

export const add = (steps: readonly string[], value: JsonObject | string): Addition => ({
  op: 'add',
  path: pathOf(steps),
  value
})

export const remove = (steps: readonly string[]): Operation => ({ op: 'remove', path: pathOf(steps) })
