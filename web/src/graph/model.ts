/**
 * The state of a lineage view: the person's choices, all of them in the address, and the request for them.
 */
import { columnParts, isColumnUrn } from '../api/column-urn.ts'
import { quoted } from '../command-line.ts'

export type Direction = 'UPSTREAM' | 'DOWNSTREAM'

/** The neighbours to add to a card: the next `count`, all that fit (null), or the named ones. */
export type Expansion = {
  urn: string
  direction: Direction
  count: number | null
  only: readonly string[] | null
}
export type Side = { urn: string; direction: Direction }

export const groupings = ['none', 'domain', 'platform'] as const
export type Grouping = (typeof groupings)[number]
export const colourings = ['domain', 'type', 'platform'] as const
export type Colouring = (typeof colourings)[number]
export const sidesShown = ['both', 'up', 'down'] as const
export type SidesShown = (typeof sidesShown)[number]

export type ViewState = {
  urn: string
  sides: SidesShown
  /** The hops on each shown side. */
  up: number
  down: number
  expansions: readonly Expansion[]
  /** Cards at which the hops end on a side. */
  collapsed: readonly Side[]
  showsColumns: boolean
  /** The URN of the column whose path is highlighted; only if columns are shown. */
  column: string | null
  hidesJobs: boolean
  group: Grouping
  /** Groups whose state differs from the default. */
  toggledGroups: readonly string[]
  colour: Colouring
  selected: string | null
  /** Milliseconds since 1970; null for no bound. */
  since: number | null
  until: number | null
  /** The other end of the highlighted paths. */
  pathTo: string | null
  /** The most cards that are shown. */
  maxCards: number
}

export const bounds = {
  /** As many as a walk of the server takes: all. */
  hopsMost: 1_000,
  /** A side with more neighbours than this shows one page of them, and the rest as a stack. */
  fanOutAbove: 20,
  page: 10,
  cards: 200,
  cardsMost: 2_000,
  columnRows: 8,
  /** The number of shortest paths that are listed and highlighted. */
  paths: 50
}

export const firstView = (urn: string): ViewState => ({
  urn,
  sides: 'both',
  up: 1,
  down: 1,
  expansions: [],
  collapsed: [],
  showsColumns: false,
  column: null,
  hidesJobs: false,
  group: 'none',
  toggledGroups: [],
  colour: 'domain',
  selected: null,
  since: null,
  until: null,
  pathTo: null,
  maxCards: bounds.cards
})

// --- the address -------------------------------------------------------------------------------------------------------

/** A shorter, unambiguous form: `~` means `urn:li:`, and `!` marks a text that would otherwise be misread. */
export const shortUrn = (urn: string): string =>
  urn.replaceAll('!', '!!').replaceAll('~', '!t').replaceAll('urn:li:', '~')

export const longUrn = (text: string): string =>
  text.replace(/!!|!t|~/g, (mark) => (mark === '!!' ? '!' : mark === '!t' ? '~' : 'urn:li:'))

const letterOf = (direction: Direction): string => (direction === 'UPSTREAM' ? 'u' : 'd')

/** `all` for as many as there are. */
export const hopsText = (hops: number): string => (hops === bounds.hopsMost ? 'all' : String(hops))

