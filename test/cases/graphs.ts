/**
 * Graphs as data, with the degrees that a walk must find, and random graphs with an oracle that is too simple
 * to be wrong.
 *
 * Names stand for entities: `a` is a dataset, `job:a` a data job, `a#x` column x of dataset a; `up -> down`
 * is an edge, `a & b -> c` two. test/support/graph.ts turns them into URNs and writes them through an
 * interface.
 */
import type { JsonObject } from '../../shared/model/changes.ts'
import { fc } from '../support/fast-check.ts'

export type Direction = 'UPSTREAM' | 'DOWNSTREAM'

/** The smallest degrees by name. Other entities must not be reached. */
export type Degrees = { [name: string]: number }

export type GraphWalk = {
  from: string
  direction: Direction
  expected: Degrees
  /** For walks from a column: the degrees of the assets that contain the reached columns. */
  folded?: Degrees
  /** The expected entities that pass groups of filters, by name. */
  kept?: readonly { groups: readonly (readonly JsonObject[])[]; names: readonly string[] }[]
}

export type GraphCase = { name: string; edges: string; walks: readonly GraphWalk[] }

const numbered = (count: number, name: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => name(index + 1))
const degreesOf = (names: readonly string[], degree: (index: number) => number): Degrees =>
  Object.fromEntries(names.map((name, index) => [name, degree(index)]))

const chain = ['start', ...numbered(100, (index) => `link${index}`)]
const leaves = numbered(2_000, (index) => `leaf${index}`)
const complete = numbered(6, (index) => `k${index}`)

