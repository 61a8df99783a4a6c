/**
 * Which arrays of which aspects a patch sees as maps, and the turning of one into the other.
 *
 * Keyed entries are held in a Map, never in an object: it keeps the order of the array, and no key can reach a prototype.
 */
import { CatalogError } from '../errors.ts'
import type { JsonObject, JsonValue } from './changes.ts'

/** JSON in which some arrays have become maps. */
export type Working = null | boolean | number | string | Working[] | WorkingObject | Map<string, Working>
export type WorkingObject = { [name: string]: Working }

/**
 * The array at `path` is keyed by `keys`, one level of map for each; by the entry itself where there are none.
 * A key may lead into the entry (`attribution`, `source`). `inside` are arrays of each entry.
 */
export type ArrayRule = {
  path: readonly string[]
  keys: readonly (readonly string[])[]
  inside?: readonly ArrayRule[]
}

/** Separates the steps of a nested key. */
const nestedKeySeparator = '\u241f'

/** The fields that a nested key leads through. */
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

/** The rules for a patch: the aspect's own, with the caller's instead where both name an array. */
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
 * Turns the arrays that the rules name into maps, in place. What is a map already stays one. With `changed`, the path of
 * what was set since, only what lies on that path or below it is looked at.
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
        // An array that was just turned into a map is new, and so are all its entries.
        const [key, ...deeper] = keyed === value ? changed.slice(rule.path.length) : []
        const entries = key === undefined ? keyed.values() : [keyed.get(key) ?? null]
        for (const entry of entries) if (isWorkingObject(entry)) arraysToMaps(entry, rule.inside, deeper)
      }
      return keyed
    })
  }
}

/** Turns maps back into arrays, in place, and returns plain JSON. */
export function mapsToArrays(document: WorkingObject, applied: readonly ArrayRule[]): JsonObject {
  for (const rule of applied)
    replaceAt(document, rule.path, (value) => (isLevel(value) ? entriesIn(value, rule) : value))
  return plainObject(document)
}

/** The value as JSON: a map that was copied to where no rule is becomes the array it was. */
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

/** A union, such as `{"double": 1}`: in DataHub's paths a double always has a fraction. */
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

/** The entries below one level of map. A key that the path said and the value did not is written into it. */
function collect(
  level: Map<string, Working> | WorkingObject,
  [key, ...deeper]: readonly (readonly string[])[]
): Working[] {
  return pairsOf(level).flatMap(([text, value]): Working[] => {
    const inner = deeper.length > 0 && isLevel(value) && !isEntry(value) ? collect(value, deeper) : [value]
    return inner.map((entry) => withKey(entry, key, text))
  })
}

/** A record that was set one level too high: it has values of its own beside objects. */
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
