/** Finds the nodes of a project that SQL reads, by the names of their relations. */
import type { DbtProject, KeptNode } from './project.ts'

/** Finds the id of the node that SQL calls by this name; undefined for a table that is not in the project. */
export type FindRelation = (name: string) => string | undefined

/** The levels of the name of a relation in SQL: its name as dbt wrote it, or else its path. */
export function relationPath({ relationName, path }: Pick<KeptNode, 'relationName' | 'path'>): string[] {
  const levels = relationName === null ? [] : levelsOf(relationName)
  return levels.length > 0 ? levels : path
}

const level = /"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|([^."`[\]\s]+)/g

/** BigQuery also quotes several levels at once. A relation that is not a name, such as a call of a function, has none. */
function levelsOf(name: string): string[] {
  if (/[()]/.test(name)) return []
  return [...name.matchAll(level)].flatMap(([, doubled, ticked, bracketed, plain]) =>
    ticked === undefined ? [doubled?.replaceAll('""', '"') ?? bracketed ?? plain ?? ''] : ticked.split('.')
  )
}

/**
 * Names are compared as written and then ignoring case: warehouses fold them. A name of two levels also finds a relation
 * of three, and the other way round, if only one fits.
 */
export function relationsOf({ nodes }: DbtProject): FindRelation {
  const exact = new Map<string, string>()
  const folded = new Map<string, string>()
  const shortened = new Map<string, { id: string; levels: number } | null>()
  for (const [id, node] of nodes) {
    if (node.kind !== 'table') continue
    const path = relationPath(node)
    const name = path.join('.')
    exact.set(name, better(id, exact.get(name)))
    folded.set(name.toLowerCase(), better(id, folded.get(name.toLowerCase())))
    const short = shortOf(path)
    const other = shortened.get(short)
    const isSame =
      other === undefined || (other !== null && nameOf(nodes.get(other.id)) === name.toLowerCase())
    shortened.set(short, isSame ? { id: better(id, other?.id), levels: path.length } : null)
  }
  return (name) => {
    const key = name.toLowerCase()
    const found = exact.get(name) ?? folded.get(key)
    if (found !== undefined) return found
    const path = key.split('.')
    const other = shortened.get(shortOf(path))
    return other && other.levels !== path.length ? other.id : undefined
  }
}

const nameOf = (node: KeptNode | undefined): string =>
  node === undefined ? '' : relationPath(node).join('.').toLowerCase()

const shortOf = (path: readonly string[]): string => path.slice(-2).join('.').toLowerCase()

/** A source may be a model of the same project; the model knows more of its columns. */
const better = (id: string, other: string | undefined): string =>
  other === undefined || (other.startsWith('source.') && !id.startsWith('source.')) ? id : other

/** The database and schema in which SQL of a node finds a table that it does not name whole. */
export function defaultsOf(node: KeptNode): { database?: string; schema?: string } {
  const path = relationPath(node)
  const [database, schema] = [path.at(-3), path.at(-2)]
  return { ...(database === undefined ? {} : { database }), ...(schema === undefined ? {} : { schema }) }
}

/** The nodes, each after those that it depends on. A cycle is cut where it was entered. */
export function inOrder(nodes: DbtProject['nodes']): string[] {
  const order: string[] = []
  const seen = new Set<string>()
  for (const first of nodes.keys()) {
    const open = [{ id: first, next: 0 }]
    while (open.length > 0) {
      const at = open.at(-1)
      if (at === undefined) break
      if (at.next === 0) {
        if (seen.has(at.id)) {
          open.pop()
          continue
        }
        seen.add(at.id)
      }
      const dependency = nodes.get(at.id)?.dependsOn[at.next]
      at.next += 1
      if (dependency === undefined) {
        order.push(at.id)
        open.pop()
      } else if (nodes.has(dependency) && !seen.has(dependency)) open.push({ id: dependency, next: 0 })
    }
  }
  return order
}
