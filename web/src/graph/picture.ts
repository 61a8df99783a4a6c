/**
 * Turns a server's answer into what a view shows: cards, stacks, groups, edges, rows and edges of columns,
 * and exact counts.
 */
import { columnParts, isColumnUrn } from '../api/column-urn.ts'
import { domainPath, type Card } from '../api/entity.ts'
import { platformTitle } from '../parts/platforms.ts'
import type { Direction, Grouping, ViewState } from './model.ts'
import { bounds } from './model.ts'
import { closureOf, linksOf } from './paths.ts'

export type ColumnRow = {
  /** Null if the path does not make a valid URN. */
  urn: string | null
  path: string
  dataType: string | null
  upstreamCount: number
  downstreamCount: number
  hiddenUpstream: number
  hiddenDownstream: number
}

export type AnswerNode = {
  card: Card
  /** Whether it was soft-deleted: only the start can be. */
  isRemoved: boolean
  side: 'START' | Direction | 'ASIDE'
  degree: number | null
  upstreamCount: number
  downstreamCount: number
  hiddenUpstream: number
  hiddenDownstream: number
  expandedUpstream: boolean
  expandedDownstream: boolean
  columnRows: { total: number; rows: readonly ColumnRow[] } | null
}

export type AnswerEdge = {
  upstreamUrn: string
  downstreamUrn: string
  level: 'ASSET' | 'COLUMN'
  via: readonly Card[]
  viaCount: number
}

export type GraphAnswer = {
  /** Whether the view of this answer hides jobs. */
  hidesJobs: boolean
  nodes: readonly AnswerNode[]
  edges: readonly AnswerEdge[]
  totals: {
    upstream: number
    downstream: number
    both: number
    assetEdges: number
    columnEdges: number | null
  }
  /** False if a limit ended the walks; totals are then lower bounds. */
  isComplete: boolean
  /** A sentence that says which edges count in the chosen time; null if all times are shown. */
  timeRule: string | null
}

/** One side of a card: its number of neighbours, how many are hidden, and whether it is expanded. */
export type SideOfCard = { count: number; hidden: number; isOpen: boolean }

export type CardItem = {
  kind: 'card'
  id: string
  node: AnswerNode
  sides: { [direction in Direction]: SideOfCard }
  rows: readonly ColumnRow[]
  /** The number of columns without a row. */
  moreRows: number
  group: string | null
}

export type StackItem = {
  kind: 'stack'
  id: string
  urn: string
  direction: Direction
  count: number
  group: string | null
}

export type GroupItem = { kind: 'group'; id: string; group: string; name: string; count: number }

export type Item = CardItem | StackItem | GroupItem

export type PictureEdge = {
  id: string
  from: string
  to: string
  kind: 'edge' | 'stack' | 'merged'
  /** The number of edges that the drawn edge represents. */
  count: number
  via: readonly Card[]
  viaCount: number
}

export type ColumnEdge = { id: string; from: string; to: string; fromCard: string; toCard: string }

/** `isOpen`: its cards are shown in a box; otherwise one item represents them. */
export type Group = { id: string; name: string; count: number; isOpen: boolean }

export type Picture = {
  /** What is drawn. */
  items: readonly Item[]
  /** Every shown asset, in the order of the answer, including those in closed groups. */
  cards: readonly CardItem[]
  edges: readonly PictureEdge[]
  columnEdges: readonly ColumnEdge[]
  groups: readonly Group[]
  counts: {
    /**
     * The number of shown assets upstream or downstream of the start, including the start and those in
     * closed groups.
     */
    shown: number
    /** The number of all such assets, shown or not. */
    total: number
    /** The number of shown assets that are neither upstream nor downstream of the start. */
    aside: number
    stacks: number
    columnEdges: number | null
    columnEdgesShown: number
  }
}

export const edgeId = (from: string, to: string): string => `${from} -> ${to}`
export const stackId = (urn: string, direction: Direction): string => `${direction} ${urn}`
export const groupId = (group: string): string => `group ${group}`

