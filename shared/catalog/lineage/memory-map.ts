/** Counts a map in the graph in memory: one pass over the assets, and one over the edges of those inside. */
import { boxLineage, lookedThrough, noPart, outside } from '../../graph/box-lineage.ts'
import type { GraphView, LineageGraph } from '../../graph/lineage-graph.ts'
import type { NodeKind } from '../../graph/nodes.ts'
import { pageBits, pageMask } from '../../graph/pages.ts'
import type { Pause } from '../../graph/turns.ts'
import { mapBoxes, type CountedMap } from './map-boxes.ts'
import type { MapRules } from './map-rules.ts'
import type { MemoryClasses } from './memory-classes.ts'

const idsPerPause = 4_096

/** The fates of kinds and schemas besides those of boxLineage. */
const bySchema = -3
const itself = -4
const unmet = -5

export async function memoryMap(
  { graph, view, classes }: { graph: LineageGraph; view: GraphView; classes: MemoryClasses },
  rules: MapRules,
  pause: Pause
): Promise<CountedMap> {
  const { kinds, table } = view.nodes
  const boxes = mapBoxes()
  const ofKind = new Int32Array(table.length).fill(unmet)
  const ofSchema = new Map<number, number>()
  const kindCounts = new Uint32Array(table.length)
  const boxOf = new Int32Array(view.idsEnd)
  for (let id = 1; id < view.idsEnd; id += 1) {
    if (id % idsPerPause === 0) await pause()
    const kindNumber = kinds[id >>> pageBits]?.[id & pageMask] ?? 0
    let fate = ofKind[kindNumber] ?? noPart
    if (fate === unmet) {
      fate = fateOf(table[kindNumber], id)
      ofKind[kindNumber] = fate
    }
    if (fate !== bySchema) {
      kindCounts[kindNumber] = (kindCounts[kindNumber] ?? 0) + 1
      boxOf[id] = fate
      continue
    }
    const schema = graph.schemas.of(id)
    let ofIts = ofSchema.get(schema)
    if (ofIts === undefined) {
      ofIts = fateOfSchema(graph.schemas.textOf(schema))
      ofSchema.set(schema, ofIts)
    }
    const box = ofIts === itself ? boxes.numberOf(id) : ofIts
    boxOf[id] = box
    if (box > 0) boxes.count(box, table[kindNumber]?.template?.platformUrn ?? null, 1)
  }
  for (const [kind, fate] of ofKind.entries())
    if (fate > 0) boxes.count(fate, table[kind]?.template?.platformUrn ?? null, kindCounts[kind] ?? 0)

  function fateOf(kind: NodeKind | undefined, id: number): number {
    if (!kind?.isKnown || kind.isColumn || (!kind.isPresent && kind.isDeleted)) return noPart
    const entityClass = classes.of(view, id)
    const fate = entityClass ? rules.ofClass(entityClass) : 'none'
    if (fate === 'none') return noPart
    if (fate === 'through') return lookedThrough
    if (fate === 'bySchema') return bySchema
    return fate === 'outside' ? outside : boxes.numberOf(fate.box)
  }
  function fateOfSchema(schema: string): number {
    const fate = rules.ofSchema(schema)
    if (fate === 'itself') return itself
    return fate === 'outside' ? outside : boxes.numberOf(fate.box)
  }

  const hasOutside = [...ofKind.values(), ...ofSchema.values()].includes(outside)
  const edges = await boxLineage(view, { boxOf, boxCount: boxes.boxes.length, hasOutside }, pause)
  return { boxes: boxes.boxes, edges, visited: boxes.total() }
}