export const graphCases: readonly GraphCase[] = [
  {
    name: 'one edge',
    edges: 'a -> b',
    walks: [
      { from: 'a', direction: 'DOWNSTREAM', expected: { b: 1 } },
      { from: 'b', direction: 'UPSTREAM', expected: { a: 1 } },
      { from: 'b', direction: 'DOWNSTREAM', expected: {} },
      { from: 'a', direction: 'UPSTREAM', expected: {} }
    ]
  },
  {
    name: 'a diamond, with a short cut',
    edges: 'top -> left & right -> bottom -> below; top -> bottom',
    walks: [
      { from: 'top', direction: 'DOWNSTREAM', expected: { left: 1, right: 1, bottom: 1, below: 2 } },
      { from: 'below', direction: 'UPSTREAM', expected: { bottom: 1, left: 2, right: 2, top: 2 } }
    ]
  },
  {
    name: 'ways of different lengths',
    edges: 'a -> b -> c -> d -> e -> z; a -> x -> z; z -> tail',
    walks: [{ from: 'a', direction: 'DOWNSTREAM', expected: { b: 1, x: 1, c: 2, z: 2, d: 3, tail: 3, e: 4 } }]
  },
  {
    name: 'a cycle through the start',
    edges: 'a -> b -> c -> a; c -> d',
    walks: [
      { from: 'a', direction: 'DOWNSTREAM', expected: { b: 1, c: 2, d: 3 } },
      { from: 'a', direction: 'UPSTREAM', expected: { c: 1, b: 2 } },
      { from: 'd', direction: 'UPSTREAM', expected: { c: 1, b: 2, a: 3 } }
    ]
  },
  {
    name: 'a cycle beyond the start',
    edges: 'a -> b -> c -> d -> b',
    walks: [{ from: 'a', direction: 'DOWNSTREAM', expected: { b: 1, c: 2, d: 3 } }]
  },
  {
    name: 'two that feed each other',
    edges: 'a -> b; b -> a',
    walks: [
      { from: 'a', direction: 'DOWNSTREAM', expected: { b: 1 } },
      { from: 'a', direction: 'UPSTREAM', expected: { b: 1 } }
    ]
  },
  {
    name: 'a self edge',
    edges: 'a -> a; a -> b -> b -> c',
    walks: [
      { from: 'a', direction: 'DOWNSTREAM', expected: { b: 1, c: 2 } },
      { from: 'a', direction: 'UPSTREAM', expected: {} },
      { from: 'c', direction: 'UPSTREAM', expected: { b: 1, a: 2 } }
    ]
  },
  {
    name: 'every pair both ways',
    edges: complete.flatMap((up) => complete.map((down) => `${up} -> ${down}`)).join('; '),
    walks: [{ from: 'k1', direction: 'DOWNSTREAM', expected: degreesOf(complete.slice(1), () => 1) }]
  },
  {
    name: 'a hub of 2,000',
    edges: [...leaves.map((leaf) => `hub -> ${leaf}`), 'source -> hub', 'leaf7 -> beyond'].join('; '),
    walks: [
      { from: 'hub', direction: 'DOWNSTREAM', expected: { ...degreesOf(leaves, () => 1), beyond: 2 } },
      {
        from: 'source',
        direction: 'DOWNSTREAM',
        expected: { hub: 1, ...degreesOf(leaves, () => 2), beyond: 3 }
      },
      { from: 'beyond', direction: 'UPSTREAM', expected: { leaf7: 1, hub: 2, source: 3 } }
    ]
  },
  {
    name: 'a chain of 100',
    edges: chain.join(' -> '),
    walks: [
      { from: 'start', direction: 'DOWNSTREAM', expected: degreesOf(chain.slice(1), (index) => index + 1) },
      {
        from: 'link100',
        direction: 'UPSTREAM',
        expected: degreesOf(chain.slice(0, -1), (index) => 100 - index)
      }
    ]
  },
  {
    name: 'kinds of assets mixed',
    edges: [
      'raw -> job:clean -> clean -> chart:sales -> dash:board -> dash:all',
      'job:clean -> job:next -> other',
      'raw -> dash:board; chart:sales -> chart:copy',
      'clean -> key:id & feature:age; feature:age -> model:churn'
    ].join('; '),
    walks: [
      {
        from: 'raw',
        direction: 'DOWNSTREAM',
        expected: {
          'job:clean': 1,
          'dash:board': 1,
          clean: 2,
          'job:next': 2,
          'dash:all': 2,
          'chart:sales': 3,
          other: 3,
          'key:id': 3,
          'feature:age': 3,
          'chart:copy': 4,
          'model:churn': 4
        },
        kept: [
          { groups: [[{ field: 'degree', values: ['1'] }]], names: ['job:clean', 'dash:board'] },
          {
            groups: [
              [
                { field: 'degree', values: ['3+'], negated: true },
                { field: '_entityType', values: ['DATASET', 'DASHBOARD'] }
              ]
            ],
            names: ['dash:board', 'clean', 'dash:all']
          },
          {
            groups: [
              [
                { field: 'platform', values: ['looker'] },
                { field: 'degree', values: ['2'], negated: true }
              ],
              [{ field: '_entityType', values: ['MLMODEL'] }]
            ],
            names: ['dash:board', 'chart:sales', 'chart:copy', 'model:churn']
          },
          {
            groups: [[{ field: 'origin', condition: 'EXISTS', negated: true }]],
            names: ['dash:board', 'dash:all', 'chart:sales', 'key:id', 'feature:age', 'chart:copy']
          },
          { groups: [[{ field: 'domains', condition: 'EXISTS' }]], names: [] },
          {
            groups: [[]],
            names: [
              'job:clean',
              'dash:board',
              'clean',
              'job:next',
              'dash:all',
              'chart:sales',
              'other',
              'key:id',
              'feature:age',
              'chart:copy',
              'model:churn'
            ]
          }
        ]
      },
      {
        from: 'dash:all',
        direction: 'UPSTREAM',
        expected: { 'dash:board': 1, 'chart:sales': 2, raw: 2, clean: 3, 'job:clean': 4 }
      },
      {
        from: 'model:churn',
        direction: 'UPSTREAM',
        expected: { 'feature:age': 1, clean: 2, 'job:clean': 3, raw: 4 }
      }
    ]
  },
  {
    name: 'columns beside their tables',
    edges:
      'a#id & a#name -> b#label; b#label -> c#label & c#copy -> d#end; a#id -> c#copy; a -> b; e#x -> e#y',
    walks: [
      { from: 'a', direction: 'DOWNSTREAM', expected: { b: 1 } },
      {
        from: 'a#id',
        direction: 'DOWNSTREAM',
        expected: { 'b#label': 1, 'c#copy': 1, 'c#label': 2, 'd#end': 2 },
        folded: { b: 1, c: 1, d: 2 }
      },
      {
        from: 'd#end',
        direction: 'UPSTREAM',
        expected: { 'c#label': 1, 'c#copy': 1, 'b#label': 2, 'a#id': 2, 'a#name': 3 },
        folded: { c: 1, b: 2, a: 2 }
      },
      { from: 'e#x', direction: 'DOWNSTREAM', expected: { 'e#y': 1 }, folded: { e: 1 } }
    ]
  },
  {
    name: 'columns of charts and dashboards',
    edges: 'a#amount -> chart:sum#total -> dash:view#shown',
    walks: [
      {
        from: 'a#amount',
        direction: 'DOWNSTREAM',
        expected: { 'chart:sum#total': 1, 'dash:view#shown': 2 },
        folded: { 'chart:sum': 1, 'dash:view': 2 }
      }
    ]
  }
]

