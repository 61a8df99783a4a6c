/**
 * Filters and counts the results of a walk. Facts that results share are judged once for all of them, so a
 * million results take milliseconds; only filters on an entity's own facts (texts, tags, custom properties)
 * look at each entity.
 */
import { firstIndex } from '../../model/first-index.ts'
import { graphqlTypeOf } from '../../model/entity-types.ts'
import type { LineageDirection } from '../../model/walk.ts'
import type { ClassGroup } from './class-groups.ts'
import { findText, textAspectNames } from '../entities/entity-texts.ts'
import { degreeValueOf, degreeValues, type Candidate, type CommonFacts } from './filter-fields.ts'
import { matcherOf, type Filters, type FactsMatcher } from './lineage-filters.ts'
import type { Hits } from './lineage-hits.ts'
import type { EntityClass, LineageReader } from './lineage-reader.ts'

/** What to keep: a hit must match all of it. */
export type HitFilters = {
  /** GraphQL types; null for all. */
  types: ReadonlySet<string> | null
  text: string | null
  filters: Filters
  includesRemoved: boolean
  /** Leaves out placeholders. */
  existingOnly?: boolean
}

/** Counts of the kept results by their shared facts. */
export type Tally = {
  byClass: { entityClass: EntityClass; degree: CommonFacts['degree']; count: number }[]
  /** Counts by exact degree: `byDegree[3]` results have degree 3. */
  byDegree: number[]
}

export type FilteredHits = {
  total: number
  /** Indexes of the kept hits, in order; null if all were kept. */
  kept: Int32Array | null
  tally: Tally
  /** Changes whenever a result, its degree or the order of results changes. */
  fingerprint: number
  /** Whether documents or URNs were read. If so, the result can change while the graph stays the same. */
  readsOwn: boolean
}

/**
 * Hits between two turns of the event loop. A smaller slice would contain many classes only once, and gain
 * nothing from grouping.
 */
const hitsPerSlice = 16_384
/** Hits per slice if each hit is judged by its URN, or by its documents, which are all in memory at once. */
const urnsSliceCount = 2_048
const documentsSliceCount = 500

/** Hits that are judged by their documents before the others get the event loop, if the slice of time is used up. */
const hitsPerPause = 32

const [isOut, isIn, isOpen] = [1, 2, 3]
/**
 * Throws DEADLINE_EXCEEDED.
 *
 * In each slice, the classes that occur are judged and counted. Single hits are only visited for the
 * fingerprint, and if not all are kept. 49,186 hits take 0.7 ms; assigning each hit to its class and degree
 * took 1.15 ms. Results of many classes take longer: 200,000 hits of 5,000 classes take 12.5 ms instead of
 * 8.5 ms.
 */
export async function filterHits(
  reader: LineageReader,
  question: HitFilters,
  hits: Pick<Hits, 'ids' | 'degrees'>
): Promise<FilteredHits> {
  const matcher = await matcherOf(reader, question.filters)
  const table = new CommonTable(question, matcher)
  const { ids, degrees } = hits
  const tally: Counts = {
    total: 0,
    fingerprint: 0x811c9dc5,
    kept: null,
    byDegree: new Uint32Array((degrees.at(-1) ?? 0) + 1)
  }
  let readsOwn = false

  for (let begin = 0; begin < ids.length;) {
    const end = endOfSlice(degrees, begin)
    const { numbers, groups } = await reader.classGroups(ids.subarray(begin, end))
    const found = groups.map(({ number, entityClass, count }): FoundGroup => ({
      number,
      count,
      common: entityClass && table.of(entityClass, degrees[begin] ?? 0)
    }))
    if (found.every(({ common }) => common?.verdict === isIn)) {
      countWhole(hits, begin, end, tally)
    } else {
      const verdicts = verdictsOf(numbers, found)
      const open = found.filter(({ common }) => common?.verdict === isOpen)
      if (open.length > 0) {
        readsOwn = true
        const commonOf = new Map(open.map(({ number, common }) => [number, common]))
        await matchOwnFacts(
          reader,
          question,
          matcher,
          hits,
          placesOf(isOpen, verdicts, begin),
          (at) => commonOf.get(numbers[at - begin] ?? 0)?.facts ?? null,
          (at, holds) => {
            verdicts[at - begin] = holds ? isIn : isOut
            const common = commonOf.get(numbers[at - begin] ?? 0)
            if (common && holds) common.count += 1
          }
        )
      }
      // Until now all hits were kept, so their list can be filled in now.
      tally.kept ??= allBelow(begin, ids.length)
      countKept(hits, begin, end, verdicts, tally)
    }
    for (const { common, count } of found) if (common?.verdict === isIn) common.count += count
    begin = end
    await reader.pause()
  }
  const { total, fingerprint, kept, byDegree } = tally
  return {
    total,
    kept: kept === null || total === ids.length ? null : kept.slice(0, total),
    tally: { byClass: table.counted(), byDegree: [...byDegree] },
    fingerprint,
    readsOwn
  }
}

