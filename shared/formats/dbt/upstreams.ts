/**
 * Finds the upstreams of a node. A dependency that leaves no table behind is replaced by its own upstreams.
 */
import type { NodeKind } from './pick-node.ts'

export type Dependent = { kind: NodeKind; dependsOn: readonly string[] }

/**
 * The ids of the upstreams of kind `wanted`, each once, in the order of the dependencies. Nodes of the kinds
 * in `through` are replaced by their own upstreams, and all others end the search. Ids that the project does
 * not have are skipped. A cycle is followed once.
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
