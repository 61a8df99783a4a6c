/**
 * Says which arrays of an aspect a patch addresses by key, and converts such arrays to maps and back.
 *
 * Keyed entries are in a Map, never in an object: a Map keeps the order of the array, and no key can reach a
 * prototype.
 */
import { CatalogError } from '../errors.ts'
import type { JsonObject, JsonValue } from './changes.ts'

/** JSON in which some arrays have been replaced by maps. */
export type Working = null | boolean | number | string | Working[] | WorkingObject | Map<string, Working>
export type WorkingObject = { [name: string]: Working }

/**
 * The array at `path` is keyed by `keys`, with one level of map for each; without keys, by the entry itself.
 * A key may be a path into the entry (`attribution`, `source`). `inside` are rules for arrays within each
 * entry.
 */
export type ArrayRule = {
  path: readonly string[]
  keys: readonly (readonly string[])[]
  inside?: readonly ArrayRule[]
}

/** Separates the steps of a nested key. */
const nestedKeySeparator = '\u241f'

/** The steps of a nested key, one per field. */
export const stepsOfKey = (key: string): string[] => key.split(nestedKeySeparator)

const tags: ArrayRule = { path: ['tags'], keys: [['tag']] }
const terms: ArrayRule = { path: ['terms'], keys: [['urn']] }

const rules: { [aspectName: string]: readonly ArrayRule[] } = {
  globalTags: [tags],
  glossaryTerms: [terms],
  ownership: [{ path: ['owners'], keys: [['owner'], ['type']] }],
  structuredProperties: [{ path: ['properties'], keys: [['propertyUrn']] }],
  datasetProperties: [{ path: ['tags'], keys: [] }],
  domains: [{ path: ['domains'], keys: [] }],
  siblings: [{ path: ['siblings'], keys: [] }],
  dataProductProperties: [{ path: ['assets'], keys: [['destinationUrn']] }],
  editableSchemaMetadata: [
    {
      path: ['editableSchemaFieldInfo'],
      keys: [['fieldPath']],
      inside: [
        { path: ['globalTags', 'tags'], keys: tags.keys },
        { path: ['glossaryTerms', 'terms'], keys: terms.keys }
      ]
    }
  ],
  formInfo: [
    { path: ['prompts'], keys: [['id']] },
    ...['users', 'groups', 'ownershipTypes'].map((name) => ({ path: ['actors', name], keys: [] }))
  ],
  propertyDefinition: [
    { path: ['entityTypes'], keys: [] },
    { path: ['allowedPlatforms'], keys: [] },
    { path: ['allowedValues'], keys: [['value']] }
  ],
  dataProcessInstanceInput: [{ path: ['inputs'], keys: [] }],
  dataProcessInstanceOutput: [{ path: ['outputs'], keys: [] }],
  dataJobInputOutput: [
    { path: ['inputDatasetFields'], keys: [] },
    { path: ['outputDatasetFields'], keys: [] }
  ]
}
const rulesByAspect = new Map(Object.entries(rules))

type CallerKeys = { arrayPrimaryKeys?: { [arrayName: string]: string[] }; forceGenericPatch?: boolean }

/** The rules for a patch: the aspect's own, except for arrays for which the caller gives a rule. */
export function arrayRulesOf(
  aspectName: string,
  { arrayPrimaryKeys = {}, forceGenericPatch = false }: CallerKeys
): readonly ArrayRule[] {
  const given = Object.entries(arrayPrimaryKeys).map(([name, keys]): ArrayRule => ({
    path: stepsOfKey(name),
    keys: keys.map(stepsOfKey)
  }))
  if (forceGenericPatch) return given
  const own = (rulesByAspect.get(aspectName) ?? []).filter(
    (rule) => !given.some((other) => other.path.join('/') === rule.path.join('/'))
  )
  return [...own, ...given]
}

export const isWorkingObject = (value: Working | undefined): value is WorkingObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map)

/**
 * Converts the arrays named by the rules to maps, in place; existing maps stay. If `changed` is the path of a
 * value that was just set, only arrays on that path or below it are converted.
 */
export function arraysToMaps(
  document: WorkingObject,
  applied: readonly ArrayRule[],
  changed: readonly string[] = []
): void {
  for (const rule of applied) {
    if (!rule.path.every((step, index) => index >= changed.length || changed[index] === step)) continue
    replaceAt(document, rule.path, (value) => {
      const keyed = Array.isArray(value) ? keyedBy(value, rule) : value
      if (rule.inside && keyed instanceof Map) {
        // If the array has only now been converted, all its entries are new.
        const [key, ...deeper] = keyed === value ? changed.slice(rule.path.length) : []
        const entries = key === undefined ? keyed.values() : [keyed.get(key) ?? null]
        for (const entry of entries) if (isWorkingObject(entry)) arraysToMaps(entry, rule.inside, deeper)
      }
      return keyed
    })
  }
}

