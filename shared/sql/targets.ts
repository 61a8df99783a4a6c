/** Finds the table that a statement writes among the relations of its FROM. */
import type { Path, Relation } from './form.ts'
import { keyOf, tableId } from './names.ts'

/** The table that a name means here: an alias of FROM, or itself. */
export function aliased(relations: readonly Relation[], path: Path): Path {
  const [only] = path
  if (only === undefined || path.length > 1) return path
  const find = (relation: Relation): Path | undefined => {
    if (relation.kind === 'join') return find(relation.left) ?? find(relation.right)
    if (relation.kind !== 'table') return undefined
    const name = relation.alias?.name ?? relation.path.at(-1)
    return name !== undefined && keyOf(name.text) === keyOf(only.text) ? relation.path : undefined
  }
  for (const relation of relations) {
    const found = find(relation)
    if (found !== undefined) return found
  }
  return path
}

/** How often FROM reads a table. */
export function countOf(
  relations: readonly Relation[],
  id: string,
  run: { wholeName: (path: Path) => string[] }
): number {
  return relations.reduce((count, relation) => {
    if (relation.kind === 'join') return count + countOf([relation.left, relation.right], id, run)
    return count + (relation.kind === 'table' && tableId(run.wholeName(relation.path)) === id ? 1 : 0)
  }, 0)
}
