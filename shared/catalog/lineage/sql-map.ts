/** Counts a map through any reader, for where the graph is not in memory: it asks for each asset and edge. */
import { emptyLists, lookedThrough, noPart, outside, type BoxEdges } from '../../graph/box-lineage.ts'
import { schemaIn } from '../../urn/schema-name.ts'
import { mapBoxes, type CountedMap, type MapBoxes } from './map-boxes.ts'
import type { MapRules } from './map-rules.ts'
import type { EntityClass, LineageReader } from './lineage-reader.ts'
import { throughHidden } from './through-hidden.ts'

const idsPerSlice = 2_000

/** Throws LIMIT_EXCEEDED (hiddenEntitiesMaxCount), DEADLINE_EXCEEDED. */
export async function sqlMap(reader: LineageReader, rules: MapRules): Promise<CountedMap> {
  const ids = await reader.everyone()
  const boxes = mapBoxes()
  const boxOf = await putIntoBoxes(reader, ids, rules, boxes)
  const edges = await addUp(reader, ids, boxOf, boxes.boxes.length)
  return { boxes: boxes.boxes, edges, visited: boxes.total() }
}

async function putIntoBoxes(
  reader: LineageReader,
  ids: Int32Array,
  rules: MapRules,
  boxes: MapBoxes
): Promise<ReadonlyMap<number, number>> {
  const boxOf = new Map<number, number>()
  for (let begin = 0; begin < ids.length; begin += idsPerSlice) {
    const slice = ids.subarray(begin, begin + idsPerSlice)
    const classOf = await reader.classes(slice)
    const fateOf = (id: number) => {
      const entityClass = classOf(id)
      return entityClass ? rules.ofClass(entityClass) : 'none'
    }
    const urnOf = await reader.urns(slice.filter((id) => fateOf(id) === 'bySchema'))
    for (const id of slice) {
      const entityClass = classOf(id)
      const box = boxIn(entityClass, id, () => schemaIn(urnOf(id) ?? unknown(id)))
      boxOf.set(id, box)
      if (box > 0) boxes.count(box, entityClass?.platformUrn ?? null, 1)
    }
  }

  function boxIn(entityClass: EntityClass | null, id: number, schema: () => string): number {
    const ofClass = entityClass ? rules.ofClass(entityClass) : 'none'
    const fate = ofClass === 'bySchema' ? rules.ofSchema(schema()) : ofClass
    if (fate === 'none') return noPart
    if (fate === 'through') return lookedThrough
    if (fate === 'outside') return outside
    return boxes.numberOf(fate === 'itself' ? id : fate.box)
  }
  return boxOf
}

function unknown(id: number): never {
  throw new Error(`no URN of entity ${id}`)
}

async function addUp(
  reader: LineageReader,
  ids: Int32Array,
  boxOf: ReadonlyMap<number, number>,
  boxCount: number
): Promise<BoxEdges> {
  const found = emptyLists(boxCount)
  const pairs = new Map<string, { upstream: number; downstream: number; count: number }>()
  const fateOf = (_: EntityClass, id: number) => {
    const box = boxOf.get(id) ?? noPart
    return box === noPart ? 'none' : box === lookedThrough ? 'through' : 'shown'
  }
  const inBoxes = ids.filter((id) => (boxOf.get(id) ?? noPart) > 0)
  for (const direction of ['DOWNSTREAM', 'UPSTREAM'] as const) {
    const look = throughHidden(reader, { direction, level: 'asset', fateOf })
    for (let begin = 0; begin < inBoxes.length; begin += idsPerSlice) {
      const slice = inBoxes.subarray(begin, begin + idsPerSlice)
      const { beyond } = await look(slice)
      for (const id of slice) {
        await reader.pause()
        const box = boxOf.get(id) ?? noPart
        for (const farId of beyond(id).met) {
          const far = boxOf.get(farId) ?? noPart
          if (direction === 'UPSTREAM') {
            if (far === outside) add(found.fromOutside, box)
          } else if (far === outside) add(found.toOutside, box)
          else if (far === box) add(found.inside, box)
          else {
            add(found.downstream, box)
            add(found.upstream, far)
            const key = `${box} ${far}`
            const pair = pairs.get(key) ?? { upstream: box, downstream: far, count: 0 }
            pair.count += 1
            pairs.set(key, pair)
          }
        }
      }
    }
  }
  const all = [...pairs.values()]
  return {
    ...found,
    pairs: {
      upstream: Int32Array.from(all, ({ upstream }) => upstream),
      downstream: Int32Array.from(all, ({ downstream }) => downstream),
      counts: Int32Array.from(all, ({ count }) => count)
    }
  }
}

const add = (list: Int32Array, at: number): void => {
  list[at] = (list[at] ?? 0) + 1
}
