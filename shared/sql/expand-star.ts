/** Expands `*` and `t.*`, with EXCEPT, REPLACE and RENAME, into the columns of the relations it means. */
import type { Column, Item, Open, Origin } from './columns.ts'
import { raise } from './columns.ts'
import type { Projection } from './form.ts'
import { foldColumn, keyOf } from './names.ts'
import type { Scope, Source } from './scope.ts'
import { findSource, lookUp } from './scope.ts'

type Star = Extract<Projection, { kind: 'star' }>

/** Two relations that USING made one give its columns once, first. */
function itemsOfAll(scope: Scope): Item[] {
  const merged = [...scope.merged.values()]
  const without = new Set(merged.map(({ name }) => keyOf(name)))
  const rest = scope.sources.flatMap(({ items }) =>
    items.flatMap((item): Item[] => {
      if (item.kind === 'column') return without.has(keyOf(item.name)) ? [] : [item]
      return [{ ...item, without: new Set([...item.without, ...without]) }]
    })
  )
  return [...merged, ...rest]
}

/** What `x.*` means: a relation, or the fields of a struct. */
function itemsOf(scope: Scope, star: Star): readonly Item[] {
  if (star.of === undefined) return itemsOfAll(scope)
  const qualifier = star.of.map((name) => foldColumn(name, scope.dialect))
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const source: Source | undefined = findSource(at, qualifier)
    if (source !== undefined) return source.items
  }
  const origins = lookUp(scope, star.of, false)
  if (origins.length === 0) return []
  const raised = origins.map((origin): Origin => ({ ...origin, how: 'TRANSFORMATION' }))
  return [{ kind: 'open', table: undefined, without: new Set(), read: () => raised }]
}

function renameOpen(
  open: Open,
  star: Star,
  scope: Scope,
  replaced: ReadonlyMap<string, readonly Origin[]>
): Item[] {
  const without = new Set(open.without)
  for (const name of star.except) without.add(keyOf(name.text))
  for (const name of replaced.keys()) without.add(name)
  for (const { from } of star.rename) without.add(keyOf(from.text))
  const named = star.rename.map(({ from, to }): Column => {
    const name = foldColumn(to, scope.dialect)
    return { kind: 'column', name, origins: open.read(foldColumn(from, scope.dialect)), listed: 'CERTAIN' }
  })
  const { line, column } = star
  const at = open.at ?? (line > 0 ? { line, column } : undefined)
  return [...named, { ...open, without, ...(at === undefined ? {} : { at }) }]
}

/** The columns of a star. What a table has beyond the known columns stays open. */
export function expandStar(
  scope: Scope,
  star: Star,
  replaced: ReadonlyMap<string, readonly Origin[]> = new Map()
): Item[] {
  const except = new Set(star.except.map(({ text }) => keyOf(text)))
  const renamed = new Map(
    star.rename.map(({ from, to }) => [keyOf(from.text), foldColumn(to, scope.dialect)])
  )
  const items: Item[] = []
  const given = new Set<string>()
  const isOfSeveral = star.of === undefined && scope.sources.length > 1
  for (const item of itemsOf(scope, star)) {
    if (item.kind === 'open') {
      items.push(...renameOpen(item, star, scope, replaced))
      continue
    }
    const key = keyOf(item.name)
    if (except.has(key)) continue
    if (star.pattern !== undefined && !star.pattern.test(item.name)) continue
    const origins = replaced.get(key)
    if (origins !== undefined) given.add(key)
    items.push({
      ...item,
      ...(isOfSeveral && item.listed === 'BY_SCHEMA' ? { isPlacedBySchema: true } : {}),
      name: renamed.get(key) ?? item.name,
      origins: raise(origins ?? item.origins, star.how ?? 'IDENTITY')
    })
  }
  // REPLACE names a column that the star has, also where nobody has told its columns
  for (const { name } of star.replace) {
    const key = keyOf(name.text)
    if (given.has(key)) continue
    const folded = foldColumn(name, scope.dialect)
    items.unshift({ kind: 'column', name: folded, origins: replaced.get(key) ?? [], listed: 'CERTAIN' })
  }
  return items
}
