/**
 * Graphs as data, with the expected graphs, paths and domain edges, worked out by hand; and oracles for
 * random graphs.
 *
 * Names are those of test/cases/graphs.ts. Entities get their ids in the order in which the edges first name
 * them, so an order by id is the order of the text.
 */
import type { Direction, NamedEdge } from './graphs.ts'
import { fc } from '../support/fast-check.ts'

export type GraphViewCase = {
  name: string
  edges: string
  removed?: readonly string[]
  placeholders?: readonly string[]
  views: readonly {
    from: string
    ask?: {
      upHops?: number
      downHops?: number
      columns?: boolean
      types?: readonly string[]
      hideJobs?: boolean
      count?: number
      expand?: readonly { at: string; direction: Direction; count?: number }[]
    }
    /**
     * `name SIDE degree, hidden/all upstream, hidden/all downstream [columns]`, in order; `?` before a
     * placeholder.
     */
    nodes: readonly string[]
    /** `up -> down`, with the hidden entities in between after ` via `. The order does not matter. */
    edges: readonly string[]
    /** The number of upstream and downstream edges of assets, and of columns. */
    totals: string
    ignored?: readonly string[]
  }[]
}

const numbered = (count: number, name: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => name(index + 1))

export const graphViewCases: readonly GraphViewCase[] = [
  {
    name: 'a diamond',
    edges: 'a -> b & c -> d -> e',
    views: [
      {
        from: 'a',
        ask: { downHops: 2 },
        nodes: [
          'a START 0, 0/0, 0/2',
          'b DOWNSTREAM 1, 0/1, 0/1',
          'c DOWNSTREAM 1, 0/1, 0/1',
          'd DOWNSTREAM 2, 0/2, 1/1'
        ],
        edges: ['a -> b', 'a -> c', 'b -> d', 'c -> d'],
        totals: '0 4, 4, null'
      },
      {
        from: 'b',
        nodes: ['b START 0, 0/1, 0/1', 'a UPSTREAM 1, 0/0, 1/2', 'd DOWNSTREAM 1, 1/2, 1/1'],
        edges: ['a -> b', 'b -> d'],
        totals: '1 2, 2, null'
      },
      {
        from: 'd',
        ask: { upHops: 0, downHops: 0 },
        nodes: ['d START 0, 2/2, 1/1'],
        edges: [],
        totals: '3 1, 0, null'
      }
    ]
  },
  {
    name: 'an edge that leads past a node on a longer way',
    edges: 'a -> b -> c; a -> c',
    views: [
      {
        from: 'a',
        ask: { downHops: 5 },
        nodes: ['a START 0, 0/0, 0/2', 'b DOWNSTREAM 1, 0/1, 0/1', 'c DOWNSTREAM 1, 0/2, 0/0'],
        edges: ['a -> b', 'b -> c', 'a -> c'],
        totals: '0 2, 3, null'
      }
    ]
  },
  {
    name: 'a cycle through the start, whose entities lie on the nearer side',
    edges: 'a -> b -> c -> a; c -> d',
    views: [
      {
        from: 'a',
        nodes: ['a START 0, 0/1, 0/1', 'c UPSTREAM 1, 0/1, 1/2', 'b DOWNSTREAM 1, 0/1, 0/1'],
        edges: ['a -> b', 'b -> c', 'c -> a'],
        totals: '2 3, 3, null'
      }
    ]
  },
  {
    name: 'two that feed each other, and themselves',
    edges: 'a -> b -> a; a -> a; b -> b',
    views: [
      {
        from: 'a',
        nodes: ['a START 0, 0/1, 0/1', 'b UPSTREAM 1, 0/1, 0/1'],
        edges: ['a -> a', 'a -> b', 'b -> a', 'b -> b'],
        totals: '1 1, 4, null'
      }
    ]
  },
  {
    name: 'jobs in a chain, beside each other, without an end, and back to where they came from',
    edges:
      'raw -> job:one -> job:two -> clean; raw -> job:three -> clean; clean -> job:four -> out; clean -> job:five; raw -> job:nine -> raw',
    views: [
      {
        from: 'raw',
        ask: { hideJobs: true },
        nodes: ['raw START 0, 0/0, 0/1', 'clean DOWNSTREAM 2, 0/1, 1/1'],
        edges: ['raw -> clean via job:one job:two job:three'],
        totals: '0 2, 1, null'
      },
      {
        from: 'raw',
        nodes: [
          'raw START 0, 0/1, 0/3',
          'job:nine UPSTREAM 1, 0/1, 0/1',
          'job:one DOWNSTREAM 1, 0/1, 1/1',
          'job:three DOWNSTREAM 1, 0/1, 1/1'
        ],
        edges: ['raw -> job:one', 'raw -> job:three', 'raw -> job:nine', 'job:nine -> raw'],
        totals: '1 8, 4, null'
      },
      {
        from: 'job:two',
        ask: { hideJobs: true },
        nodes: ['job:two START 0, 0/1, 0/1', 'raw UPSTREAM 2, 0/0, 0/2', 'clean DOWNSTREAM 1, 0/2, 1/1'],
        edges: ['raw -> job:two via job:one', 'job:two -> clean', 'raw -> clean via job:three'],
        totals: '1 2, 3, null'
      }
    ]
  },
  {
    name: 'an edge that is stated, and leads over a hidden job as well',
    edges: 'a -> b; a -> job:x -> b',
    views: [
      {
        from: 'a',
        ask: { hideJobs: true },
        nodes: ['a START 0, 0/0, 0/1', 'b DOWNSTREAM 1, 0/1, 0/0'],
        edges: ['a -> b via job:x'],
        totals: '0 1, 1, null'
      }
    ]
  },
  {
    name: 'a hub with more neighbours than there is room for',
    edges: ['up -> hub', ...numbered(12, (index) => `hub -> n${index}`), 'n3 -> up', 'n2 -> tail'].join('; '),
    views: [
      {
        from: 'hub',
        ask: { count: 5 },
        nodes: [
          'hub START 0, 0/1, 9/12',
          'up UPSTREAM 1, 0/1, 0/1',
          'n1 DOWNSTREAM 1, 0/1, 0/0',
          'n2 DOWNSTREAM 1, 0/1, 1/1',
          'n3 DOWNSTREAM 1, 0/1, 0/1'
        ],
        edges: ['up -> hub', 'hub -> n1', 'hub -> n2', 'hub -> n3', 'n3 -> up'],
        totals: '2 14, 5, null'
      },
      {
        from: 'hub',
        ask: { count: 1 },
        nodes: ['hub START 0, 1/1, 12/12'],
        edges: [],
        totals: '2 14, 0, null'
      },
      {
        from: 'hub',
        ask: { upHops: 0, downHops: 0, expand: [{ at: 'hub', direction: 'DOWNSTREAM', count: 2 }] },
        nodes: ['hub START 0, 1/1, 10/12', 'n1 DOWNSTREAM 1, 0/1, 0/0', 'n2 DOWNSTREAM 1, 0/1, 1/1'],
        edges: ['hub -> n1', 'hub -> n2'],
        totals: '2 14, 2, null'
      }
    ]
  },
  {
    name: 'both sides larger than the room',
    edges: [
      ...numbered(9, (index) => `u${index} -> mid`),
      ...numbered(9, (index) => `mid -> d${index}`)
    ].join('; '),
    views: [
      {
        from: 'mid',
        ask: { count: 6 },
        nodes: [
          'mid START 0, 7/9, 6/9',
          'u1 UPSTREAM 1, 0/0, 0/1',
          'u2 UPSTREAM 1, 0/0, 0/1',
          'd1 DOWNSTREAM 1, 0/1, 0/0',
          'd2 DOWNSTREAM 1, 0/1, 0/0',
          'd3 DOWNSTREAM 1, 0/1, 0/0'
        ],
        edges: ['u1 -> mid', 'u2 -> mid', 'mid -> d1', 'mid -> d2', 'mid -> d3'],
        totals: '9 9, 5, null'
      }
    ]
  },
  {
    name: 'neighbours on both sides, which take room once',
    edges: 's -> a -> s; s -> b -> s; c -> s; d -> s',
    views: [
      {
        from: 's',
        ask: { count: 5 },
        nodes: [
          's START 0, 0/4, 0/2',
          'a UPSTREAM 1, 0/1, 0/1',
          'b UPSTREAM 1, 0/1, 0/1',
          'c UPSTREAM 1, 0/0, 0/1',
          'd UPSTREAM 1, 0/0, 0/1'
        ],
        edges: ['s -> a', 'a -> s', 's -> b', 'b -> s', 'c -> s', 'd -> s'],
        totals: '4 2, 6, null'
      },
      {
        from: 's',
        ask: { count: 4 },
        nodes: [
          's START 0, 1/4, 0/2',
          'a UPSTREAM 1, 0/1, 0/1',
          'b UPSTREAM 1, 0/1, 0/1',
          'c UPSTREAM 1, 0/0, 0/1'
        ],
        edges: ['s -> a', 'a -> s', 's -> b', 'b -> s', 'c -> s'],
        totals: '4 2, 5, null'
      }
    ]
  },
  {
    name: 'expands one after the other, one of them at what is not shown',
    edges: 'a -> b -> c -> d -> e; x -> b; c -> y',
    views: [
      {
        from: 'a',
        ask: {
          expand: [
            { at: 'b', direction: 'DOWNSTREAM' },
            { at: 'c', direction: 'DOWNSTREAM' },
            { at: 'b', direction: 'UPSTREAM' },
            { at: 'e', direction: 'DOWNSTREAM' }
          ]
        },
        nodes: [
          'a START 0, 0/0, 0/1',
          'b DOWNSTREAM 1, 0/2, 0/1',
          'c DOWNSTREAM 2, 0/1, 0/2',
          'd DOWNSTREAM 3, 0/1, 1/1',
          'y DOWNSTREAM 3, 0/1, 0/0',
          'x ASIDE null, 0/0, 0/1'
        ],
        edges: ['a -> b', 'b -> c', 'c -> d', 'c -> y', 'x -> b'],
        totals: '0 5, 5, null',
        ignored: ['expand[3]']
      },
      {
        from: 'a',
        ask: {
          count: 4,
          expand: [
            { at: 'b', direction: 'DOWNSTREAM' },
            { at: 'c', direction: 'DOWNSTREAM' }
          ]
        },
        nodes: [
          'a START 0, 0/0, 0/1',
          'b DOWNSTREAM 1, 1/2, 0/1',
          'c DOWNSTREAM 2, 0/1, 1/2',
          'd DOWNSTREAM 3, 0/1, 1/1'
        ],
        edges: ['a -> b', 'b -> c', 'c -> d'],
        totals: '0 5, 3, null'
      }
    ]
  },
  {
    name: 'types left out, with what lies behind them',
    edges: 'a -> b -> chart:c -> dash:d; a -> job:j -> e',
    views: [
      {
        from: 'a',
        ask: { downHops: 3, types: ['DATASET'] },
        nodes: ['a START 0, 0/0, 1/2', 'b DOWNSTREAM 1, 0/1, 1/1'],
        edges: ['a -> b'],
        totals: '0 2, 1, null'
      },
      {
        from: 'a',
        ask: { downHops: 3, types: ['DATASET', 'DASHBOARD'], hideJobs: true },
        nodes: ['a START 0, 0/0, 0/2', 'b DOWNSTREAM 1, 0/1, 1/1', 'e DOWNSTREAM 2, 0/1, 0/0'],
        edges: ['a -> b', 'a -> e via job:j'],
        totals: '0 3, 2, null'
      },
      {
        from: 'chart:c',
        ask: { types: ['DATASET'] },
        nodes: ['chart:c START 0, 0/1, 1/1', 'b UPSTREAM 1, 1/1, 0/1'],
        edges: ['b -> chart:c'],
        totals: '2 0, 1, null'
      }
    ]
  },
  {
    name: 'soft-deleted entities, looked through with their columns',
    edges: 'a -> gone -> c; a#x -> gone#y -> c#z; a#u -> c#z',
    removed: ['gone'],
    views: [
      {
        from: 'a',
        ask: { columns: true },
        nodes: ['a START 0, 0/0, 0/1 [u x]', 'c DOWNSTREAM 2, 0/1, 0/0 [z]'],
        edges: ['a -> c via gone', 'a#x -> c#z via gone#y', 'a#u -> c#z'],
        totals: '0 1, 1, 2'
      },
      {
        from: 'gone',
        nodes: ['gone START 0, 0/1, 0/1', 'a UPSTREAM 1, 0/0, 0/1', 'c DOWNSTREAM 1, 0/1, 0/0'],
        edges: ['a -> gone', 'gone -> c'],
        totals: '1 1, 2, null'
      }
    ]
  },
  {
    name: 'a placeholder, which is shown and can be the start',
    edges: 'ghost -> a -> b',
    placeholders: ['ghost'],
    views: [
      {
        from: 'a',
        nodes: ['a START 0, 0/1, 0/1', '?ghost UPSTREAM 1, 0/0, 0/1', 'b DOWNSTREAM 1, 0/1, 0/0'],
        edges: ['ghost -> a', 'a -> b'],
        totals: '1 1, 2, null'
      },
      {
        from: 'ghost',
        nodes: ['?ghost START 0, 0/0, 0/1', 'a DOWNSTREAM 1, 0/1, 1/1'],
        edges: ['ghost -> a'],
        totals: '0 2, 1, null'
      }
    ]
  },
  {
    name: 'columns of what is shown, and of nothing else',
    edges: 'a -> b -> c; a#x -> b#y -> c#z; a#u -> c#z; a#own -> a#twin; b#dead -> zz#q',
    views: [
      {
        from: 'a',
        ask: { columns: true },
        nodes: ['a START 0, 0/0, 0/1 [own twin x]', 'b DOWNSTREAM 1, 0/1, 1/1 [y]'],
        edges: ['a -> b', 'a#x -> b#y', 'a#own -> a#twin'],
        totals: '0 2, 1, 2'
      },
      {
        from: 'a#x',
        nodes: ['a#x START 0, 0/0, 0/1', 'b#y DOWNSTREAM 1, 0/1, 1/1'],
        edges: ['a#x -> b#y'],
        totals: '0 2, 0, 1'
      },
      { from: 'a#untold', nodes: ['a#untold START 0, 0/0, 0/0'], edges: [], totals: '0 0, 0, 0' }
    ]
  }
]

