/** The state of a lineage view: what the address says of it, and what each choice makes of it. */
import t from 'tap'
import {
  addressOfView,
  bounds,
  collapsed,
  colourings,
  expanded,
  expandedAlong,
  expandedBy,
  firstView,
  groupings,
  longUrn,
  misreadIn,
  queryOf,
  questionOf,
  recentred,
  shortUrn,
  sidesShown,
  stateOf,
  viewOf,
  type ViewState
} from '../../web/src/graph/model.ts'
import { fc } from '../support/fast-check.ts'

/** URNs as catalogs have them, and texts with every character that an address could take for something else. */
const anyUrn = fc.oneof(
  fc
    .string({
      unit: fc.constantFrom(...(':,()%#&+ ~!|*=?/ä漢🙂"\'<>\\0u'.match(/./gsu) ?? [])),
      minLength: 1,
      maxLength: 24
    })
    .map((name) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
  fc.constantFrom('urn:li:', '~', '!', '~!t', 'urn:li:~urn:li:!!', 'd3 x')
)
const direction = fc.constantFrom('UPSTREAM' as const, 'DOWNSTREAM' as const)
const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null })

const anyState: fc.Arbitrary<ViewState> = fc
  .record({
    urn: anyUrn,
    sides: fc.constantFrom(...sidesShown),
    up: fc.nat(bounds.hopsMost),
    down: fc.nat(bounds.hopsMost),
    expansions: fc.array(
      fc.record({
        urn: anyUrn,
        direction,
        count: orNull(fc.integer({ min: 1, max: bounds.cardsMost })),
        only: orNull(fc.array(anyUrn, { maxLength: 3 }))
      }),
      { maxLength: 4 }
    ),
    collapsed: fc.array(fc.record({ urn: anyUrn, direction }), { maxLength: 3 }),
    showsColumns: fc.boolean(),
    column: orNull(anyUrn.map((urn) => `urn:li:schemaField:(${urn},x)`)),
    hidesJobs: fc.boolean(),
    group: fc.constantFrom(...groupings),
    toggledGroups: fc.array(anyUrn, { maxLength: 3 }),
    colour: fc.constantFrom(...colourings),
    selected: orNull(anyUrn),
    since: orNull(fc.nat()),
    until: orNull(fc.maxSafeNat()),
    pathTo: orNull(anyUrn),
    maxCards: fc.integer({ min: 1, max: bounds.cardsMost })
  })
  .map((state) => (state.showsColumns ? state : { ...state, column: null }))

await t.test('an address gives back every state that it was made from', async () => {
  fc.assert(
    fc.property(anyState, (state) => JSON.stringify(stateOf(queryOf(state))) === JSON.stringify(state))
  )
})

await t.test('also after a browser has parsed and written it again', async () => {
  fc.assert(
    fc.property(anyState, (state) => {
      const { search } = new URL(`http://host/prefix/ui/lineage?${queryOf(state)}`)
      return JSON.stringify(stateOf(search)) === JSON.stringify(state)
    })
  )
})

await t.test('an address has the whole state, and sends a server at most 8,000 characters', async (t) => {
  const large = fc.array(fc.record({ urn: anyUrn, direction }), { minLength: 100, maxLength: 200 })
  fc.assert(
    fc.property(anyState, fc.oneof(fc.constant([]), large), (state, collapse) => {
      const whole = { ...state, collapsed: collapse }
      const { pathname, search, hash } = new URL(addressOfView(whole), 'http://host/prefix/ui/lineage')
      return (
        pathname === '/prefix/ui/lineage' &&
        search.length < 8_000 &&
        JSON.stringify(viewOf({ search, hash }).state) === JSON.stringify(whole)
      )
    }),
    { numRuns: 200 }
  )
  const urn = 'urn:li:dataset:a'
  const long = expandedBy(
    firstView(urn),
    { urn, direction: 'DOWNSTREAM' },
    Array.from({ length: 2_000 }, (_, index) => `urn:li:dataset:${index}`)
  )
  const { search, hash } = new URL(addressOfView(long), 'http://host/ui/')
  t.ok(search.length < 100)
  t.strictSame(viewOf({ search, hash }), { state: long, isCut: false, isLong: true })
  t.strictSame(viewOf({ search, hash: '' }), { state: firstView(urn), isCut: true, isLong: false })
})

await t.test('the address of the first view has the URN alone, and it is legible', async (t) => {
  const urn = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'
  t.equal(queryOf(firstView(urn)), `urn=${urn}`)
  t.equal(
    queryOf(expanded(firstView(urn), { urn, direction: 'DOWNSTREAM' }, { hidden: 48 })),
    `urn=${urn}&e=d10+~dataset:(~dataPlatform:hive,shop.orders,PROD)`
  )
})

