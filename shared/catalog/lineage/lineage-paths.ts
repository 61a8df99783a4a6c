/**
 * The shortest paths from the start of a walk to its results, as lists of entities.
 *
 * A walk records degrees, not paths, so paths are found backwards: the entities before an entity of degree n
 * are its neighbours of degree n - 1. The first path is the one with the least ids, seen from its end.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { firstAtLeast } from '../../model/first-index.ts'
import type { LineageDirection, LineageLevel, Walk } from '../../model/walk.ts'
import type { PathEnd } from './lineage-hits.ts'
import type { LineageReader } from './lineage-reader.ts'
import type { EntityReference } from './read-entity.ts'
import { firstPaths, stepsInto, type Steps } from './path-steps.ts'

/**
 * `reader` must have the state that was walked. `countPerEnd` is the number of paths to return for each end.
 */
export type PathsQuestion = {
  startIds: readonly number[]
  direction: LineageDirection
  level: LineageLevel
  countPerEnd: number
}

/**
 * For each result, the paths to each of its ends, including start and end. Throws LIMIT_EXCEEDED
 * (pathEntitiesMaxCount): paths in deep graphs are long, and an answer contains the paths of a whole page.
 */
export async function readPaths(
  reader: LineageReader,
  question: PathsQuestion,
  walk: Pick<Walk, 'ids' | 'degrees'>,
  endsOfResults: readonly (readonly PathEnd[])[]
): Promise<EntityReference[][][]> {
  const room = pathsRoom()
  // Each end has at least one path, so a page that cannot fit is refused before anything is read.
  for (const { degree, after } of endsOfResults.flat()) room.take(degree + 1 + after.length)
  const levels = levelsOf(question.startIds, walk)
  const before = await stepsBack(reader, question, levels, endsOfResults.flat())
  const paths: number[][][] = []
  for (const ends of endsOfResults) {
    const own: number[][] = []
    for (const { id, degree, after } of ends) {
      const found = pathsTo(id, degree, before, question.countPerEnd)
      for (const path of found) path.push(...after)
      for (const path of found.slice(1)) room.take(path.length)
      own.push(...found)
    }
    paths.push(own)
    await reader.pause()
  }
  const referenceTo = await referencesTo(reader, [...new Set(paths.flat(2))])
  return paths.map((own) => own.map((path) => path.flatMap((id) => referenceTo.get(id) ?? [])))
}

function pathsRoom() {
  const maximum = limits.pathEntitiesMaxCount
  let actual = 0
  return {
    take: (count: number): void => {
      actual += count
      if (actual <= maximum) return
      throw new CatalogError(
        'LIMIT_EXCEEDED',
        `the paths of this page have more than ${maximum} entities: ask for fewer results, for fewer paths, or leave paths out`,
        { field: 'input.count', limit: 'pathEntitiesMaxCount', maximum, actual }
      )
    }
  }
}

/** The ids of each degree, ascending; the starts have degree 0. */
function levelsOf(
  startIds: readonly number[],
  { ids, degrees }: Pick<Walk, 'ids' | 'degrees'>
): (degree: number) => Int32Array {
  const starts = Int32Array.from(startIds).sort()
  return (degree) =>
    degree === 0 ? starts : ids.subarray(firstAtLeast(degrees, degree), firstAtLeast(degrees, degree + 1))
}

/** The steps from the ends towards the start, by degree: at most as many as the wanted paths can use. */
async function stepsBack(
  reader: LineageReader,
  { direction, level, countPerEnd }: PathsQuestion,
  levels: (degree: number) => Int32Array,
  ends: readonly { id: number; degree: number }[]
): Promise<readonly Steps[]> {
  const back = direction === 'DOWNSTREAM' ? 'UPSTREAM' : 'DOWNSTREAM'
  const wanted: Set<number>[] = []
  for (const { id, degree } of ends) (wanted[degree] ??= new Set()).add(id)
  const steps: Steps[] = []
  for (let degree = wanted.length - 1; degree > 0; degree -= 1) {
    const ids = [...(wanted[degree] ?? [])].sort((a, b) => a - b)
    const own = await stepsInto(reader, ids, { direction: back, level }, levels(degree - 1), countPerEnd)
    for (const nearer of own.values()) for (const id of nearer) (wanted[degree - 1] ??= new Set()).add(id)
    steps[degree] = own
  }
  return steps
}

/** The first paths to an entity, each beginning at its start. */
const pathsTo = (id: number, degree: number, steps: readonly Steps[], count: number): number[][] =>
  firstPaths(id, degree, (from, hop) => steps[degree - hop]?.get(from) ?? [], count).map((path) =>
    path.reverse()
  )

async function referencesTo(
  reader: LineageReader,
  ids: readonly number[]
): Promise<Map<number, EntityReference>> {
  const classOf = await reader.classes(ids)
  const urnOf = await reader.urns(ids)
  return new Map(
    ids.flatMap((id): [number, EntityReference][] => {
      const urn = urnOf(id)
      return urn === null ? [] : [[id, { urn, exists: classOf(id)?.exists ?? false }]]
    })
  )
}