/** `kept` is null while all hits so far are kept. */
type Counts = { total: number; fingerprint: number; kept: Int32Array | null; byDegree: Uint32Array }

type FoundGroup = Pick<ClassGroup, 'number' | 'count'> & { common: Common | null }

/** The end of a slice whose degrees are equal for filters (1, 2, 3+). Degrees ascend. */
function endOfSlice(degrees: Uint16Array, begin: number): number {
  const place = degreePlace(degrees[begin] ?? 0)
  const end = Math.min(begin + hitsPerSlice, degrees.length)
  if (degreePlace(degrees[end - 1] ?? 0) === place) return end
  return firstIndex(begin + 1, end, (index) => degreePlace(degrees[index] ?? 0) !== place)
}

/** The verdict on each hit of a slice. A hot loop. */
function verdictsOf(numbers: Int32Array, groups: readonly FoundGroup[]): Uint8Array {
  const greatest = groups.reduce((most, { number }) => Math.max(most, number), 0)
  const verdictOfGroup = new Uint8Array(greatest + 1)
  for (const { number, common } of groups) verdictOfGroup[number] = common?.verdict ?? isOut
  const verdicts = new Uint8Array(numbers.length)
  for (let at = 0; at < numbers.length; at += 1) verdicts[at] = verdictOfGroup[numbers[at] ?? 0] ?? isOut
  return verdicts
}

function placesOf(verdict: number, verdicts: Uint8Array, begin: number): number[] {
  const places: number[] = []
  for (const [at, own] of verdicts.entries()) if (own === verdict) places.push(begin + at)
  return places
}

/** The numbers from 0 to before `end`, at the beginning of an array of length `room`. */
function allBelow(end: number, room: number): Int32Array {
  const kept = new Int32Array(room)
  for (let at = 0; at < end; at += 1) kept[at] = at
  return kept
}

/**
 * Counts a slice of which all hits are kept. A hot loop: degrees ascend, so it counts runs of equal degrees.
 */
function countWhole(
  { ids, degrees }: Pick<Hits, 'ids' | 'degrees'>,
  begin: number,
  end: number,
  tally: Counts
): void {
  let { fingerprint } = tally
  for (let at = begin; at < end;) {
    const runBegin = at
    const degree = degrees[at] ?? 0
    for (; at < end && (degrees[at] ?? 0) === degree; at += 1)
      fingerprint = mixHit(fingerprint, ids[at] ?? 0, degree)
    tally.byDegree[degree] = (tally.byDegree[degree] ?? 0) + at - runBegin
  }
  if (tally.kept !== null) for (let at = begin; at < end; at += 1) tally.kept[tally.total + at - begin] = at
  tally.fingerprint = fingerprint
  tally.total += end - begin
}

/** Counts a slice of which some hits are kept. */
function countKept(
  { ids, degrees }: Pick<Hits, 'ids' | 'degrees'>,
  begin: number,
  end: number,
  verdicts: Uint8Array,
  tally: Counts
): void {
  const { kept, byDegree } = tally
  let { total, fingerprint } = tally
  for (let at = begin; at < end; at += 1) {
    if (verdicts[at - begin] !== isIn) continue
    const degree = degrees[at] ?? 0
    if (kept !== null) kept[total] = at
    total += 1
    fingerprint = mixHit(fingerprint, ids[at] ?? 0, degree)
    byDegree[degree] = (byDegree[degree] ?? 0) + 1
  }
  tally.total = total
  tally.fingerprint = fingerprint
}

/** One number for each degree that filters distinguish, and 0 for hits without a degree. */
const degreePlaces = degreeValues.length + 1
const degreePlace = (degree: number): number => Math.min(degree, degreePlaces - 1)

/** A class at one of these degrees, and how many of its hits were kept. */
type Common = { entityClass: EntityClass; facts: CommonFacts; verdict: number; count: number }

/** Judges each class at each of these degrees when it first occurs. */
class CommonTable {
  /** The facts by degree, then by class. */
  readonly #known: Common[][] = []
  readonly #met: Common[] = []
  readonly #question: HitFilters
  readonly #judge: FactsMatcher

  constructor(question: HitFilters, matcher: FactsMatcher) {
    this.#question = question
    this.#judge = matcher
  }

