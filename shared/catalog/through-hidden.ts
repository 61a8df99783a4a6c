/** Who is next to whom once hidden entities are looked through: the ends of the ways that lead over nothing but them. */
import { checkCount } from '../model/count-checks.ts'
import type { LineageDirection, LineageLevel } from '../model/walk.ts'
import type { EntityClass, LineageReader } from './lineage-reader.ts'

/** What an entity is to who comes to it: an end that may be shown, one that is only counted, a way on, or nothing. */
export type Fate = 'shown' | 'counted' | 'through' | 'none'

export type Beyond = {
  /** What is met next, shown or counted, ascending; never the entity itself. */
  met: readonly number[]
  /** What was looked through on the ways to one of those, ascending. */
  between: (metId: number) => number[]
}

/** `classOf` and `fateOf` know everything that was come to. */
export type Look = { beyond: (id: number) => Beyond, classOf: (id: number) => EntityClass | null, fateOf: (id: number) => Fate }

export type HiddenRules = {
  direction: LineageDirection
  level: LineageLevel
  /** Asked again for each way that leads to an entity. */
  judge: (entityClass: EntityClass, id: number) => Fate
}

const sliceCount = 5_000

/** Makes the look. It throws LIMIT_EXCEEDED where it would look through more than hiddenEntitiesMaxCount entities at a time, and DEADLINE_EXCEEDED. */
export function throughHidden(reader: LineageReader, { direction, level, judge }: HiddenRules): (ids: readonly number[] | Int32Array) => Promise<Look> {
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
      for (let begin = 0; begin < frontier.length; begin += sliceCount) {
        const slice = frontier.slice(begin, begin + sliceCount)
        const near = await reader.neighbours(slice, direction, level)
        const fresh: number[] = []
        for (const id of slice) {
          const next = near(id)
          nextOf.set(id, next)
          for (const far of next) {
            if (classes.has(far)) continue
            classes.set(far, null)
            fresh.push(far)
          }
        }
        const classOf = await reader.classes(fresh)
        for (const id of fresh) {
          classes.set(id, classOf(id))
          if (fateOf(id) === 'through' && !nextOf.has(id)) behind.push(id)
        }
        await reader.pause()
      }
      hiddenCount += behind.length
      checkCount(hiddenCount, 'hiddenEntitiesMaxCount', { field: 'input', what: `${hiddenCount} hidden entities are to be looked through at a time`, wayOut: 'Ask for less, or do not hide jobs' })
      frontier = behind
    }
    return { fateOf, classOf: (id) => classes.get(id) ?? null, beyond: (id) => beyondOf(id, (near) => nextOf.get(near) ?? [], fateOf) }
  }
}

const isMet = (fate: Fate): boolean => fate === 'shown' || fate === 'counted'

function beyondOf(id: number, nextOf: (id: number) => readonly number[], fateOf: (id: number) => Fate): Beyond {
  const direct = nextOf(id)
  if (!direct.some((near) => fateOf(near) === 'through')) return { met: direct.filter((near) => near !== id && isMet(fateOf(near))), between: () => [] }
  const met = new Set<number>()
  const through = new Set<number>()
  /** Of what is looked through or met: what it was come to from, as far as that was looked through. */
  const before = new Map<number, number[]>()
  const open = [id]
  for (let near = open.pop(); near !== undefined; near = open.pop()) {
    for (const far of nextOf(near)) {
      const fate = fateOf(far)
      if (far === id || fate === 'none') continue
      if (near !== id) {
        const own = before.get(far)
        if (own) own.push(near)
        else before.set(far, [near])
      }
      if (fate !== 'through') met.add(far)
      else if (!through.has(far)) {
        through.add(far)
        open.push(far)
      }
    }
  }
  return { met: [...met].sort((a, b) => a - b), between: (metId) => allBefore(metId, before) }
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