export type PathsCase = {
  name: string
  edges: string
  /** Used if the order of some entities matters: gives them their ids together, in this order. */
  waves?: readonly (readonly string[])[]
  removed?: readonly string[]
  ways: readonly {
    from: string
    to: string
    count?: number
    hops: number | null
    total: number
    paths: readonly string[]
  }[]
}

/** 27 rungs with four paths each: 2^54 paths. */
const rungCount = 27
const ladder = numbered(
  rungCount,
  (index) => `s${index - 1} -> a${index} & b${index} & c${index} & d${index} -> s${index}`
).join('; ')
const climb = (rungs: number, side: (index: number) => string): string =>
  ['s0', ...numbered(rungs, (index) => `${side(index)}${index} s${index}`)].join(' ')

export const pathsCases: readonly PathsCase[] = [
  {
    name: 'a diamond with a detour',
    edges: 'a -> b & c -> d; a -> e -> f -> d',
    ways: [
      { from: 'a', to: 'd', hops: 2, total: 2, paths: ['a b d', 'a c d'] },
      { from: 'a', to: 'd', count: 1, hops: 2, total: 2, paths: ['a b d'] },
      { from: 'a', to: 'f', hops: 2, total: 1, paths: ['a e f'] },
      { from: 'a', to: 'b', hops: 1, total: 1, paths: ['a b'] },
      { from: 'd', to: 'a', hops: null, total: 0, paths: [] },
      { from: 'b', to: 'c', hops: null, total: 0, paths: [] }
    ]
  },
  {
    name: 'a short cut, beside which longer ways do not count',
    edges: 'a -> b -> c -> d; a -> d; a -> c',
    ways: [
      { from: 'a', to: 'd', hops: 1, total: 1, paths: ['a d'] },
      { from: 'b', to: 'd', hops: 2, total: 1, paths: ['b c d'] }
    ]
  },
  {
    name: 'cycles and self edges',
    edges: 'a -> b -> c -> a; b -> b; c -> d -> d; d -> b',
    ways: [
      { from: 'a', to: 'd', hops: 3, total: 1, paths: ['a b c d'] },
      { from: 'd', to: 'a', hops: 3, total: 1, paths: ['d b c a'] },
      { from: 'c', to: 'b', hops: 2, total: 2, paths: ['c a b', 'c d b'] }
    ]
  },
  {
    name: 'two layers joined each to each',
    edges: 'a -> b1 & b2 & b3 -> c1 & c2 & c3 -> d',
    ways: [
      {
        from: 'a',
        to: 'd',
        count: 5,
        hops: 3,
        total: 9,
        paths: ['a b1 c1 d', 'a b1 c2 d', 'a b1 c3 d', 'a b2 c1 d', 'a b2 c2 d']
      }
    ]
  },
  {
    name: 'more ways than a number can say',
    edges: ladder,
    waves: ['s', 'a', 'b', 'c', 'd'].map((side) =>
      numbered(rungCount + 1, (index) => `${side}${side === 's' ? index - 1 : index}`)
    ),
    ways: [
      {
        from: 's0',
        to: 's27',
        count: 2,
        hops: 54,
        total: Number.MAX_SAFE_INTEGER,
        paths: [climb(27, () => 'a'), climb(27, (index) => (index === 27 ? 'b' : 'a'))]
      },
      { from: 's0', to: 's26', count: 1, hops: 52, total: 2 ** 52, paths: [climb(26, () => 'a')] }
    ]
  },
  {
    name: 'a soft-deleted entity and jobs on the way',
    edges: 'a -> gone -> job:x -> b',
    removed: ['gone'],
    ways: [{ from: 'a', to: 'b', hops: 3, total: 1, paths: ['a gone job:x b'] }]
  },
  {
    name: 'columns, apart from their assets',
    edges: 'a -> b; a#x -> b#y -> c#z; a#x -> d#w -> c#z',
    ways: [
      { from: 'a#x', to: 'c#z', hops: 2, total: 2, paths: ['a#x b#y c#z', 'a#x d#w c#z'] },
      { from: 'a', to: 'c', hops: null, total: 0, paths: [] },
      { from: 'a#x', to: 'b#untold', hops: null, total: 0, paths: [] }
    ]
  }
]