/** The query of a view. Values that equal those of the first view are left out. */
export function queryOf(state: ViewState): string {
  const first = firstView(state.urn)
  const params = new URLSearchParams({ urn: state.urn })
  const put = (name: string, value: string | number | null, usual: string | number | null): void => {
    if (value !== usual && value !== null) params.append(name, String(value))
  }
  put('dir', state.sides, first.sides)
  put('up', hopsText(state.up), hopsText(first.up))
  put('down', hopsText(state.down), hopsText(first.down))
  for (const { urn, direction, count, only } of state.expansions) {
    params.append(
      'e',
      `${letterOf(direction)}${count ?? ''}${only ? `*${only.length}` : ''} ${shortUrn(urn)}`
    )
    for (const neighbour of only ?? []) params.append('n', shortUrn(neighbour))
  }
  for (const { urn, direction } of state.collapsed)
    params.append('x', `${letterOf(direction)} ${shortUrn(urn)}`)
  if (state.showsColumns) params.append('cols', '1')
  if (state.column !== null) params.append('col', shortUrn(state.column))
  if (state.hidesJobs) params.append('jobs', '0')
  put('group', state.group, first.group)
  for (const group of state.toggledGroups) params.append('g', shortUrn(group))
  put('colour', state.colour, first.colour)
  if (state.selected !== null) params.append('sel', shortUrn(state.selected))
  put('since', state.since, null)
  put('until', state.until, null)
  if (state.pathTo !== null) params.append('to', shortUrn(state.pathTo))
  put('max', state.maxCards, first.maxCards)
  // These characters have no meaning in a query, and unescaped they keep a URN legible.
  return params.toString().replace(/%(3A|28|29|2C|7E|21|2A|2F)/g, (code) => decodeURIComponent(code))
}

/** Servers and proxies refuse longer addresses than this. */
const queryMostChars = 4_000

/**
 * The address of a view, relative to the page. If it is long, only the start is in the query; the rest is
 * behind the `#`, which browsers do not send. `more` makes the addresses of two such views differ.
 */
export function addressOfView(state: ViewState): string {
  const query = queryOf(state)
  if (query.length <= queryMostChars) return `./lineage?${query}`
  const end = query.indexOf('&')
  const rest = query.slice(end + 1)
  return `./lineage?${query.slice(0, end)}&more=${hashOf(rest)}#${rest}`
}

/**
 * Reads the query and the hash of an address. `isCut`: the part behind the `#` is lost, so this is the first
 * view.
 */
export function viewOf({ search, hash }: { search: string; hash: string }): {
  state: ViewState
  isCut: boolean
  isLong: boolean
} {
  const params = new URLSearchParams(search)
  const more = params.get('more')
  const rest = hash.slice(1)
  const isLong = more !== null && more === hashOf(rest)
  if (!isLong) return { state: stateOf(search), isCut: more !== null, isLong }
  const start = new URLSearchParams({ urn: params.get('urn') ?? '' })
  return { state: stateOf(`${start.toString()}&${rest}`), isCut: false, isLong }
}

/** A hash that distinguishes long texts. */
function hashOf(text: string): string {
  let hash = 0
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0
  return hash.toString(36)
}

/** Reads any query: an invalid value is replaced by that of the first view. */
export function stateOf(query: string): ViewState {
  const params = new URLSearchParams(query)
  const first = firstView(params.get('urn') ?? '')
  const urnOf = (name: string): string | null => {
    const text = params.get(name)
    return text === null || text === '' ? null : longUrn(text)
  }
  const showsColumns = params.get('cols') === '1'
  const column = urnOf('col')
  return {
    ...first,
    sides: oneOf(sidesShown, params.get('dir'), first.sides),
    up: hopsOf(params.get('up')) ?? first.up,
    down: hopsOf(params.get('down')) ?? first.down,
    expansions: expansionsOf(params.getAll('e'), params.getAll('n')),
    collapsed: params.getAll('x').flatMap((text) => sideOf(text) ?? []),
    showsColumns,
    column: showsColumns && column !== null && isColumnUrn(column) ? column : null,
    hidesJobs: params.get('jobs') === '0',
    group: oneOf(groupings, params.get('group'), first.group),
    toggledGroups: params.getAll('g').map(longUrn),
    colour: oneOf(colourings, params.get('colour'), first.colour),
    selected: urnOf('sel'),
    since: wholeNumber(params.get('since'), 0, Number.MAX_SAFE_INTEGER),
    until: wholeNumber(params.get('until'), 0, Number.MAX_SAFE_INTEGER),
    pathTo: urnOf('to'),
    maxCards: wholeNumber(params.get('max'), 1, bounds.cardsMost) ?? first.maxCards
  }
}

function oneOf<Value extends string>(values: readonly Value[], text: string | null, usual: Value): Value {
  return values.find((value) => value === text) ?? usual
}

