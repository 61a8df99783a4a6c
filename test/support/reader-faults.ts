/** Asks a lineage reader every possible question about histories, and reports differences from the oracle. */
import type { EntityClass, LineageReader } from '../../shared/catalog/lineage/lineage-reader.ts'
import type { LineageDirection, LineageLevel, Walk, WalkQuestion } from '../../shared/model/walk.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import type { Oracle } from './history-oracle.ts'

/** The question, and both answers. */
export type Fault = { oracle: Oracle; question: string; expected: unknown; found: unknown }

export const directions: readonly LineageDirection[] = ['UPSTREAM', 'DOWNSTREAM']
const levels: readonly LineageLevel[] = ['asset', 'column']
const endless = { maxHops: 1_000, maxEntities: 1_000_000 }

/** Counts of walks. */
export type WalkFigures = { walks: number; reached: number }

/** The amount of questions: walks from all entities of a history, or from one of every third history. */
export type Breadth = { walksFrom: 'all' | 'few' }

/**
 * Asks about all histories at once, as a page with many results would, but walks one by one. `turn` varies
 * the walks.
 */
export async function readerFaults(
  reader: LineageReader,
  oracles: readonly Oracle[],
  { walksFrom }: Breadth,
  turn: number,
  figures: WalkFigures
): Promise<Fault[]> {
  const faults: Fault[] = []
  const compare = (oracle: Oracle, question: string, expected: unknown, found: unknown): void => {
    if (JSON.stringify(expected) !== JSON.stringify(found)) faults.push({ oracle, question, expected, found })
  }
  const everyone = oracles.map((oracle) => ({
    oracle,
    urns: [...oracle.world.things, ...oracle.world.columns].map(({ urn }) => urn)
  }))
  const known = everyone.map(({ oracle, urns }) => ({
    oracle,
    urns: urns.filter((urn) => oracle.isKnown(urn) && oracle.ids.has(urn))
  }))
  const idsIn = (list: readonly { oracle: Oracle; urns: readonly Urn[] }[]): number[] =>
    list.flatMap(({ oracle, urns }) => urns.map((urn) => idOf(oracle, urn)))
  const ids = idsIn(known)

  const found = await reader.find(everyone.flatMap(({ urns }) => urns))
  const parents = await reader.parents(ids)
  const columns = await reader.columns(ids)
  const urnOf = await reader.urns(ids)
  const classOf = await reader.classes(Int32Array.from(ids))
  const shared = new Map<string, EntityClass>()
  const classIndices = new Map<number, EntityClass>()
  for (const { oracle, urns } of everyone) {
    for (const urn of urns) {
      const row = found.get(urn)
      compare(
        oracle,
        `find ${urn}`,
        expectedEntity(oracle, urn),
        row ? { urn: row.urn, id: row.id, exists: row.exists, isRemoved: row.isRemoved } : null
      )
      compare(oracle, `a row of ${urn}`, oracle.isNamed(urn), oracle.ids.has(urn))
    }
  }
  for (const { oracle, urns } of known) {
    for (const urn of urns) {
      const id = idOf(oracle, urn)
      const { assetUrn } = oracle.thing(urn) ?? { assetUrn: null }
      compare(oracle, `urn of ${id}`, urn, urnOf(id))
      compare(oracle, `parent of ${urn}`, assetUrn && idOf(oracle, assetUrn), parents(id))
      compare(oracle, `columns of ${urn}`, sorted(oracle, assetUrn ? [] : oracle.columnsOf(urn)), columns(id))
      const own = classOf(id)
      const { index, ...facts } = own ?? { index: -1 }
      compare(oracle, `class of ${urn}`, expectedClass(oracle, urn), facts)
      if (!own) continue
      const key = JSON.stringify(facts)
      if ((shared.get(key) ?? own) !== own || (classIndices.get(index) ?? own) !== own)
        compare(
          oracle,
          `one class for all that are alike, ${urn}`,
          shared.get(key) ?? classIndices.get(index),
          own
        )
      shared.set(key, own)
      classIndices.set(index, own)
    }
  }
  await compareNeighbours(reader, known, ids, compare)
  await compareDomains(reader, oracles, compare)
  for (const [index, { oracle, urns }] of known.entries()) {
    const starts =
      walksFrom === 'all'
        ? urns
        : (index + turn) % 3 === 0
          ? urns.slice((index + turn) % Math.max(1, urns.length)).slice(0, 1)
          : []
    await compareWalks(reader, oracle, starts, index + turn, compare, figures)
  }
  return faults
}

type Compare = (oracle: Oracle, question: string, expected: unknown, found: unknown) => void
type Known = readonly { oracle: Oracle; urns: readonly Urn[] }[]

async function compareNeighbours(
  reader: LineageReader,
  known: Known,
  ids: readonly number[],
  compare: Compare
): Promise<void> {
  for (const direction of directions) {
    for (const level of levels) {
      reader.renew()
      const neighbours = await reader.neighbours(ids, direction, level)
      for (const { oracle, urns } of known) {
        for (const urn of urns)
          compare(
            oracle,
            `${direction} ${level} neighbours of ${urn}`,
            sorted(oracle, oracle.neighbours(urn, direction, level)),
            [...neighbours(idOf(oracle, urn))]
          )
      }
    }
  }
}

