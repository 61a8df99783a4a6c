/** Finds neighbours across hidden entities: the ends of the paths that pass only through hidden entities. */
import { checkCount } from '../../model/count-checks.ts'
import type { LineageDirection, LineageLevel } from '../../model/walk.ts'
import type { EntityClass, LineageReader } from './lineage-reader.ts'

/**
 * What becomes of an entity that is reached: a neighbour to show, a neighbour that is only counted, hidden
 * and passed through, or ignored.
 */
type Fate = 'shown' | 'counted' | 'through' | 'none'

type Beyond = {
  /** The neighbours, shown or only counted, ascending; never the entity itself. */
  met: readonly number[] | Int32Array
  /** The hidden entities on the paths to a neighbour, ascending. */
  between: (metId: number) => number[]
}

/** `classOf` and `fateOf` know every entity that was reached. */
export type Look = {
  beyond: (id: number) => Beyond
  classOf: (id: number) => EntityClass | null
  fateOf: (id: number) => Fate
}

export type HiddenRules = {
  direction: LineageDirection
  level: LineageLevel
  /** Called each time an entity is reached. */
  fateOf: (entityClass: EntityClass, id: number) => Fate
}

/** Number of entities whose neighbours are read at once. */
const idsPerSlice = 1_000
/** Neighbours between two turns of the event loop. */
const turnCount = 4_096

/**
 * The returned function throws LIMIT_EXCEEDED if it would pass through more than hiddenEntitiesMaxCount
 * entities in one call, and DEADLINE_EXCEEDED.
 */
export function throughHidden(
  reader: LineageReader,
  { direction, level, fateOf: judge }: HiddenRules
): (ids: readonly number[] | Int32Array) => Promise<Look> {
  return async (ids) => {
    const nextOf = new Map<number, readonly number[]>()
    const classes = new Map<number, EntityClass | null>()
    const fateOf = (id: number): Fate => {
      const entityClass = classes.get(id)
      return entityClass ? judge(entityClass, id) : 'none'
    }
    let hiddenCount = 0
    let frontier: readonly number[] | Int32Array = ids
    while (frontier.length > 0) {
      const behind: number[] = []
      for (let begin = 0; begin < frontier.length; begin += idsPerSlice) {
        const slice = frontier.slice(begin, begin + idsPerSlice)
        const near = await reader.neighbours(slice, direction, level)
        const unseen: number[] = []
        for (const id of slice) {
          const next = near(id)
          nextOf.set(id, next)
          for (const far of next) {
            if (classes.has(far)) continue
            if (unseen.length % turnCount === 0) await reader.pause()
            classes.set(far, null)
            unseen.push(far)
          }
        }
        const classOf = await reader.classes(unseen)
        for (const [at, id] of unseen.entries()) {
          if (at % turnCount === 0) await reader.pause()
          classes.set(id, classOf(id))
          if (fateOf(id) === 'through' && !nextOf.has(id)) behind.push(id)
        }
        await reader.pause()
      }
      hiddenCount += behind.length
      checkCount(hiddenCount, 'hiddenEntitiesMaxCount', {
        field: 'input',
        what: `${hiddenCount} hidden entities would be passed through at once`,
        wayOut: 'Ask for less, or do not hide jobs'
      })
      frontier = behind
    }
    return {
      fateOf,
      classOf: (id) => classes.get(id) ?? null,
      beyond: beyondWith((id) => nextOf.get(id) ?? [], fateOf)
    }
  }
}

/** The direct neighbours of an entity: those to show or count, and those to pass through. */
type Next = { met: readonly number[]; through: readonly number[] }

function beyondWith(
  nextOf: (id: number) => readonly number[],
  fateOf: (id: number) => Fate
): (id: number) => Beyond {
  const known = new Map<number, Next>()
  const next = (id: number): Next => {
    const found = known.get(id)
    if (found) return found
    const created = { met: new Array<number>(), through: new Array<number>() }
    for (const far of nextOf(id)) {
      const fate = fateOf(far)
      if (fate === 'through') created.through.push(far)
      else if (fate !== 'none') created.met.push(far)
    }
    known.set(id, created)
    return created
  }
  return (id) => {
    const own = next(id)
    if (own.through.length === 0) return { met: own.met, between: () => [] }
    const through = hiddenReachedFrom(id, next)
    const met = new Set(own.met)
    for (const near of through) for (const far of next(near).met) met.add(far)
    met.delete(id)
    let before: Map<number, number[]> | null = null
    return {
      met: Int32Array.from(met).sort(),
      between(metId) {
        before ??= hiddenNeighbours(through, next)
        return allBefore(metId, before)
      }
    }
  }
}

/** All hidden entities on paths from an entity, without the entity itself. */
function hiddenReachedFrom(id: number, next: (id: number) => Next): Set<number> {
  const through = new Set<number>()
  const open = [id]
  for (let near = open.pop(); near !== undefined; near = open.pop()) {
    for (const far of next(near).through) {
      if (far === id || through.has(far)) continue
      through.add(far)
      open.push(far)
    }
  }
  return through
}

/** For each entity next to a hidden entity: the hidden entities that it is next to. */
function hiddenNeighbours(through: ReadonlySet<number>, next: (id: number) => Next): Map<number, number[]> {
  const before = new Map<number, number[]>()
  for (const near of through) {
    const { met, through: further } = next(near)
    for (const far of [...met, ...further]) {
      const own = before.get(far)
      if (own) own.push(near)
      else before.set(far, [near])
    }
  }
  return before
}

function allBefore(id: number, before: ReadonlyMap<number, readonly number[]>): number[] {
  const found = new Set<number>()
  const open = [id]
  for (let near = open.pop(); near !== undefined; near = open.pop()) {
    for (const far of before.get(near) ?? []) {
      if (found.has(far)) continue
      found.add(far)
      open.push(far)
    }
  }
  return [...found].sort((a, b) => a - b)
}