/** An edge by names: [upstream, downstream]. */
export type NamedEdge = readonly [string, string]

/** The pairs of types that can have an edge. */
const feeds: { readonly [downstream: string]: readonly string[] } = {
  dataset: ['dataset', 'job'],
  job: ['dataset', 'job'],
  chart: ['dataset', 'chart'],
  dash: ['dataset', 'chart', 'dash'],
  key: ['dataset'],
  feature: ['dataset'],
  model: ['feature']
}

const kindOf = (name: string): string => (name.includes(':') ? name.slice(0, name.indexOf(':')) : 'dataset')

/**
 * A random graph and a start in it. Mostly datasets, with some other types. Edges have any possible
 * direction, so there are cycles, self edges and unreachable entities. Some graphs have only columns.
 */
export const randomGraph: fc.Arbitrary<{ edges: NamedEdge[]; from: string; direction: Direction }> = fc
  .record({
    kinds: fc.array(
      fc.constantFrom(
        'dataset',
        'dataset',
        'dataset',
        'dataset',
        'job',
        'job',
        'chart',
        'dash',
        'key',
        'feature',
        'model'
      ),
      { minLength: 2, maxLength: 16, size: 'max' }
    ),
    isOfColumns: fc.integer({ min: 0, max: 4 }).map((drawn) => drawn === 0),
    pairs: fc.array(fc.tuple(fc.nat(15), fc.nat(15)), { minLength: 1, maxLength: 45, size: 'max' }),
    start: fc.nat(),
    direction: fc.constantFrom<Direction>('UPSTREAM', 'DOWNSTREAM')
  })
  .map(({ kinds, isOfColumns, pairs, start, direction }) => {
    const names = kinds.map((kind, index) =>
      isOfColumns ? `t${index % 5}#c${index}` : kind === 'dataset' ? `n${index}` : `${kind}:n${index}`
    )
    const at = (index: number): string => names[index % names.length] ?? 'n0'
    const edges = pairs
      .map(([up, down]): NamedEdge => [at(up), at(down)])
      .filter(([up, down]) => isOfColumns || feeds[kindOf(down)]?.includes(kindOf(up)))
    // A start with an edge, if there is one: others reach nothing.
    const [up, down] = edges[start % Math.max(1, edges.length)] ?? [at(start), at(start)]
    return { edges, from: direction === 'DOWNSTREAM' ? up : down, direction }
  })

/** Computes the smallest degrees by scanning all edges until no degree changes. */
export function naiveDegrees(edges: readonly NamedEdge[], from: string, direction: Direction): Degrees {
  const degrees = new Map([[from, 0]])
  for (let changed = true; changed;) {
    changed = false
    for (const [up, down] of edges) {
      const [near, far] = direction === 'DOWNSTREAM' ? [up, down] : [down, up]
      const reached = degrees.get(near)
      if (reached === undefined || (degrees.get(far) ?? Infinity) <= reached + 1) continue
      degrees.set(far, reached + 1)
      changed = true
    }
  }
  degrees.delete(from)
  return Object.fromEntries(degrees)
}
