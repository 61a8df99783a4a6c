/** Makes change proposals for the records of a dbt load. */
import type { JsonObject } from '../../model/changes.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'

/** An `add` operation of a JSON Patch. */
export type Addition = { op: 'add'; path: string; value: JsonObject | string }

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
  operations: readonly Addition[],
  keys: JsonObject = {}
): JsonObject => ({
  ...upsert(urn, aspectName, { patch: [...operations], ...keys }),
  changeType: 'PATCH'
})

export const add = (steps: readonly string[], value: JsonObject | string): Addition => ({
  op: 'add',
  path: steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
  value
})
