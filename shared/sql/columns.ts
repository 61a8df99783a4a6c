/** Columns of relations and where each came from: what the resolver calculates with. */
import type { Transformation } from './form.ts'
import { strongest } from './form.ts'
import { keyOf } from './names.ts'

/** Certain from the statement alone, or because a schema says which table has the column. What is not known has no origin. */
export type Certainty = 'CERTAIN' | 'BY_SCHEMA'

export interface Origin {
  table: string
  column: string
  how: Transformation
  certainty: Certainty
}

export interface Column {
  kind: 'column'
  name: string
  origins: readonly Origin[]
  /** How it is known that the relation has this column. */
  listed: Certainty
  /** Only a schema tells from which of several relations it is: `*` of a join. */
  isPlacedBySchema?: boolean
}

/** All other columns of a table whose columns are not known. */
export interface Open {
  kind: 'open'
  /** The table, for messages; undefined for functions, whose columns all have the same origins. */
  table: string | undefined
  /** Names that it does not give, ignoring case. */
  without: ReadonlySet<string>
  read: (name: string) => readonly Origin[]
  /** The star that gave it, for messages. */
  at?: { line: number; column: number }
}

export type Item = Column | Open

export const weaker = (a: Certainty, b: Certainty): Certainty =>
  a === 'BY_SCHEMA' || b === 'BY_SCHEMA' ? 'BY_SCHEMA' : 'CERTAIN'

/** One origin for each column: the strongest transformation, the weakest certainty. */
export function mergeOrigins(lists: readonly (readonly Origin[])[]): readonly Origin[] {
  const [first] = lists
  if (first !== undefined && lists.length === 1) return first
  const merged = new Map<string, Origin>()
  for (const list of lists) {
    for (const origin of list) {
      const key = `${origin.table}\0${origin.column}`
      const before = merged.get(key)
      merged.set(
        key,
        before === undefined
          ? origin
          : {
              ...origin,
              how: strongest(before.how, origin.how),
              certainty: weaker(before.certainty, origin.certainty)
            }
      )
    }
  }
  return [...merged.values()]
}

export function raise(origins: readonly Origin[], how: Transformation): readonly Origin[] {
  return how === 'IDENTITY' ? origins : origins.map((each) => ({ ...each, how: strongest(each.how, how) }))
}

export function weaken(origins: readonly Origin[], certainty: Certainty): readonly Origin[] {
  return certainty === 'CERTAIN' ? origins : origins.map((each) => ({ ...each, certainty }))
}

export const findColumn = (items: readonly Item[], name: string): Column | undefined => {
  let found: Column | undefined
  for (const item of items) {
    if (item.kind !== 'column') continue
    if (item.name === name) return item
    if (found === undefined && keyOf(item.name) === keyOf(name)) found = item
  }
  return found
}

/** The open parts that may give a column of this name. */
export const opensFor = (items: readonly Item[], name: string): Open[] =>
  items.filter((item): item is Open => item.kind === 'open' && !item.without.has(keyOf(name)))

/** A table whose columns are not known: every name is a column of it. */
export const openTable = (table: string): Open => ({
  kind: 'open',
  table,
  without: new Set(),
  read: (name) => [{ table, column: name, how: 'IDENTITY', certainty: 'CERTAIN' }]
})

/** The items of a table whose columns a script or a schema lists; those that it does not list, if it is not whole, stay open. */
export function listedItems(
  table: string,
  known: { names: readonly string[]; listed: Certainty; isWhole: boolean } | undefined
): Item[] {
  if (known === undefined) return [openTable(table)]
  const columns = columnsOfTable(table, known.names, known.listed)
  return known.isWhole
    ? columns
    : [...columns, { ...openTable(table), without: new Set(known.names.map(keyOf)) }]
}

export const columnsOfTable = (table: string, names: readonly string[], listed: Certainty): Column[] =>
  names.map((name) => ({
    kind: 'column',
    name,
    origins: [{ table, column: name, how: 'IDENTITY', certainty: 'CERTAIN' }],
    listed
  }))

/** The same relation under other names of its columns, from the left. */
export function renameColumns(items: readonly Item[], names: readonly string[]): Item[] {
  if (names.length === 0) return [...items]
  const open = items.findIndex(({ kind }) => kind === 'open')
  const known = open === -1 ? items.length : open
  const renamed = names.map((name, index): Item => {
    const item = index < known ? items[index] : undefined
    return item?.kind === 'column'
      ? { ...item, name, origins: weaken(item.origins, item.listed), listed: 'CERTAIN' }
      : { kind: 'column', name, origins: [], listed: 'CERTAIN' }
  })
  return [...renamed, ...items.slice(names.length).filter(({ kind }) => kind === 'column')]
}
