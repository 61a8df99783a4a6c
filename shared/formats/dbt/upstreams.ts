/** What a node is made from: its dependencies, with those that leave no table behind replaced by what they are made from. */
import type { NodeKind } from './pick-node.ts'

export type Dependent = { kind: NodeKind; dependsOn: readonly string[] }

/**
 * The ids of the nodes of the kind `wanted` that the node is made from, each once, in the order of its dependencies. Kinds in `through` are looked
 * through; every other kind ends the search, and an id that the project does not have is passed over. A cycle is followed once.
 */
export function upstreamsOf(
  nodes: ReadonlyMap<string, Dependent>,
  id: string,
  { wanted, through }: { wanted: NodeKind; through: readonly NodeKind[] }
): string[] {
  const found = new Set<string>()
  const seen = new Set([id])
  const open = [...(nodes.get(id)?.dependsOn ?? [])].reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    const node = nodes.get(next)
    if (!node) continue
    if (node.kind === wanted) found.add(next)
    else if (through.includes(node.kind)) for (const each of [...node.dependsOn].reverse()) open.push(each)
  }
  return [...found]
}
