/** Counts all entities of the graph in memory by class, reading only the kind of each. */
import type { GraphView } from '../../graph/lineage-graph.ts'
import { pageBits, pageMask } from '../../graph/pages.ts'
import type { Pause } from '../../graph/turns.ts'
import type { Census } from './lineage-reader.ts'
import type { MemoryClasses } from './memory-classes.ts'

const idsPerPause = 65_536

/** A million entities take 3 ms; filtering them one by one takes 40 ms. */
export async function memoryCensus(view: GraphView, classes: MemoryClasses, pause: Pause): Promise<Census> {
  const { kinds, table } = view.nodes
  const counts = new Uint32Array(table.length)
  const firstIds = new Int32Array(table.length)
  for (let id = 1; id < view.idsEnd; id += 1) {
    const kind = kinds[id >>> pageBits]?.[id & pageMask] ?? 0
    if (counts[kind] === 0) firstIds[kind] = id
    counts[kind] = (counts[kind] ?? 0) + 1
    if (id % idsPerPause === 0) await pause()
  }
  const met = table.flatMap(({ index, isKnown, isColumn, isPresent, isDeleted }) => {
    const count = counts[index] ?? 0
    const entityClass =
      count > 0 && isKnown && !isColumn && (isPresent || !isDeleted)
        ? classes.of(view, firstIds[index] ?? 0)
        : null
    return entityClass === null ? [] : [{ kind: index, entityClass, count }]
  })
  return {
    byClass: met,
    async ids(keeps, after, count) {
      const kept = new Uint8Array(table.length)
      for (const { kind, entityClass } of met) kept[kind] = keeps(entityClass) ? 1 : 0
      const found: number[] = []
      for (let id = after + 1; id < view.idsEnd && found.length < count; id += 1) {
        if (kept[kinds[id >>> pageBits]?.[id & pageMask] ?? 0] === 1) found.push(id)
        if (id % idsPerPause === 0) await pause()
      }
      return Int32Array.from(found)
    }
  }
}
