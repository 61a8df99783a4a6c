/** What a lineage view makes of an answer: cards, stacks, groups, columns, counts; its closures; and what can be exported of it. */
import t from 'tap'
import { printCells } from '../../shared/formats/csv-cells.ts'
import { columnParts, columnUrn, shownPath } from '../../web/src/api/column-urn.ts'
import { coloursOf, hueCount, hueOf } from '../../web/src/graph/colours.ts'
import { csvCell, csvOf, svgOf, type Palette } from '../../web/src/graph/export.ts'
import { commandOf, nextItem } from '../../web/src/graph/keyboard.ts'
import { factsOf, fitted, isAbsent, labelOf, textWidth } from '../../web/src/graph/labels.ts'
import { closureOf, closureOfPaths, linksOf, shownPaths, type Link } from '../../web/src/graph/paths.ts'
import {
  edgeId,
  groupId,
  pictureOf,
  stackId,
  type AnswerEdge,
  type AnswerNode,
  type GraphAnswer
} from '../../web/src/graph/picture.ts'
import { rowMiddle, sceneOf, sizes } from '../../web/src/graph/scene.ts'
import { fc } from '../support/fast-check.ts'

const urnOf = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const columnOf = (name: string, path: string): string => columnUrn(urnOf(name), path)

const node = (name: string, more: Partial<AnswerNode> = {}, domain: string | null = null): AnswerNode => ({
  card: {
    urn: urnOf(name),
    type: 'DATASET',
    name,
    platform: name.startsWith('s') ? 'snowflake' : 'hive',
    environment: 'PROD',
    qualifier: '',
    nameThere: null,
    domain:
      domain === null
        ? null
        : { urn: `urn:li:domain:${domain}`, name: domain, path: [domain], urns: [`urn:li:domain:${domain}`] },
    exists: true
  },
  isRemoved: false,
  side: 'DOWNSTREAM',
  degree: 1,
  upstreamCount: 0,
  downstreamCount: 0,
  hiddenUpstream: 0,
  hiddenDownstream: 0,
  expandedUpstream: false,
  expandedDownstream: false,
  columnRows: null,
  ...more
})

const edge = (from: string, to: string): AnswerEdge => ({
  upstreamUrn: urnOf(from),
  downstreamUrn: urnOf(to),
  level: 'ASSET',
  via: [],
  viaCount: 0
})
const columnEdge = (from: [string, string], to: [string, string]): AnswerEdge => ({
  ...edge('', ''),
  upstreamUrn: columnOf(...from),
  downstreamUrn: columnOf(...to),
  level: 'COLUMN'
})
const rows = (name: string, paths: readonly string[], total = paths.length): AnswerNode['columnRows'] => ({
  total,
  rows: paths.map((path) => ({
    urn: columnOf(name, path),
    path,
    dataType: 'int',
    upstreamCount: 0,
    downstreamCount: 0,
    hiddenUpstream: 0,
    hiddenDownstream: 0
  }))
})

const answer = (
  nodes: readonly AnswerNode[],
  edges: readonly AnswerEdge[],
  more: Partial<GraphAnswer['totals']> = {}
): GraphAnswer => ({
  nodes,
  edges,
  totals: { upstream: 0, downstream: 0, both: 0, assetEdges: edges.length, columnEdges: null, ...more },
  isComplete: true,
  timeRule: null,
  hidesJobs: false
})
const plain = { group: 'none', toggledGroups: [], column: null, showsColumns: false } as const

await t.test('an expanded side with more neighbours shows a stack with exactly the rest', async (t) => {
  const picture = pictureOf(
    answer(
      [
        node('a', {
          side: 'START',
          degree: 0,
          downstreamCount: 5_000,
          hiddenDownstream: 4_990,
          expandedDownstream: true
        }),
        node('b', { upstreamCount: 3, hiddenUpstream: 2 })
      ],
      [edge('a', 'b')]
    ),
    plain
  )
  t.strictSame(
    picture.items.map((item) => [item.kind, item.id]),
    [
      ['card', urnOf('a')],
      ['card', urnOf('b')],
      ['stack', stackId(urnOf('a'), 'DOWNSTREAM')]
    ],
    'what was not opened has no stack'
  )
  t.match(picture.items[2], { count: 4_990 })
  t.strictSame(
    picture.edges.map(({ from, to, kind }) => [from, to, kind]),
    [
      [urnOf('a'), urnOf('b'), 'edge'],
      [urnOf('a'), stackId(urnOf('a'), 'DOWNSTREAM'), 'stack']
    ]
  )
})