/** Converts maps back to arrays, in place, and returns plain JSON. */
export function mapsToArrays(document: WorkingObject, applied: readonly ArrayRule[]): JsonObject {
  for (const rule of applied)
    replaceAt(document, rule.path, (value) => (isLevel(value) ? entriesIn(value, rule) : value))
  return plainObject(document)
}

/** Converts a value to JSON. Maps without a rule, left by copies, become arrays again. */
export function plain(value: Working): JsonValue {
  if (value instanceof Map) return [...value.values()].map(plain)
  if (Array.isArray(value)) return value.map(plain)
  return isWorkingObject(value) ? plainObject(value) : value
}

const plainObject = (value: WorkingObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))

function replaceAt(
  document: WorkingObject,
  path: readonly string[],
  replace: (value: Working) => Working
): void {
  const [name = '', ...rest] = path
  const value = Object.hasOwn(document, name) ? document[name] : undefined
  if (value === undefined) return
  if (rest.length === 0) document[name] = replace(value)
  else if (isWorkingObject(value)) replaceAt(value, rest, replace)
}

function keyedBy(list: readonly Working[], { path, keys }: ArrayRule): Map<string, Working> {
  const top = new Map<string, Working>()
  for (const entry of list) {
    const segments =
      keys.length === 0
        ? [entry]
        : keys.map((key) =>
            key.reduce<Working | undefined>(
              (holder, step) =>
                isWorkingObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined,
              entry
            )
          )
    let level = top
    for (const segment of segments.slice(0, -1)) {
      const next = level.get(keyText(segment, path))
      const inner = next instanceof Map ? next : new Map<string, Working>()
      level.set(keyText(segment, path), inner)
      level = inner
    }
    level.set(keyText(segments.at(-1), path), entry)
  }
  return top
}

/** An absent key is the empty text: `/domainAssociations//<domain>` names an association without a source. */
function keyText(value: Working | undefined, path: readonly string[]): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const [branch, ...others] = isWorkingObject(value) ? Object.entries(value) : []
  if (branch && others.length === 0) return branchText(branch, path)
  throw new CatalogError('BAD_REQUEST', `An entry of ${path.join('.')} has a key that is not a string`, {
    field: `aspect.${path.join('.')}`
  })
}

/** The text of a union such as `{"double": 1}`. In DataHub's paths a double always has a fraction. */
const branchText = ([name, value]: [string, Working], path: readonly string[]): string =>
  name === 'double' && typeof value === 'number' && Number.isInteger(value)
    ? `${value}.0`
    : keyText(value, path)

const isLevel = (value: Working): value is Map<string, Working> | WorkingObject =>
  value instanceof Map || isWorkingObject(value)
const pairsOf = (level: Map<string, Working> | WorkingObject): [string, Working][] =>
  level instanceof Map ? [...level] : Object.entries(level)

function entriesIn(top: Map<string, Working> | WorkingObject, { keys, inside }: ArrayRule): Working[] {
  if (keys.length === 0)
    return pairsOf(top).map(([text, value]) => (typeof value === 'string' ? value : text))
  const entries = collect(top, keys)
  if (inside) for (const entry of entries) if (isWorkingObject(entry)) mapLists(entry, inside)
  return entries
}

const mapLists = (entry: WorkingObject, inside: readonly ArrayRule[]): void => {
  for (const rule of inside)
    replaceAt(entry, rule.path, (value) => (isLevel(value) ? entriesIn(value, rule) : value))
}

/** The entries below one level of map. Fills in a key that is in the path but not in the entry. */
function collect(
  level: Map<string, Working> | WorkingObject,
  [key, ...deeper]: readonly (readonly string[])[]
): Working[] {
  return pairsOf(level).flatMap(([text, value]): Working[] => {
    const inner = deeper.length > 0 && isLevel(value) && !isEntry(value) ? collect(value, deeper) : [value]
    return inner.map((entry) => withKey(entry, key, text))
  })
}

/** Whether a record was set one level too high: it has values of its own, not only objects. */
const isEntry = (value: Map<string, Working> | WorkingObject): boolean =>
  isWorkingObject(value) && Object.values(value).some((inner) => !isLevel(inner))

function withKey(entry: Working, key: readonly string[] | undefined, text: string): Working {
  const [name] = key ?? []
  if (
    name === undefined ||
    key?.length !== 1 ||
    text === '' ||
    text === '-' ||
    !isWorkingObject(entry) ||
    Object.hasOwn(entry, name)
  )
    return entry
  return { [name]: text, ...entry }
}