async function compareDomains(
  reader: LineageReader,
  oracles: readonly Oracle[],
  compare: Compare
): Promise<void> {
  reader.renew()
  const tree = await reader.domainTree()
  const ascending = (ids: ReadonlySet<number>): number[] => [...ids].sort((a, b) => a - b)
  for (const oracle of oracles) {
    const domains = oracle.world.domains.filter((urn) => oracle.ids.has(urn))
    for (const urn of domains) {
      const parent = oracle.parentOf(urn)
      compare(oracle, `parent of ${urn}`, parent && idOf(oracle, parent), tree.parentOf(idOf(oracle, urn)))
      compare(
        oracle,
        `below ${urn}`,
        sorted(oracle, [...oracle.below([urn])]),
        ascending(tree.below([idOf(oracle, urn)]))
      )
      compare(
        oracle,
        `above ${urn}`,
        sorted(oracle, [...oracle.above([urn])]),
        ascending(tree.above([idOf(oracle, urn)]))
      )
    }
  }
  const asked = (oracle: Oracle): Urn[] =>
    oracle.world.domains.filter((urn, index) => index % 2 === 0 && oracle.ids.has(urn))
  const members = [
    ...(await reader.members(
      new Set(oracles.flatMap((oracle) => asked(oracle).map((urn) => idOf(oracle, urn))))
    ))
  ]
  for (const oracle of oracles) {
    const own = new Set(oracle.ids.values())
    compare(
      oracle,
      `members of ${asked(oracle).join(', ')}`,
      sorted(oracle, asked(oracle).flatMap(oracle.members)),
      members.filter((id) => own.has(id))
    )
  }
}

async function compareWalks(
  reader: LineageReader,
  oracle: Oracle,
  starts: readonly Urn[],
  turn: number,
  compare: Compare,
  figures: WalkFigures
): Promise<void> {
  for (const [place, urn] of starts.entries()) {
    const index = place + turn
    const level = levelOf(oracle, urn)
    for (const direction of directions) {
      const of = (more: Partial<WalkQuestion>, urns: readonly Urn[] = [urn]) =>
        compareWalk(
          reader,
          oracle,
          urns,
          { direction, level, hopsWanted: Infinity, bounds: endless, ...more },
          compare,
          figures
        )
      await of({})
      if (index % 3 === 0) await of({ hopsWanted: 1 + (index % 2) })
      if (index % 3 === 1) await of({ bounds: { maxHops: 1 + (index % 4), maxEntities: 1 + (index % 5) } })
      if (index % 3 === 2)
        await of(
          {},
          [urn, ...starts.filter((other) => other !== urn && levelOf(oracle, other) === level)].slice(0, 3)
        )
      if (index % 5 === 4) await of({ level: level === 'asset' ? 'column' : 'asset' })
    }
  }
}

async function compareWalk(
  reader: LineageReader,
  oracle: Oracle,
  starts: readonly Urn[],
  question: Omit<WalkQuestion, 'startIds'>,
  compare: Compare,
  figures: WalkFigures
): Promise<void> {
  // One comparison asks for more than a client would at once.
  reader.renew()
  const startIds = starts.map((urn) => idOf(oracle, urn))
  // For edges of the other level, a reader has no start.
  const isMeant = starts.every((urn) => levelOf(oracle, urn) === question.level)
  const { ids, degrees, hops, cutBy } = await reader.walk({ ...question, startIds })
  figures.walks += 1
  figures.reached += ids.length
  compare(
    oracle,
    `${question.level} walk ${question.direction} from ${starts.join(', ')} for ${question.hopsWanted} hops within ${JSON.stringify(question.bounds)}`,
    { ...expectedWalk(oracle, starts, question), ...(isMeant ? {} : { hops: null }) },
    { results: [...ids].map((id, place) => `${degrees[place]} ${id}`), hops: isMeant ? hops : null, cutBy }
  )
}

/** A bound cuts off the farthest, and within a hop those with the greatest ids. */
function expectedWalk(
  oracle: Oracle,
  starts: readonly Urn[],
  { direction, level, hopsWanted, bounds }: Omit<WalkQuestion, 'startIds'>
) {
  const wanted = oracle.reached(starts, direction, level).filter(({ degree }) => degree <= hopsWanted)
  const inHops = wanted.filter(({ degree }) => degree <= bounds.maxHops)
  const kept = inHops.slice(0, bounds.maxEntities)
  const cutBy: Walk['cutBy'] =
    kept.length < inHops.length ? 'maxEntities' : inHops.length < wanted.length ? 'maxHops' : null
  // A hop that finds nothing has been followed too.
  const followed =
    cutBy === 'maxEntities'
      ? (inHops[kept.length]?.degree ?? 1) - 1
      : Math.min(hopsWanted, bounds.maxHops, (wanted.at(-1)?.degree ?? 0) + 1)
  return {
    results: kept.map(({ urn, degree }) => `${degree} ${idOf(oracle, urn)}`),
    hops: starts.length === 0 ? 0 : followed,
    cutBy
  }
}

export const levelOf = (oracle: Oracle, urn: Urn): LineageLevel =>
  oracle.thing(urn)?.assetUrn ? 'column' : 'asset'
const idOf = (oracle: Oracle, urn: Urn): number => oracle.ids.get(urn) ?? -1
const sorted = (oracle: Oracle, urns: readonly Urn[]): number[] =>
  urns.map((urn) => idOf(oracle, urn)).sort((a, b) => a - b)

const expectedEntity = (oracle: Oracle, urn: Urn) =>
  oracle.isKnown(urn)
    ? {
        urn,
        id: oracle.isNamed(urn) ? idOf(oracle, urn) : null,
        exists: oracle.exists(urn),
        isRemoved: oracle.isRemoved(urn)
      }
    : null

function expectedClass(oracle: Oracle, urn: Urn): Omit<EntityClass, 'index'> {
  const { type = '', platform = null, origin = null } = oracle.thing(urn) ?? {}
  const domain = oracle.domainOf(urn)
  return {
    entityType: type,
    platformUrn: platform as Urn | null,
    origin,
    exists: oracle.exists(urn),
    isRemoved: oracle.isRemoved(urn),
    domainId: domain && idOf(oracle, domain)
  }
}