export type DomainCase = {
  name: string
  /** Domains in the order of their ids, each with its parent. */
  domains: readonly (readonly [name: string, parent: string | null])[]
  /** Assets by domain. */
  assets: { readonly [domain: string]: string }
  edges: string
  removed?: readonly string[]
  asks: readonly {
    of: string | null
    direction?: Direction
    within?: string
    includeDescendants?: boolean
    /**
     * `upstream -> downstream: edges (upstream assets to downstream assets)`, `none` for no domain; in order.
     */
    expected: readonly string[]
    /** The asset edges of the first of them. */
    first?: readonly string[]
  }[]
}

export const domainCases: readonly DomainCase[] = [
  {
    name: 'a tree of domains, jobs with and without one',
    domains: [
      ['shop', null],
      ['orders', 'shop'],
      ['eu', 'orders'],
      ['web', 'shop'],
      ['fin', null],
      ['tax', 'fin'],
      ['empty', null]
    ],
    assets: { orders: 'a', eu: 'b', web: 'c', shop: 's', fin: 'd job:own', tax: 'e' },
    edges:
      'a -> b; a -> c; b -> c; a -> d & e; b -> n; a -> job:free -> d & e; c -> job:own -> e; n -> c; d -> a; a -> s; a -> a',
    asks: [
      {
        of: 'orders',
        expected: [
          'orders -> web: 2 (2 to 1)',
          'orders -> fin: 2 (1 to 2)',
          'orders -> none: 1 (1 to 1)',
          'orders -> shop: 1 (1 to 1)'
        ],
        first: ['a -> c', 'b -> c']
      },
      {
        of: 'orders',
        includeDescendants: false,
        expected: [
          'orders -> fin: 2 (1 to 2)',
          'orders -> shop: 1 (1 to 1)',
          'orders -> eu: 1 (1 to 1)',
          'orders -> web: 1 (1 to 1)'
        ],
        first: ['a -> d', 'a -> e']
      },
      { of: 'orders', direction: 'UPSTREAM', expected: ['fin -> orders: 1 (1 to 1)'], first: ['d -> a'] },
      { of: 'orders', within: 'fin', expected: ['orders -> fin: 1 (1 to 1)', 'orders -> tax: 1 (1 to 1)'] },
      {
        of: 'tax',
        direction: 'UPSTREAM',
        expected: ['shop -> tax: 1 (1 to 1)', 'fin -> tax: 1 (1 to 1)'],
        first: ['a -> e']
      },
      {
        of: null,
        expected: ['shop -> fin: 3 (2 to 3)', 'shop -> none: 1 (1 to 1)', 'fin -> shop: 1 (1 to 1)'],
        first: ['a -> d', 'a -> e', 'c -> job:own']
      },
      {
        of: null,
        direction: 'UPSTREAM',
        expected: ['shop -> fin: 3 (2 to 3)', 'none -> shop: 1 (1 to 1)', 'fin -> shop: 1 (1 to 1)']
      },
      { of: null, within: 'shop', expected: ['orders -> web: 2 (2 to 1)', 'orders -> shop: 1 (1 to 1)'] },
      { of: 'empty', expected: [] }
    ]
  },
  {
    name: 'soft-deleted assets and jobs, which take no part',
    domains: [
      ['one', null],
      ['two', null]
    ],
    assets: { one: 'a gone', two: 'b c' },
    edges:
      'a -> b; gone -> b; a -> gone; a -> job:dead -> c; gone -> c; a -> job:live -> job:on -> c; b -> job:live',
    removed: ['gone', 'job:dead'],
    asks: [
      { of: 'one', expected: ['one -> two: 2 (1 to 2)'], first: ['a -> b', 'a -> c'] },
      { of: 'two', direction: 'UPSTREAM', expected: ['one -> two: 2 (1 to 2)'], first: ['a -> b', 'a -> c'] }
    ]
  },
  {
    name: 'edges between assets in no domain, and within one',
    domains: [['only', null]],
    assets: { only: 'a b' },
    edges: 'a -> b; x -> y; y -> a',
    asks: [
      { of: null, expected: [] },
      { of: null, direction: 'UPSTREAM', expected: ['none -> only: 1 (1 to 1)'] },
      { of: 'only', direction: 'UPSTREAM', expected: ['none -> only: 1 (1 to 1)'], first: ['y -> a'] }
    ]
  }
]