await t.test('assets are counted once, even if a cycle has them on both sides', async (t) => {
  const { counts } = pictureOf(
    answer([node('a', { side: 'START' }), node('b'), node('c', { side: 'ASIDE', degree: null })], [], {
      upstream: 7,
      downstream: 5,
      both: 3
    }),
    plain
  )
  t.match(counts, { shown: 2, total: 10, aside: 1, stacks: 0 })
})

await t.test(
  'without columns there are no rows and no column edges, whatever the answer contains',
  async (t) => {
    const full = answer(
      [node('a', { columnRows: rows('a', ['x']) }), node('b', { columnRows: rows('b', ['y']) })],
      [edge('a', 'b')]
    )
    const { items } = pictureOf(full, plain)
    t.ok(items.every((item) => item.kind !== 'card' || (item.rows.length === 0 && item.moreRows === 0)))
  }
)

await t.test('a card has at most eight rows, and says how many columns are not shown', async (t) => {
  const paths = Array.from({ length: 8 }, (_, index) => `c${index}`)
  const wide = answer([node('a', { columnRows: rows('a', paths, 300) })], [])
  const [item] = pictureOf(wide, { ...plain, showsColumns: true }).items
  t.match(item, { rows: paths.map((path) => ({ path })), moreRows: 292 })
})

await t.test(
  'the path of a chosen column comes first in every card, also if the server did not list it',
  async (t) => {
    const shown = answer(
      [
        node('a', { columnRows: rows('a', ['k', 'x']) }),
        node('b', { columnRows: rows('b', ['k', 'l', 'm', 'n', 'o', 'p', 'q', 'r'], 20) })
      ],
      [edge('a', 'b'), columnEdge(['a', 'x'], ['b', 'deep'])],
      { columnEdges: 1 }
    )
    const picture = pictureOf(shown, { ...plain, showsColumns: true, column: columnOf('a', 'x') })
    const pathsOf = (index: number): string[] => {
      const item = picture.items[index]
      return item?.kind === 'card' ? item.rows.map(({ path }) => path) : []
    }
    t.strictSame(pathsOf(0), ['x', 'k'])
    t.strictSame(pathsOf(1), ['deep', 'k', 'l', 'm', 'n', 'o', 'p', 'q'])
    t.match(picture.items[1], { moreRows: 12 })
    const scene = sceneOf(picture, null, null)
    const placed = scene.byId.get(urnOf('b'))
    if (placed?.item.kind !== 'card') throw new Error('no card')
    const top = placed.box.y + sizes.header + sizes.rowsTop
    t.equal(rowMiddle(placed.item, placed.box, columnOf('b', 'deep')), top + sizes.row / 2)
    t.equal(
      rowMiddle(placed.item, placed.box, columnOf('b', 'nowhere')),
      top + 8.5 * sizes.row,
      'the line “+12 more”'
    )
  }
)

await t.test('a column URN is split at its own comma', async (t) => {
  t.strictSame(columnParts(columnUrn(urnOf('a,b(c)'), 'x,y(z)')), { asset: urnOf('a,b(c)'), path: 'x,y(z)' })
})

t.test('the path of a nested column is shown without the types that DataHub puts into it', async (t) => {
  t.equal(shownPath('[version=2.0].[type=struct].payload.[type=string].sku'), 'payload.sku')
  t.equal(shownPath('[version=2.0].[key=True].[type=long].id'), 'id')
  t.equal(shownPath('address.city'), 'address.city')
  t.equal(shownPath('[version=2.0]'), '[version=2.0]')
})