type Choices = Pick<ViewState, 'group' | 'toggledGroups' | 'column' | 'showsColumns'>

/** Pure; the same answer and choices give the same picture. */
export function pictureOf(answer: GraphAnswer, choices: Choices): Picture {
  const shownIds = new Set(answer.nodes.map(({ card }) => card.urn))
  const columnEdges = columnEdgesOf(answer.edges, shownIds)
  const groups = groupsOf(answer.nodes, choices)
  const closed = new Set(groups.flatMap(({ id, isOpen }) => (isOpen ? [] : [id])))
  const groupOf = new Map(
    answer.nodes.map((node): [string, string | null] => [
      node.card.urn,
      groupOfNode(node, choices.group)?.id ?? null
    ])
  )
  const itemOf = (urn: string): string => {
    const group = groupOf.get(urn)
    return group != null && closed.has(group) ? groupId(group) : urn
  }
  const onPath = choices.column === null ? null : closureOf(linksOf(columnEdges), choices.column).members
  const cards = answer.nodes.map((node) => cardOf(node, groupOf.get(node.card.urn) ?? null, onPath, choices))
  const drawn = cards.filter(({ id }) => itemOf(id) === id)
  const stacks = drawn.flatMap(stacksOf)
  const edges = [...edgesOf(answer.edges, itemOf), ...stacks.map(edgeOfStack)]
  return {
    cards,
    items: [
      ...drawn,
      ...stacks,
      ...groups.flatMap(({ id, name, count, isOpen }): GroupItem[] =>
        isOpen ? [] : [{ kind: 'group', id: groupId(id), group: id, name, count }]
      )
    ],
    edges,
    columnEdges: columnEdges.filter(
      ({ fromCard, toCard }) => itemOf(fromCard) === fromCard && itemOf(toCard) === toCard
    ),
    groups,
    counts: countsOf(answer, stacks.length, columnEdges.length)
  }
}

function countsOf(
  { nodes, totals }: GraphAnswer,
  stacks: number,
  columnEdgesShown: number
): Picture['counts'] {
  const aside = nodes.filter(({ side }) => side === 'ASIDE').length
  return {
    shown: nodes.length - aside,
    total: totals.upstream + totals.downstream - totals.both + 1,
    aside,
    stacks,
    columnEdges: totals.columnEdges,
    columnEdgesShown
  }
}

const columnEdgesOf = (edges: readonly AnswerEdge[], shown: ReadonlySet<string>): ColumnEdge[] =>
  edges.flatMap(({ upstreamUrn, downstreamUrn, level }): ColumnEdge[] => {
    if (level !== 'COLUMN') return []
    const [fromCard, toCard] = [columnParts(upstreamUrn).asset, columnParts(downstreamUrn).asset]
    return shown.has(fromCard) && shown.has(toCard)
      ? [{ id: edgeId(upstreamUrn, downstreamUrn), from: upstreamUrn, to: downstreamUrn, fromCard, toCard }]
      : []
  })

/** Edges between items. The edges that a closed group hides are merged into one with a count. */
function edgesOf(edges: readonly AnswerEdge[], itemOf: (urn: string) => string): PictureEdge[] {
  const merged = new Map<string, PictureEdge>()
  for (const { upstreamUrn, downstreamUrn, level, via, viaCount } of edges) {
    const [from, to] = [itemOf(upstreamUrn), itemOf(downstreamUrn)]
    const isMerged = from !== upstreamUrn || to !== downstreamUrn
    // If the start is a column, the nodes and the edges between them are columns.
    if (level === 'COLUMN' && isColumnUrn(upstreamUrn) && !isOfColumns(edges)) continue
    if (isMerged && from === to) continue
    const id = edgeId(from, to)
    const known = merged.get(id)
    if (known) merged.set(id, { ...known, count: known.count + 1 })
    else
      merged.set(id, {
        id,
        from,
        to,
        kind: isMerged ? 'merged' : 'edge',
        count: 1,
        via: isMerged ? [] : via,
        viaCount: isMerged ? 0 : viaCount
      })
  }
  return [...merged.values()]
}