function wholeNumber(text: string | null, least: number, most: number): number | null {
  if (text === null || !/^\d{1,16}$/.test(text)) return null
  const value = Number(text)
  return value >= least && value <= most ? value : null
}

const hopsOf = (text: string | null): number | null =>
  text === 'all' ? bounds.hopsMost : wholeNumber(text, 0, bounds.hopsMost)

/** The values of an address that its view cannot have, as `name=value`. */
export function misreadIn(search: string): string[] {
  const params = new URLSearchParams(search)
  const state = stateOf(search)
  const read = {
    dir: state.sides,
    up: hopsText(state.up),
    down: hopsText(state.down),
    group: state.group,
    colour: state.colour,
    since: state.since,
    until: state.until,
    max: state.maxCards
  }
  return Object.entries(read).flatMap(([name, value]) => {
    const text = params.get(name) ?? ''
    return text === '' || text === String(value) ? [] : [`${name}=${text}`]
  })
}

function sideOf(text: string): Side | null {
  const [, letter, urn] = /^([ud]) (.+)$/s.exec(text) ?? []
  return urn === undefined
    ? null
    : { urn: longUrn(urn), direction: letter === 'u' ? 'UPSTREAM' : 'DOWNSTREAM' }
}

function expansionsOf(texts: readonly string[], neighbours: readonly string[]): Expansion[] {
  let next = 0
  return texts.flatMap((text): Expansion[] => {
    const [, letter, count = '', named, urn] = /^([ud])(\d{0,4})(?:\*(\d{1,4}))? (.+)$/s.exec(text) ?? []
    if (urn === undefined) return []
    const only = named === undefined ? null : neighbours.slice(next, next + Number(named)).map(longUrn)
    next += only?.length ?? 0
    return [
      {
        urn: longUrn(urn),
        direction: letter === 'u' ? 'UPSTREAM' : 'DOWNSTREAM',
        count: wholeNumber(count, 1, bounds.cardsMost),
        only
      }
    ]
  })
}

// --- the question ------------------------------------------------------------------------------------------------------

export type GraphQuestion = {
  urn: string
  upHops: number
  downHops: number
  expand: { urn: string; direction: Direction; count?: number; neighbours?: readonly string[] }[]
  collapse: readonly Side[]
  fanOut: { above: number; show: number }
  columns: boolean
  columnRows: number
  hideJobs: boolean
  count: number
  startTimeMillis?: number
  endTimeMillis?: number
}

/** The input of lineageGraph. One request returns everything that a view shows. */
export const questionOf = (state: ViewState): GraphQuestion => ({
  urn: state.urn,
  upHops: state.sides === 'down' ? 0 : state.up,
  downHops: state.sides === 'up' ? 0 : state.down,
  expand: state.expansions.map(({ urn, direction, count, only }) => ({
    urn,
    direction,
    ...(count === null ? {} : { count }),
    ...(only === null ? {} : { neighbours: only })
  })),
  collapse: state.collapsed,
  fanOut: { above: bounds.fanOutAbove, show: bounds.page },
  columns: state.showsColumns,
  columnRows: bounds.columnRows,
  hideJobs: state.hidesJobs,
  count: state.maxCards,
  ...(state.since === null ? {} : { startTimeMillis: state.since }),
  ...(state.until === null ? {} : { endTimeMillis: state.until })
})

/**
 * The command that prints the hops of the view. The command has no option for expansions, so these are left
 * out.
 */
export function commandOf({ urn, sides, up, down, showsColumns }: ViewState): string {
  const [direction, hops] =
    sides === 'up' ? ['upstream', up] : sides === 'down' ? ['downstream', down] : ['both', Math.max(up, down)]
  return [
    'tributary lineage',
    quoted(urn),
    `--direction ${direction} --hops ${Math.max(1, hops)}`,
    ...(showsColumns ? ['--columns'] : [])
  ].join(' ')
}

// --- changes -----------------------------------------------------------------------------------------------------------

const isSide =
  ({ urn, direction }: Side) =>
  (each: Side): boolean =>
    each.urn === urn && each.direction === direction

