/**
 * What exists after a history, by the simplest means: a list of statements, and sets of entities.
 *
 * It shares nothing with the service except the ids of the entities, which the order of results needs.
 */
import type { LineageDirection, LineageLevel } from '../../shared/model/walk.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import type { Pair, Thing, World } from './histories.ts'

export type Effect =
  | (Pair & { kind: 'stated'; source: string })
  /** Whoever asserted it. */
  | (Pair & { kind: 'unstated' })
  /** Everything that the aspect, or one source of it, asserts. */
  | { kind: 'cleared'; owner: Urn; aspect: string; source: string | null }
  | { kind: 'named' | 'present' | 'gone'; urn: Urn }
  | { kind: 'removed'; urn: Urn; isRemoved: boolean }
  | { kind: 'domain'; urn: Urn; domain: Urn | null }
  | { kind: 'parent'; urn: Urn; parent: Urn | null }

/** A result of a walk. */
export type Reached = { urn: Urn; degree: number }

export type Oracle = ReturnType<typeof createOracle>

export function createOracle(world: World) {
  let statements: (Pair & { source: string })[] = []
  const named = new Set<Urn>()
  const present = new Set<Urn>()
  const removed = new Set<Urn>()
  const onceDeleted = new Set<Urn>()
  const domains = new Map<Urn, Urn>()
  const parents = new Map<Urn, Urn>()
  const ids = new Map<Urn, number>()
  const things = new Map([...world.things, ...world.columns].map((thing) => [thing.urn, thing]))
  const assetOf = (urn: Urn): Urn => things.get(urn)?.assetUrn ?? urn
  const isColumn = (urn: Urn): boolean => assetOf(urn) !== urn
  const idOf = (urn: Urn): number => ids.get(urn) ?? -1
  const name = (urn: Urn) => named.add(urn).add(assetOf(urn))

  function take(effect: Effect): void {
    if (effect.kind === 'stated') {
      for (const urn of [effect.up, effect.down, effect.owner]) name(urn)
      statements.push(effect)
    } else if (effect.kind === 'unstated') {
      statements = statements.filter(
        ({ up, down, owner, aspect }) =>
          !(up === effect.up && down === effect.down && owner === effect.owner && aspect === effect.aspect)
      )
    } else if (effect.kind === 'cleared') {
      statements = statements.filter(
        ({ owner, aspect, source }) =>
          !(
            owner === effect.owner &&
            aspect === effect.aspect &&
            (effect.source === null || source === effect.source)
          )
      )
    } else if (effect.kind === 'removed') {
      if (effect.isRemoved) removed.add(effect.urn)
      else removed.delete(effect.urn)
    } else if (effect.kind === 'domain') {
      if (effect.domain) domains.set(effect.urn, effect.domain)
      else domains.delete(effect.urn)
    } else if (effect.kind === 'parent') {
      if (effect.parent) parents.set(effect.urn, effect.parent)
      else parents.delete(effect.urn)
    } else if (effect.kind === 'gone') {
      for (const urn of [effect.urn, ...columnsOf(effect.urn)]) remove(urn)
    } else {
      name(effect.urn)
      if (effect.kind === 'present') present.add(effect.urn)
    }
  }

  function remove(urn: Urn): void {
    statements = statements.filter(({ up, down, owner }) => up !== urn && down !== urn && owner !== urn)
    present.delete(urn)
    removed.delete(urn)
    domains.delete(urn)
    parents.delete(urn)
    for (const [member, domain] of domains) if (domain === urn) domains.delete(member)
    if (named.has(urn)) onceDeleted.add(urn)
  }

  const columnsOf = (asset: Urn): Urn[] =>
    world.columns.filter(({ urn, assetUrn }) => assetUrn === asset && named.has(urn)).map(({ urn }) => urn)

  /** Whether reads know it: it exists, or something refers to it. */
  function isKnown(urn: Urn): boolean {
    const asset = assetOf(urn)
    if (present.has(asset)) return true
    return (
      named.has(asset) &&
      (!onceDeleted.has(asset) || statements.some(({ up, down }) => up === asset || down === asset))
    )
  }

  const edges = (level: LineageLevel): Pair[] =>
    statements.filter(({ up }) => isColumn(up) === (level === 'column'))

  /**
   * Computes the smallest degrees by scanning all edges until no degree changes. Nearest first, by id within
   * a degree.
   */
  function reached(starts: readonly Urn[], direction: LineageDirection, level: LineageLevel): Reached[] {
    const degrees = new Map(starts.map((urn) => [urn, 0]))
    for (let hasChanged = true; hasChanged;) {
      hasChanged = false
      for (const { up, down } of edges(level)) {
        const [near, far] = direction === 'DOWNSTREAM' ? [up, down] : [down, up]
        const degree = (degrees.get(near) ?? Infinity) + 1
        if (degree >= (degrees.get(far) ?? Infinity)) continue
        degrees.set(far, degree)
        hasChanged = true
      }
    }
    return inOrder(
      [...degrees].filter(([urn]) => !starts.includes(urn)).map(([urn, degree]) => ({ urn, degree }))
    )
  }

  const inOrder = (results: readonly Reached[]): Reached[] =>
    [...results].sort((a, b) => a.degree - b.degree || idOf(a.urn) - idOf(b.urn))

  /** The assets of columns, each at its least degree. */
  function folded(results: readonly Reached[]): Reached[] {
    const nearest = new Map<Urn, number>()
    for (const { urn, degree } of results)
      nearest.set(assetOf(urn), Math.min(degree, nearest.get(assetOf(urn)) ?? Infinity))
    return inOrder([...nearest].map(([urn, degree]) => ({ urn, degree })))
  }

  function neighbours(urn: Urn, direction: LineageDirection, level: LineageLevel): Urn[] {
    const found = edges(level).flatMap(({ up, down }) =>
      direction === 'DOWNSTREAM' ? (up === urn ? [down] : []) : down === urn ? [up] : []
    )
    return [...new Set(found)].filter((other) => other !== urn)
  }

  function below(tops: readonly Urn[]): Set<Urn> {
    const found = new Set<Urn>()
    for (let size = -1; size < found.size;) {
      size = found.size
      for (const [child, parent] of parents) if (tops.includes(parent) || found.has(parent)) found.add(child)
    }
    return found
  }

  return {
    world,
    ids,
    take,
    isKnown,
    isNamed: (urn: Urn): boolean => named.has(urn),
    isPresent: (urn: Urn): boolean => present.has(urn),
    thing: (urn: Urn): Thing | undefined => things.get(urn),
    exists: (urn: Urn): boolean => present.has(assetOf(urn)),
    isRemoved: (urn: Urn): boolean => removed.has(urn) || removed.has(assetOf(urn)),
    domainOf: (urn: Urn): Urn | null => domains.get(urn) ?? domains.get(assetOf(urn)) ?? null,
    parentOf: (urn: Urn): Urn | null => parents.get(urn) ?? null,
    members: (urn: Urn): Urn[] =>
      [...domains].filter(([, domain]) => domain === urn).map(([member]) => member),
    livePairs: (): Pair[] => statements,
    columnsOf,
    reached,
    folded,
    neighbours,
    below,
    above: (bottoms: readonly Urn[]): Set<Urn> => {
      const found = new Set<Urn>()
      for (const bottom of bottoms)
        for (let parent = parents.get(bottom); parent && !found.has(parent); parent = parents.get(parent))
          found.add(parent)
      return found
    }
  }
}