/** All shortest paths, found by trying every path that has no more edges than there are entities. */
export function naivePaths(
  edges: readonly NamedEdge[],
  from: string,
  to: string
): { hops: number | null; total: number } {
  const next = new Map<string, Set<string>>()
  for (const [up, down] of edges) next.set(up, (next.get(up) ?? new Set<string>()).add(down))
  let ways = new Map([[from, 1]])
  for (let hops = 1; hops <= next.size + 1; hops += 1) {
    const further = new Map<string, number>()
    for (const [name, count] of ways)
      for (const down of next.get(name) ?? []) further.set(down, (further.get(down) ?? 0) + count)
    const total = further.get(to)
    if (total !== undefined) return { hops, total }
    ways = further
  }
  return { hops: null, total: 0 }
}

/** The edges after jobs of a kind are removed and their neighbours are joined, one job after the other. */
export function contracted(edges: readonly NamedEdge[], isTakenOut: (name: string) => boolean): NamedEdge[] {
  let left = new Set(edges.map((edge) => edge.join(' ')))
  for (const name of new Set(edges.flat())) {
    if (!isTakenOut(name)) continue
    const pairs = [...left].map((edge) => edge.split(' '))
    const ups = pairs.flatMap(([up = '', down]) => (down === name && up !== name ? [up] : []))
    const downs = pairs.flatMap(([up, down = '']) => (up === name && down !== name ? [down] : []))
    left = new Set([...left].filter((edge) => !edge.split(' ').includes(name)))
    for (const up of ups) for (const down of downs) left.add(`${up} ${down}`)
  }
  return [...left]
    .map((edge): NamedEdge => {
      const [up = '', down = ''] = edge.split(' ')
      return [up, down]
    })
    .filter(([up, down]) => up !== down)
}