await t.test('any text is read as a state, and invalid values are those of the first view', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const state = stateOf(text)
      return JSON.stringify(stateOf(queryOf(state))) === JSON.stringify(state)
    })
  )
  const nonsense =
    'urn=a&dir=sideways&up=-1&down=1001&e=q3 b&e=d&x=u&cols=yes&col=c&group=x&colour=red&since=now&until=1e9&max=0'
  t.strictSame(stateOf(nonsense), firstView('a'))
  t.strictSame(
    misreadIn(nonsense),
    ['dir=sideways', 'up=-1', 'down=1001', 'group=x', 'colour=red', 'since=now', 'until=1e9', 'max=0'],
    'and each is told'
  )
  t.strictSame(misreadIn('urn=a&dir=up&up=all&down=60&group=none&max=2000'), [])
  t.match(stateOf('urn=a&up=60&down=all'), { up: 60, down: bounds.hopsMost }, 'as many hops as there are')
})

await t.test('a short URN means only one URN', async () => {
  fc.assert(fc.property(anyUrn, (urn) => longUrn(shortUrn(urn)) === urn))
  fc.assert(fc.property(anyUrn, anyUrn, (a, b) => a === b || shortUrn(a) !== shortUrn(b)))
})

const [root, side] = ['urn:li:dataset:a', { urn: 'urn:li:dataset:b', direction: 'DOWNSTREAM' as const }]

await t.test('expanding and collapsing a side restores the former state', async () => {
  fc.assert(
    fc.property(anyState, fc.integer({ min: 1, max: 5_000 }), (state, hidden) => {
      const without = {
        ...state,
        expansions: state.expansions.filter(({ urn }) => urn !== side.urn),
        collapsed: state.collapsed.filter(({ urn }) => urn !== side.urn)
      }
      const there = JSON.stringify(without)
      return (
        JSON.stringify(collapsed(expanded(without, side, { hidden }), side)) === there &&
        JSON.stringify(expanded(collapsed(without, side), side, { hidden })) === there
      )
    })
  )
})

await t.test(
  'a side with few hidden neighbours shows them all, one with many a page at a time',
  async (t) => {
    const counts = (hidden: readonly number[]): (number | null)[] =>
      hidden
        .reduce((state, each) => expanded(state, side, { hidden: each }), firstView(root))
        .expansions.map(({ count }) => count)
    t.strictSame(counts([20]), [20])
    t.strictSame(counts([4_990, 4_980]), [20])
    t.strictSame(counts([31, 21, 11]), [31])
    const all = expanded(firstView(root), side, { hidden: 48, all: true })
    t.strictSame(all.expansions, [{ ...side, count: null, only: null }])
  }
)

await t.test('assets picked from a stack are requested by name', async (t) => {
  const question = questionOf(expandedBy(firstView(root), side, ['x', 'y']))
  t.strictSame(question.expand, [{ ...side, neighbours: ['x', 'y'] }])
})

await t.test('the first view requests one hop on each side, and no columns', async (t) => {
  t.strictSame(questionOf(firstView(root)), {
    urn: root,
    upHops: 1,
    downHops: 1,
    expand: [],
    collapse: [],
    fanOut: { above: 20, show: 10 },
    columns: false,
    columnRows: 8,
    hideJobs: false,
    count: 200
  })
  t.equal(questionOf({ ...firstView(root), sides: 'up' }).downHops, 0)
  t.equal(questionOf({ ...firstView(root), sides: 'down' }).upHops, 0)
  t.match(questionOf({ ...firstView(root), since: 5, until: 9 }), { startTimeMillis: 5, endTimeMillis: 9 })
})

await t.test('paths are shown by naming their steps, from the start on', async (t) => {
  const down = expandedAlong(firstView('a'), [
    ['a', 'b', 'z'],
    ['a', 'c', 'z']
  ])
  t.strictSame(
    down.expansions.map(({ urn, direction, only }) => [urn, direction, only]),
    [
      ['a', 'DOWNSTREAM', ['b', 'c']],
      ['b', 'DOWNSTREAM', ['z']],
      ['c', 'DOWNSTREAM', ['z']]
    ]
  )
  const up = expandedAlong(firstView('z'), [['a', 'b', 'z']])
  t.strictSame(
    up.expansions.map(({ urn, direction, only }) => [urn, direction, only]),
    [
      ['z', 'UPSTREAM', ['b']],
      ['b', 'UPSTREAM', ['a']]
    ]
  )
})

await t.test('a new centre keeps the options of the view, and drops expansions', async (t) => {
  const state = {
    ...expanded(firstView('a'), side, { hidden: 3 }),
    showsColumns: true,
    column: 'urn:li:schemaField:(c,x)',
    hidesJobs: true,
    selected: 'b'
  }
  t.strictSame(recentred(state, 'b'), { ...firstView('b'), showsColumns: true, hidesJobs: true })
})