await t.test(
  'groups hold their cards; a closed one is one item, and its edges are merged and counted',
  async (t) => {
    const grouped = answer(
      [node('a', { side: 'START' }, 'Sales'), node('b', {}, 'Sales'), node('c', {}, 'Ops'), node('d')],
      [edge('a', 'c'), edge('b', 'c'), edge('a', 'b'), edge('c', 'd')]
    )
    const open = pictureOf(grouped, { ...plain, group: 'domain' })
    t.strictSame(
      open.groups.map(({ name, count, isOpen }) => [name, count, isOpen]),
      [
        ['Sales', 2, true],
        ['Ops', 1, true]
      ]
    )
    const scene = sceneOf(open, null, null)
    for (const { item, box } of scene.items) {
      if (item.kind !== 'card' || item.group === null) continue
      const group = scene.groups.find(({ id }) => id === item.group)
      t.ok(
        group && group.box.y <= box.y && box.y + box.height <= group.box.y + group.box.height,
        `${item.id} is in its box`
      )
    }
    const closed = pictureOf(grouped, { ...plain, group: 'domain', toggledGroups: ['urn:li:domain:Sales'] })
    const sales = groupId('urn:li:domain:Sales')
    t.strictSame(
      closed.items.map(({ id }) => id),
      [urnOf('c'), urnOf('d'), sales]
    )
    t.strictSame(
      closed.edges.map(({ id, kind, count }) => [id, kind, count]),
      [
        [edgeId(sales, urnOf('c')), 'merged', 2],
        [edgeId(urnOf('c'), urnOf('d')), 'edge', 1]
      ],
      'an edge within a closed group is not drawn'
    )
    t.equal(closed.counts.shown, 4, 'what a closed group holds is shown')
  }
)

await t.test('a large picture begins with its groups closed', async (t) => {
  const many = answer(
    Array.from({ length: 300 }, (_, index) => node(`n${index}`, {}, index % 2 === 0 ? 'A' : 'B')),
    []
  )
  t.equal(pictureOf(many, { ...plain, group: 'domain' }).items.length, 2)
  t.equal(
    pictureOf(many, { ...plain, group: 'domain', toggledGroups: ['urn:li:domain:A'] }).items.length,
    151
  )
})

const links = fc
  .array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 25 })
  .map((pairs) =>
    pairs.map(([from, to], index): Link => ({ id: String(index), from: String(from), to: String(to) }))
  )

await t.test(
  'a closure contains everything upstream and downstream of a start, like a naive walk',
  async () => {
    fc.assert(
      fc.property(links, fc.nat(9), (all, at) => {
        const start = String(at)
        const walk = (near: (link: Link) => string, far: (link: Link) => string): Set<string> => {
          let found = new Set([start])
          for (;;) {
            const next = new Set([...found, ...all.filter((link) => found.has(near(link))).map(far)])
            if (next.size === found.size) return found
            found = next
          }
        }
        const down = walk(
          ({ from }) => from,
          ({ to }) => to
        )
        const up = walk(
          ({ to }) => to,
          ({ from }) => from
        )
        const expected = all.filter(({ from, to }) => down.has(from) || up.has(to)).map(({ id }) => id)
        const closure = closureOf(linksOf(all), start)
        return (
          JSON.stringify([...closure.members].sort()) ===
            JSON.stringify([...new Set([...down, ...up])].sort()) &&
          JSON.stringify([...closure.links].sort()) === JSON.stringify(expected.sort())
        )
      })
    )
  }
)

await t.test('paths highlight only their own steps', async (t) => {
  const all: Link[] = [
    { id: 'ab', from: 'a', to: 'b' },
    { id: 'bc', from: 'b', to: 'c' },
    { id: 'ac', from: 'a', to: 'c' }
  ]
  const closure = closureOfPaths(linksOf(all), [['a', 'b', 'c']])
  t.strictSame(
    [[...closure.members], [...closure.links]],
    [
      ['a', 'b', 'c'],
      ['ab', 'bc']
    ]
  )
})

const palette: Palette = {
  page: '#fff',
  surface: '#fff',
  line: '#ccc',
  text: '#111',
  soft: '#555',
  edge: '#888',
  accent: '#06c',
  hues: Array.from({ length: hueCount }, () => '#0a0')
}

await t.test('the whole graph contains its loops and the edges that pass above its cards', async (t) => {
  const chain = ['a', 'b', 'c', 'd']
  const picture = pictureOf(
    answer(
      chain.map((name) => node(name, name === 'a' ? { side: 'START' } : {})),
      [...chain.slice(1).map((name, index) => edge(chain[index] ?? '', name)), edge('a', 'd'), edge('d', 'a')]
    ),
    plain
  )
  const { edges, bounds } = sceneOf(picture, null, null)
  t.equal(edges.length, 5)
  for (const { box } of edges) {
    t.ok(box.x >= bounds.x && box.x + box.width <= bounds.x + bounds.width)
    t.ok(box.y >= bounds.y && box.y + box.height <= bounds.y + bounds.height)
  }
})