const isOfColumns = (edges: readonly AnswerEdge[]): boolean => edges.every(({ level }) => level === 'COLUMN')

function cardOf(
  node: AnswerNode,
  group: string | null,
  onPath: ReadonlySet<string> | null,
  { showsColumns, column }: Choices
): CardItem {
  const { rows, total } = node.columnRows ?? { rows: [], total: 0 }
  const chosen = showsColumns ? rowsOf(node.card.urn, rows, column, onPath) : []
  return {
    kind: 'card',
    id: node.card.urn,
    node,
    sides: {
      UPSTREAM: { count: node.upstreamCount, hidden: node.hiddenUpstream, isOpen: node.expandedUpstream },
      DOWNSTREAM: {
        count: node.downstreamCount,
        hidden: node.hiddenDownstream,
        isOpen: node.expandedDownstream
      }
    },
    rows: chosen,
    moreRows: showsColumns ? Math.max(0, total - chosen.length) : 0,
    group
  }
}

/** Columns on the path of the chosen column come first, even if the server did not list them. */
function rowsOf(
  asset: string,
  rows: readonly ColumnRow[],
  column: string | null,
  onPath: ReadonlySet<string> | null
): ColumnRow[] {
  if (onPath === null) return rows.slice(0, bounds.columnRows)
  const known = new Map(rows.map((row) => [row.urn, row]))
  const own = [...onPath]
    .filter((urn) => columnParts(urn).asset === asset)
    .sort((a, b) => Number(b === column) - Number(a === column) || (a < b ? -1 : 1))
  const first = own.map(
    (urn): ColumnRow =>
      known.get(urn) ?? {
        urn,
        path: columnParts(urn).path,
        dataType: null,
        upstreamCount: 0,
        downstreamCount: 0,
        hiddenUpstream: 0,
        hiddenDownstream: 0
      }
  )
  const taken = new Set(own)
  return [...first, ...rows.filter(({ urn }) => urn === null || !taken.has(urn))].slice(
    0,
    Math.max(own.length, bounds.columnRows)
  )
}

/** An expanded side that still has hidden neighbours shows them as a stack. */
const stacksOf = ({ id, sides, group }: CardItem): StackItem[] =>
  (['UPSTREAM', 'DOWNSTREAM'] as const).flatMap((direction): StackItem[] => {
    const { hidden, isOpen } = sides[direction]
    return isOpen && hidden > 0
      ? [{ kind: 'stack', id: stackId(id, direction), urn: id, direction, count: hidden, group }]
      : []
  })

const edgeOfStack = ({ id, urn, direction, count }: StackItem): PictureEdge => {
  const [from, to] = direction === 'UPSTREAM' ? [id, urn] : [urn, id]
  return { id: edgeId(from, to), from, to, kind: 'stack', count, via: [], viaCount: 0 }
}

const groupOfNode = ({ card }: AnswerNode, grouping: Grouping): { id: string; name: string } | null => {
  if (grouping === 'domain') return card.domain && { id: card.domain.urn, name: domainPath(card.domain) }
  if (grouping === 'platform')
    return card.platform === null ? null : { id: card.platform, name: platformTitle(card.platform) }
  return null
}

function groupsOf(nodes: readonly AnswerNode[], { group, toggledGroups }: Choices): Group[] {
  if (group === 'none') return []
  const found = new Map<string, Group>()
  const isOpenByDefault = nodes.length <= bounds.cards
  for (const node of nodes) {
    const own = groupOfNode(node, group)
    if (!own) continue
    const known = found.get(own.id)
    if (known) known.count += 1
    else found.set(own.id, { ...own, count: 1, isOpen: isOpenByDefault !== toggledGroups.includes(own.id) })
  }
  return [...found.values()]
}
