/** Random choices from a seed, and values that no caller should send. */
import type { JsonValue } from '../../shared/model/changes.ts'

export type Random = {
  /** A whole number below `count`. */
  below: (count: number) => number
  chance: (share: number) => boolean
  pick: <Item>(items: readonly [Item, ...Item[]]) => Item
}

/** The same numbers for the same seed and index, whatever was drawn before. */
export function createRandom(seed: number, index: number): Random {
  let state = (Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b) + Math.imul(index + 1, 0xc2b2_ae35)) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number): number => Math.floor(next() * count)
  return { below, chance: (share) => next() < share, pick: (items) => items[below(items.length)] ?? items[0] }
}

export const datasetUrn = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const job = 'urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),load)'

/** Entities that the run creates first, and some that do not exist. */
export const urns: readonly [string, ...string[]] = [
  datasetUrn('a'),
  datasetUrn('b'),
  datasetUrn('c'),
  datasetUrn('nowhere'),
  job,
  'urn:li:dataFlow:(airflow,nightly,PROD)',
  'urn:li:domain:finance',
  'urn:li:domain:sales',
  'urn:li:domain:nowhere',
  'urn:li:chart:(looker,c)',
  'urn:li:dashboard:(looker,d)',
  `urn:li:schemaField:(${datasetUrn('a')},x)`,
  `urn:li:schemaField:(${datasetUrn('b')},y)`,
  'urn:li:mlModel:(urn:li:dataPlatform:mlflow,m,PROD)',
  'urn:li:corpuser:x',
  'urn:li:tag:t',
  'urn:li:dataProcessInstance:r',
  'urn:li:container:c'
]

const texts: readonly [string, ...string[]] = [
  '',
  ' ',
  'x',
  '0',
  '-1',
  'null',
  'true',
  '*',
  '"',
  '\\',
  '%',
  '%00',
  '/',
  '..',
  'urn:li:',
  'urn:li:dataset:()',
  'urn:li:dataset:(((',
  'urn:li:schemaField:(,)',
  '\u0000',
  '\ud800',
  '\u202e',
  '😀',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(3_000),
  '('.repeat(200),
  "'; drop table entity; --",
  '${x}',
  '{}',
  '[]',
  '1e400',
  '9007199254740993',
  '2026-13-41T99:99:99Z',
  '00000000-0000-0000-0000-000000000000',
  'finance',
  'hive:a',
  'WyIyMDI2LTEzLTAxIDAwOjAwOjAwKzAwIiwiMDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAwIl0'
]
const numbers: readonly [number, ...number[]] = [
  0,
  -0,
  1,
  -1,
  2,
  10,
  100,
  1.5,
  1e-7,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e300,
  5e-324,
  253_402_300_800_000,
  8.64e15 + 1
]

export const strangeText = (random: Random): string =>
  random.chance(0.3) ? random.pick(urns) : random.pick(texts)
export const strangeNumber = (random: Random): number => random.pick(numbers)

/** Any small JSON. */
export function strangeValue(random: Random, depth = 0): JsonValue {
  const kind = random.below(depth > 3 ? 5 : 9)
  if (kind === 0) return null
  if (kind === 1) return random.chance(0.5)
  if (kind === 2) return strangeNumber(random)
  if (kind <= 4) return strangeText(random)
  if (kind <= 6) return Array.from({ length: random.below(4) }, () => strangeValue(random, depth + 1))
  if (kind === 7)
    return random.pick<JsonValue>([
      { toString: 1 },
      { valueOf: {}, toString: null },
      { length: -1 },
      { toJSON: 'x' },
      { hasOwnProperty: 1 },
      { prototype: {} },
      { constructor: 'x' }
    ])
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [
      random.chance(0.5)
        ? random.pick([
            'urn',
            'value',
            'json',
            'patch',
            'op',
            'path',
            'from',
            'aspect',
            'dataset',
            'type',
            'upstreams'
          ])
        : strangeText(random),
      strangeValue(random, depth + 1)
    ])
  )
}

/** The value with a part of it changed, removed, added or duplicated. */
export function mutated(random: Random, value: JsonValue): JsonValue {
  // The aspect of a proposal is JSON text, so the mutation is usually made inside it.
  if (typeof value === 'string' && /^[{[]./.test(value) && random.chance(0.8))
    return JSON.stringify(mutated(random, JSON.parse(value)))
  if (typeof value !== 'object' || value === null || random.chance(0.15))
    return random.chance(0.8) ? strangeValue(random) : value
  if (Array.isArray(value)) {
    const at = random.below(value.length + 1)
    if (at === value.length) return [...value, strangeValue(random)]
    return random.chance(0.2)
      ? [...value, ...value]
      : value.map((inner, index) => (index === at ? mutated(random, inner) : inner))
  }
  const names = Object.keys(value)
  const name = names[random.below(names.length)]
  if (name === undefined || random.chance(0.1))
    return { ...value, [strangeText(random)]: strangeValue(random) }
  if (random.chance(0.15))
    return Object.fromEntries(Object.entries(value).filter(([other]) => other !== name))
  return { ...value, [name]: mutated(random, value[name] ?? null) }
}