await t.test(
  'an SVG file has every card and edge, nothing from outside, and no text that is markup',
  async (t) => {
    const name = '<script>alert(1)</script>"&\u0007'
    const many = answer(
      [
        node('a', { side: 'START' }),
        ...Array.from({ length: 400 }, (_, index) => node(`n${index}`)),
        { ...node('z'), card: { ...node('z').card, name } }
      ],
      Array.from({ length: 400 }, (_, index) => edge('a', `n${index}`))
    )
    const svg = svgOf(
      sceneOf(pictureOf(many, plain), null, null),
      `Lineage of ${name}`,
      coloursOf(many.nodes, 'domain'),
      palette
    )
    t.equal(svg.match(/<g data-item="card"/g)?.length, 402)
    t.equal(svg.match(/<path /g)?.length, 400)
    t.notMatch(svg, /<script|href=|url\(/)
    t.notOk(svg.includes('\u0007'))
    t.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox=/)
  }
)

await t.test('paths leave out hidden jobs between their ends, and each path is there once', async (t) => {
  const path = (...names: string[]) =>
    names.map((urn) => ({ urn, type: urn.startsWith('job') ? 'DATA_JOB' : 'DATASET' }))
  const paths = [path('a', 'job1', 'b'), path('a', 'job2', 'b'), path('job3', 'c', 'job4')]
  t.strictSame(shownPaths(paths, { hidesJobs: true }), [
    ['a', 'b'],
    ['job3', 'c', 'job4']
  ])
  t.equal(shownPaths(paths, { hidesJobs: false }).length, 3)
})

await t.test('a CSV file has a line for each card, and can be read back unchanged', async (t) => {
  const names = ['a,b', 'say "x"', 'two\nlines', '=cmd()', '+1', '@x', '-2', 'plain']
  const csv = csvOf(
    pictureOf(
      answer(
        names.map((name) => ({ ...node('n'), card: { ...node(name).card, name } })),
        []
      ),
      plain
    )
  )
  const cells = [...csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)].map(
    ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? ''
  )
  t.equal(cells.length, (names.length + 1) * 10)
  const found = names.map((_, index) => cells[(index + 1) * 10 + 1])
  t.strictSame(found, ['a,b', 'say "x"', 'two\nlines', "'=cmd()", "'+1", "'@x", "'-2", 'plain'])
  t.equal(csvCell(-3), '-3', 'a number is a number')
})

await t.test('a CSV file guards formulas exactly as those of the server', async (t) => {
  const signs = [
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '\n',
    '\uff0b',
    '\uff0d',
    '\uff1d',
    '\uff20',
    "'",
    '"',
    ',',
    ' ',
    'a',
    ''
  ]
  for (const first of signs)
    for (const second of signs)
      for (const text of [`${first}${second}1+1`, `'${first}${second}`, `''${second}x`])
        t.equal(csvCell(text), printCells([text]), JSON.stringify(text))
  t.equal(csvCell("'=1"), "''=1", 'an apostrophe that was there is kept')
})

await t.test('a CSV file and the list have every asset that is counted, also in closed groups', async (t) => {
  const picture = pictureOf(
    answer([node('a', { side: 'START' }), node('b', {}, 'Sales'), node('c', {}, 'Sales')], [], {
      downstream: 2
    }),
    { ...plain, group: 'domain', toggledGroups: ['urn:li:domain:Sales'] }
  )
  t.strictSame(
    picture.items.map(({ kind }) => kind),
    ['card', 'group']
  )
  t.equal(picture.counts.shown, 3)
  t.strictSame(
    picture.cards.map(({ id }) => id),
    [urnOf('a'), urnOf('b'), urnOf('c')]
  )
  t.equal(csvOf(picture).trim().split('\r\n').length, 4)
})

await t.test('a text fits its space, and keeps its beginning and its end', async () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 80 }),
      fc.integer({ min: 40, max: 300 }),
      (text, room) => {
        const cut = fitted(text, room, 12)
        return textWidth(text, 12) <= room
          ? cut === text
          : textWidth(cut, 12) <= room + 12 && cut.includes('…')
      }
    )
  )
})