export type DomainWorld = Pick<DomainCase, 'domains' | 'assets'> & { edges: NamedEdge[]; removed: string[] }

/**
 * Some domains in a tree, datasets and jobs in some or none of them, random edges, a few of them to
 * soft-deleted entities.
 */
export const randomDomains: fc.Arbitrary<DomainWorld> = fc
  .record({
    parents: fc.array(fc.nat(7), { minLength: 2, maxLength: 5 }),
    homes: fc.array(fc.nat(7), { minLength: 5, maxLength: 9 }),
    pairs: fc.array(fc.tuple(fc.nat(8), fc.nat(8)), { minLength: 6, maxLength: 22, size: 'max' }),
    removedAt: fc.option(fc.nat(8))
  })
  .map(({ parents, homes, pairs, removedAt }) => {
    const domains = parents.map((drawn, index): [string, string | null] => [
      `d${index}`,
      drawn % (index + 1) < index ? `d${drawn % (index + 1)}` : null
    ])
    const names = homes.map((_, index) => (index % 3 === 2 ? `job:n${index}` : `n${index}`))
    const at = (index: number): string => names[index % names.length] ?? 'n0'
    const edges = pairs.map(([up, down]): NamedEdge => [at(up), at(down)])
    const used = new Set(edges.flat())
    const assets = Object.fromEntries(
      domains.map(([domain], index) => [
        domain,
        names.filter((name, place) => used.has(name) && homes[place] === index).join(' ')
      ])
    )
    const gone = removedAt === null ? undefined : at(removedAt)
    return { domains, assets, edges, removed: gone !== undefined && used.has(gone) ? [gone] : [] }
  })