/** Shows the next page of hidden neighbours, or all of them if they are few or `all` is set. */
export function expanded(
  state: ViewState,
  side: Side,
  { hidden, all = false }: { hidden: number; all?: boolean }
): ViewState {
  if (state.collapsed.some(isSide(side)))
    return { ...state, collapsed: state.collapsed.filter((each) => !isSide(side)(each)) }
  const known = state.expansions.find((each) => isSide(side)(each) && each.only === null)
  const more = hidden > bounds.fanOutAbove ? bounds.page : hidden
  const count = all || known?.count === null ? null : Math.min(bounds.cardsMost, (known?.count ?? 0) + more)
  const next = { urn: side.urn, direction: side.direction, count, only: null }
  return {
    ...state,
    expansions: known
      ? state.expansions.map((each) => (each === known ? next : each))
      : [...state.expansions, next]
  }
}

/** Adds the neighbours that the person picked. */
export const expandedBy = (state: ViewState, side: Side, only: readonly string[]): ViewState => ({
  ...state,
  expansions: [...state.expansions, { urn: side.urn, direction: side.direction, count: null, only }]
})

/** Removes the neighbours added on a side; if there are none, hides those that the hops show there. */
export function collapsed(state: ViewState, side: Side): ViewState {
  const left = state.expansions.filter((each) => !isSide(side)(each))
  return left.length < state.expansions.length
    ? { ...state, expansions: left }
    : { ...state, collapsed: [...state.collapsed, { urn: side.urn, direction: side.direction }] }
}

/** Adds every step of a path to the view. */
export const expandedAlong = (state: ViewState, paths: readonly (readonly string[])[]): ViewState => {
  const steps = new Map<string, Set<string>>()
  for (const path of paths)
    for (const [index, urn] of path.slice(0, -1).entries())
      steps.set(urn, (steps.get(urn) ?? new Set()).add(path[index + 1] ?? ''))
  const direction: Direction = paths.some((path) => path[0] === state.urn) ? 'DOWNSTREAM' : 'UPSTREAM'
  const upwards = new Map<string, Set<string>>()
  if (direction === 'UPSTREAM')
    for (const path of paths.map((each) => each.toReversed()))
      for (const [index, urn] of path.slice(0, -1).entries())
        upwards.set(urn, (upwards.get(urn) ?? new Set()).add(path[index + 1] ?? ''))
  const along = direction === 'DOWNSTREAM' ? steps : upwards
  return {
    ...state,
    expansions: [
      ...state.expansions.filter(({ only }) => only === null),
      ...[...along].map(([urn, only]) => ({ urn, direction, count: null, only: [...only] }))
    ]
  }
}

/**
 * Adds the assets that edges of columns lead to and that are not shown, each beside one that is, nearest
 * first.
 */
export function expandedToColumns(
  state: ViewState,
  shown: Iterable<string>,
  edges: readonly { upstreamUrn: string; downstreamUrn: string }[]
): ViewState {
  const has = new Set(shown)
  const added: Expansion[] = []
  const pairs = edges.map(({ upstreamUrn, downstreamUrn }) =>
    [upstreamUrn, downstreamUrn].map((urn) => columnParts(urn).asset)
  )
  for (let before = -1; before < added.length;) {
    before = added.length
    for (const [from = '', to = ''] of pairs) {
      if (has.has(from) === has.has(to)) continue
      added.push(
        has.has(from)
          ? { urn: from, direction: 'DOWNSTREAM', count: null, only: [to] }
          : { urn: to, direction: 'UPSTREAM', count: null, only: [from] }
      )
      has.add(from).add(to)
    }
  }
  const maxCards = has.size > state.maxCards ? bounds.cardsMost : state.maxCards
  return { ...state, maxCards, expansions: [...state.expansions, ...added] }
}

/** The same choices around another asset. */
export const recentred = (state: ViewState, urn: string): ViewState => ({
  ...firstView(urn),
  sides: state.sides,
  up: state.up,
  down: state.down,
  showsColumns: state.showsColumns,
  hidesJobs: state.hidesJobs,
  group: state.group,
  colour: state.colour,
  since: state.since,
  until: state.until
})