  of(entityClass: EntityClass, degree: number): Common {
    const ofDegree = (this.#known[degreePlace(degree)] ??= [])
    const known = ofDegree[entityClass.index]
    if (known) return known
    const facts = factsOf(entityClass, degree)
    const common = {
      entityClass,
      facts,
      verdict: verdictOn(this.#question, this.#judge, facts, entityClass),
      count: 0
    }
    ofDegree[entityClass.index] = common
    this.#met.push(common)
    return common
  }

  counted(): Tally['byClass'] {
    return this.#met
      .filter(({ count }) => count > 0)
      .map(({ entityClass, facts: { degree }, count }) => ({ entityClass, degree, count }))
  }
}

export const factsOf = (
  { entityType, platformUrn, origin, isRemoved, domainId }: EntityClass,
  degree: number
): CommonFacts => ({ entityType, platformUrn, origin, isRemoved, domainId, degree: degreeValueOf(degree) })

/** Whether all entities of a class are kept, or none; null if each must be judged. */
export function keepsClass(
  question: HitFilters,
  matcher: FactsMatcher,
  entityClass: EntityClass
): boolean | null {
  const verdict = verdictOn(question, matcher, factsOf(entityClass, 0), entityClass)
  return verdict === isOpen ? null : verdict === isIn
}

function verdictOn(
  { includesRemoved, types, text, existingOnly }: HitFilters,
  matcher: FactsMatcher,
  facts: CommonFacts,
  { exists }: EntityClass
): number {
  if (existingOnly && !exists) return isOut
  if (facts.isRemoved && !includesRemoved) return isOut
  if (types && !types.has(graphqlTypeOf(facts.entityType))) return isOut
  const verdict = matcher.common(facts)
  if (verdict === false) return isOut
  return verdict === null || text !== null ? isOpen : isIn
}

/** Tests whether an entity has edges in a direction, to existing entities or not. Null if no direction is asked for. */
export async function edgeTest(
  reader: Pick<LineageReader, 'neighbours'>,
  ids: readonly number[],
  directions: readonly LineageDirection[]
): Promise<((id: number, direction: LineageDirection) => boolean) | null> {
  if (directions.length === 0) return null
  const have = new Map<LineageDirection, Set<number>>()
  for (const direction of directions) {
    const [assetsOf, columnsOf] = [
      await reader.neighbours(ids, direction, 'asset'),
      await reader.neighbours(ids, direction, 'column')
    ]
    have.set(direction, new Set(ids.filter((id) => assetsOf(id).length > 0 || columnsOf(id).length > 0)))
  }
  return (id, direction) => have.get(direction)?.has(id) === true
}

/** Judges hits by their URNs and documents, a few at a time because documents may be large. */
async function matchOwnFacts(
  reader: LineageReader,
  { text }: HitFilters,
  matcher: FactsMatcher,
  { ids }: Pick<Hits, 'ids'>,
  places: readonly number[],
  factsAt: (place: number) => CommonFacts | null,
  tell: (place: number, holds: boolean) => void
): Promise<void> {
  const aspectNames = [...new Set([...matcher.aspectNames, ...(text === null ? [] : textAspectNames)])]
  const count = aspectNames.length > 0 ? documentsSliceCount : urnsSliceCount
  for (let begin = 0; begin < places.length; begin += count) {
    const slice = places.slice(begin, begin + count)
    const wanted = slice.map((place) => ids[place] ?? 0)
    const urnOf = await reader.urns(wanted)
    const documentsOf = await reader.documents(wanted, aspectNames)
    const hasEdges = await edgeTest(reader, wanted, matcher.edges)
    for (const [index, place] of slice.entries()) {
      if (index % hitsPerPause === 0) await reader.pause()
      const id = ids[place] ?? 0
      const [common, urn] = [factsAt(place), urnOf(id)]
      if (!common || urn === null) {
        tell(place, false)
        continue
      }
      const candidate: Candidate = {
        common,
        urn,
        documents: documentsOf.get(id) ?? new Map(),
        hasEdges: hasEdges && ((direction) => hasEdges(id, direction))
      }
      tell(
        place,
        (text === null || findText(text, urn, candidate.documents).length > 0) && matcher.whole(candidate)
      )
    }
    await reader.pause()
  }
}

/**
 * One step of FNV-1a over a hit as a whole number. It depends on the order, and changes with every result.
 */
const mixHit = (hash: number, id: number, degree: number): number =>
  Math.imul(hash ^ id ^ Math.imul(degree, 0x9e3779b1), 0x01000193) >>> 0
