/**
 * The tree of domains as rows: which levels are loaded, which domains are open, and what each key does.
 * Pure, without a browser.
 */

export type DomainNode = { urn: string; name: string; childCount: number }

/** The domains of each loaded level, by the URN of their parent; null is the top level. */
export type Levels = ReadonlyMap<string | null, readonly DomainNode[]>

export type TreeRow = DomainNode & {
  /** The level in the tree, 1 at the top. */
  level: number
  parent: string | null
  isOpen: boolean
  /** Its position among its siblings, from 1, and the number of siblings including itself. */
  position: number
  siblings: number
}

const byName = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

export const sortByName = (nodes: readonly DomainNode[]): DomainNode[] =>
  [...nodes].sort((a, b) => byName.compare(a.name, b.name) || (a.urn < b.urn ? -1 : 1))

/**
 * All visible rows from top to bottom, each open domain before its children. A branch ends at a domain that
 * is its own ancestor.
 */
export function rowsOf(levels: Levels, open: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = []
  const walk = (parent: string | null, level: number, above: ReadonlySet<string>): void => {
    const nodes = levels.get(parent) ?? []
    nodes.forEach((node, index) => {
      if (above.has(node.urn)) return
      const isOpen = node.childCount > 0 && open.has(node.urn)
      rows.push({ ...node, level, parent, isOpen, position: index + 1, siblings: nodes.length })
      if (isOpen) walk(node.urn, level + 1, new Set([...above, node.urn]))
    })
  }
  walk(null, 1, new Set())
  return rows
}

export type FoundDomain = DomainNode & {
  /** The domains above it, nearest first. */
  parents: readonly { urn: string; name: string }[]
}

/** A tree of the found domains and the domains above them, all open. */
export function treeOfFound(found: readonly FoundDomain[]): { levels: Levels; open: ReadonlySet<string> } {
  const levels = new Map<string | null, Map<string, DomainNode>>()
  const open = new Set<string>()
  const put = (parent: string | null, node: DomainNode): void => {
    const level = levels.get(parent) ?? new Map<string, DomainNode>()
    levels.set(parent, level)
    const known = level.get(node.urn)
    level.set(node.urn, { ...node, childCount: Math.max(node.childCount, known?.childCount ?? 0) })
    if (parent !== null) open.add(parent)
  }
  for (const { parents, ...node } of found) {
    put(parents[0]?.urn ?? null, node)
    // A domain above a found domain has at least one child.
    for (const [index, { urn, name }] of parents.entries())
      put(parents[index + 1]?.urn ?? null, { urn, name, childCount: 1 })
  }
  return {
    levels: new Map([...levels].map(([parent, level]) => [parent, sortByName([...level.values()])])),
    open
  }
}

/** The effect of a key: go to a row, open, close or choose a row; null if it has none. */
export type TreeStep =
  { kind: 'go'; index: number } | { kind: 'open' | 'close' | 'choose'; index: number } | null

/**
 * The keys of the ARIA practices: Right opens, then goes to the first child; Left closes, then goes to the
 * parent.
 */
export function stepOf(rows: readonly TreeRow[], index: number, key: string): TreeStep {
  const row = rows[index]
  if (!row) return null
  const go = (to: number): TreeStep =>
    to === index || to < 0 || to >= rows.length ? null : { kind: 'go', index: to }
  switch (key) {
    case 'ArrowDown':
      return go(index + 1)
    case 'ArrowUp':
      return go(index - 1)
    case 'Home':
      return go(0)
    case 'End':
      return go(rows.length - 1)
    case 'ArrowRight':
      if (row.childCount === 0) return null
      if (!row.isOpen) return { kind: 'open', index }
      return rows[index + 1]?.parent === row.urn ? go(index + 1) : null
    case 'ArrowLeft':
      if (row.isOpen) return { kind: 'close', index }
      return go(rows.findLastIndex((each, at) => at < index && each.urn === row.parent))
    case 'Enter':
    case ' ':
      return { kind: 'choose', index }
    default:
      return null
  }
}

/**
 * The next row that begins with the typed letter, searched below the current row, then from the top; -1 if
 * there is none.
 */
export function rowBeginning(rows: readonly TreeRow[], index: number, letter: string): number {
  const begins = (row: TreeRow): boolean => row.name.toLowerCase().startsWith(letter.toLowerCase())
  const below = rows.findIndex((row, at) => at > index && begins(row))
  return below >= 0 ? below : rows.findIndex(begins)
}

/** Whether a domain can be moved to a place: not into itself or a domain below it, and not to where it is. */
export function canMove(
  urn: string,
  from: string | null,
  to: { urn: string; parents: readonly string[] } | null
): boolean {
  if ((to?.urn ?? null) === from) return false
  return to === null || (to.urn !== urn && !to.parents.includes(urn))
}

/** The URNs above a row, nearest first. */
export function parentsOf(rows: readonly TreeRow[], row: TreeRow): string[] {
  const above: string[] = []
  for (let parent = row.parent; parent !== null;) {
    above.push(parent)
    const current = parent
    parent = rows.find(({ urn }) => urn === current)?.parent ?? null
  }
  return above
}
