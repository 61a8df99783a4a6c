/** Puts the definitions of `WINDOW w AS (…)` where the windows are used, so that an expression says all that it reads. */
import type { Tree } from './tree.ts'
import { asList, asTree, isTree, textOf, variantOf } from './tree.ts'

/** The select with the definitions of its named windows in the places where they are used. */
export function withWindows(select: Tree): Tree {
  const definitions = new Map(
    asList(select['named_window']).map((each) => {
      const [name, definition] = asList(each)
      return [textOf(asTree(name)['value']).toLowerCase(), definition]
    })
  )
  if (definitions.size === 0) return select
  const definitionOf = (name: unknown, depth = 0): unknown[] => {
    const definition = definitions.get(textOf(asTree(name)['value']).toLowerCase())
    if (definition === undefined || depth > definitions.size) return []
    const [kind, content] = variantOf(definition)
    if (kind === 'NamedWindow') return definitionOf(content, depth + 1)
    return [content, ...definitionOf(asTree(content)['window_name'], depth + 1)]
  }
  const replaced = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(replaced)
    if (!isTree(node)) return node
    const entries = Object.entries(node).map(([key, value]): [string, unknown] => {
      const [kind, content] = key === 'over' ? variantOf(value) : ['', undefined]
      if (kind === 'NamedWindow') return [key, definitionOf(content)]
      if (kind === 'WindowSpec')
        return [key, [replaced(content), ...definitionOf(asTree(content)['window_name'])]]
      return [key, replaced(value)]
    })
    return Object.fromEntries(entries)
  }
  return { ...select, projection: replaced(select['projection']), qualify: replaced(select['qualify']) }
}