/** The lines in the form of domainCases, for one domain, computed directly from the definition. */
export function naiveDomainEdges(
  { domains, assets, edges, removed }: DomainWorld,
  of: string,
  direction: Direction,
  includeDescendants: boolean
): string[] {
  const parentOf = new Map(domains)
  const chain = (domain: string): string[] => {
    const parent = parentOf.get(domain) ?? null
    return [domain, ...(parent === null ? [] : chain(parent))]
  }
  const domainOf = (name: string): string | null =>
    Object.entries(assets).find(([, members]) => members.split(' ').includes(name))?.[0] ?? null
  const isNear = (name: string): boolean => {
    const own = domainOf(name)
    return own !== null && (includeDescendants ? chain(own).includes(of) : own === of)
  }
  const groupOf = (name: string): string => {
    const own = domainOf(name)
    return own === null
      ? 'none'
      : (chain(own)
          .filter((domain) => !chain(of).includes(domain))
          .at(-1) ?? own)
  }
  const living = edges.filter((edge) => !edge.some((name) => removed.includes(name)))
  const groups = new Map<string, { near: Set<string>; far: Set<string>; count: number }>()
  for (const edge of new Set(
    contracted(living, (name) => name.startsWith('job:') && domainOf(name) === null).map((pair) =>
      pair.join(' ')
    )
  )) {
    const [up = '', down = ''] = edge.split(' ')
    const [near, far] = direction === 'DOWNSTREAM' ? [up, down] : [down, up]
    if (!isNear(near) || isNear(far)) continue
    const group = groups.get(groupOf(far)) ?? { near: new Set<string>(), far: new Set<string>(), count: 0 }
    groups.set(groupOf(far), { near: group.near.add(near), far: group.far.add(far), count: group.count + 1 })
  }
  return [...groups].map(([name, { near, far, count }]) =>
    direction === 'DOWNSTREAM'
      ? `${of} -> ${name}: ${count} (${near.size} to ${far.size})`
      : `${name} -> ${of}: ${count} (${far.size} to ${near.size})`
  )
}