await t.test(
  'a screen reader gets name, type, place, domain and the number of hidden neighbours',
  async (t) => {
    t.equal(
      labelOf(
        node('orders', { degree: 2, upstreamCount: 3, downstreamCount: 12, hiddenDownstream: 12 }, 'Sales')
      ),
      'orders, dataset, hive, PROD, domain Sales, 2 hops downstream, 3 upstream, 12 downstream, 12 hidden'
    )
    t.match(labelOf(node('x', { side: 'START', degree: 0 })), /, start,/)
  }
)

await t.test(
  'values have a colour each while there are colours, and the legend names those that share',
  async (t) => {
    const many = Array.from({ length: hueCount + 3 }, (_, index) => node(`n${index}`, {}, `d${index}`))
    const { values, otherCount, of } = coloursOf([...many, node('n0', {}, 'd0'), node('lone')], 'domain')
    t.equal(values.length, hueCount + 3, 'all are listed')
    t.match(values[0], { name: 'd0', count: 2 }, 'the most frequent first')
    t.equal(otherCount, 1)
    t.equal(of(node('lone')), null)
    t.equal(
      new Set(values.flatMap(({ hue, sharedWith }) => (sharedWith === null ? [hue] : []))).size,
      hueCount
    )
    const shared = values.filter(({ sharedWith }) => sharedWith !== null)
    t.equal(shared.length, 3)
    for (const { hue, sharedWith } of shared)
      t.equal(values.find(({ name }) => name === sharedWith)?.hue, hue)
    const few = coloursOf(many.slice(0, 4), 'domain')
    for (const { key, hue } of few.values)
      t.equal(values.find((each) => each.key === key)?.hue, hue, 'more cards change no colour')
    const path = {
      ...node('a').card,
      domain: { urn: 'urn:li:domain:b', name: 'B', path: ['A', 'B'], urns: [] }
    }
    t.equal(coloursOf([{ card: path }], 'domain').values[0]?.name, 'A › B')
    t.equal(coloursOf([node('a')], 'type').values[0]?.name, 'Dataset')
    fc.assert(
      fc.property(
        fc.string(),
        (text) => hueOf(text) >= 0 && hueOf(text) < hueCount && Number.isInteger(hueOf(text))
      )
    )
  }
)

await t.test('a card says that nobody described it, or that it was removed', async (t) => {
  const placeholder = { ...node('a'), card: { ...node('a').card, exists: false } }
  t.match(labelOf(placeholder), /^a, dataset, not described yet, hive/)
  t.match(factsOf(placeholder), /^not described yet · Dataset/)
  t.match(factsOf({ ...node('a'), isRemoved: true }), /^removed · /)
  t.equal(isAbsent(node('a')), false)
  const picture = pictureOf(answer([{ ...node('a'), isRemoved: true }], []), plain)
  const svg = svgOf(
    sceneOf(picture, null, null),
    'x',
    coloursOf(
      picture.cards.map((each) => each.node),
      'type'
    ),
    palette
  )
  t.match(svg, /stroke-dasharray="5 4".*text-decoration="line-through"/s)
})

await t.test('arrow keys lead along edges and within a layer', async (t) => {
  const scene = sceneOf(
    pictureOf(
      answer([node('a', { side: 'START' }), node('b'), node('c')], [edge('a', 'b'), edge('a', 'c')]),
      plain
    ),
    null,
    null
  )
  const [upper = '', lower = ''] = [urnOf('b'), urnOf('c')].sort(
    (left, right) => (scene.byId.get(left)?.box.y ?? 0) - (scene.byId.get(right)?.box.y ?? 0)
  )
  t.equal(nextItem(scene, urnOf('b'), 'left'), urnOf('a'))
  t.ok([upper, lower].includes(nextItem(scene, urnOf('a'), 'right') ?? ''))
  t.equal(nextItem(scene, upper, 'down'), lower)
  t.equal(nextItem(scene, lower, 'up'), upper)
  t.equal(nextItem(scene, upper, 'up'), null)
  t.equal(nextItem(scene, urnOf('a'), 'left'), null)
  const held = { ctrlKey: false, altKey: false, metaKey: false }
  t.match(commandOf({ key: ']', ...held }), { kind: 'expand', direction: 'DOWNSTREAM' })
  t.match(commandOf({ key: 'C', ...held }), { kind: 'columns' })
  t.equal(commandOf({ key: 'c', ...held, ctrlKey: true }), null)
  t.equal(commandOf({ key: 'q', ...held }), null)
})
