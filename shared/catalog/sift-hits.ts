/**
 * Judges and counts what a walk found. What results have in common is judged once for all of them, so that a million
 * take milliseconds; only filters on what is an entity's own (texts, tags, custom properties) go entity by entity.
 */
import { graphqlTypeOf } from '../model/entity-types.ts'
import { findText, textAspectNames } from './entity-texts.ts'
import { degreeValueOf, degreeValues, type Candidate, type CommonFacts } from './filter-fields.ts'
import { judgeOf, type Filters, type Judge } from './lineage-filters.ts'
import type { Hits } from './lineage-hits.ts'
import type { ClassIndexes, EntityClass, LineageReader } from './lineage-reader.ts'

/** What to keep: everything must hold. */
export type SiftQuestion = {
  /** GraphQL types; null for all. */
  types: ReadonlySet<string> | null
  text: string | null
  filters: Filters
  includesRemoved: boolean
  /** Leaves out placeholders. */
  existingOnly?: boolean
}

/** Counts of what was kept, by what it has in common. */
export type Tally = {
  byClass: { entityClass: EntityClass, degree: CommonFacts['degree'], count: number }[]
  /** By exact degree: `byDegree[3]` have degree 3. */
  byDegree: number[]
}

export type Sifted = {
  total: number
  /** Indexes of the hits that were kept, in order; null for all of them, and where they were not wanted. */
  kept: Int32Array | null
  tally: Tally
  /** Changes when any result, its degree or the order of results does. */
  fingerprint: number
  /** Whether documents or URNs had to be read: then what was kept can change while the graph does not. */
  readsOwn: boolean
}

/** Hits between two turns of the event loop, and entities whose documents are in memory at once. */
const sliceCount = 5_000
const documentsSliceCount = 500

const [isOut, isIn, isOpen] = [1, 2, 3]
/** No class, or one that was not judged yet. */
const noPlace = 0

/** Throws DEADLINE_EXCEEDED. With `keeps` false no list is made of what is kept. */
export async function siftHits(reader: LineageReader, question: SiftQuestion, hits: Pick<Hits, 'ids' | 'degrees'>, { keeps = true } = {}): Promise<Sifted> {
  const judge = await judgeOf(reader, question.filters)
  const table = new CommonTable(question, judge)
  const { ids, degrees } = hits
  const verdicts = new Uint8Array(Math.min(sliceCount, ids.length))
  const places = new Int32Array(verdicts.length)
  const tally: Counts = { total: 0, fingerprint: 0x811c9dc5, kept: keeps ? new Int32Array(ids.length) : null, byDegree: new Uint32Array((degrees.at(-1) ?? 0) + 1) }
  let readsOwn = false

  for (let begin = 0; begin < ids.length; begin += sliceCount) {
    const end = Math.min(begin + sliceCount, ids.length)
    const openCount = table.judge(await reader.classIndexes(ids.subarray(begin, end)), degrees, begin, places, verdicts)
    if (openCount > 0) {
      readsOwn = true
      const open = Array.from(ids.subarray(begin, end).keys()).filter((index) => verdicts[index] === isOpen)
      await judgeOwn(reader, question, judge, hits, open.map((index) => begin + index), (at) => table.facts[places[at - begin] ?? 0] ?? null, (at, holds) => { verdicts[at - begin] = holds ? isIn : isOut })
    }
    countKept(hits, begin, end, verdicts, places, tally, table.counts)
    await reader.pause()
  }
  const { total, fingerprint, kept, byDegree } = tally
  return { total, kept: kept === null || total === ids.length ? null : kept.slice(0, total), tally: { byClass: table.counted(), byDegree: [...byDegree] }, fingerprint, readsOwn }
}

type Counts = { total: number, fingerprint: number, kept: Int32Array | null, byDegree: Uint32Array }

/** A hot loop: what was kept of a slice is counted. */
function countKept({ ids, degrees }: Pick<Hits, 'ids' | 'degrees'>, begin: number, end: number, verdicts: Uint8Array, places: Int32Array, tally: Counts, counts: Uint32Array): void {
  const { kept, byDegree } = tally
  let { total, fingerprint } = tally
  for (let at = begin; at < end; at += 1) {
    if (verdicts[at - begin] !== isIn) continue
    const degree = degrees[at] ?? 0
    if (kept !== null) kept[total] = at
    total += 1
    fingerprint = mix(mix(fingerprint, ids[at] ?? 0), degree)
    byDegree[degree] = (byDegree[degree] ?? 0) + 1
    const place = places[at - begin] ?? 0
    counts[place] = (counts[place] ?? 0) + 1
  }
  tally.total = total
  tally.fingerprint = fingerprint >>> 0
}

/** A table of classes at the three degrees that filters know: judged when they are first met, and counted. */
class CommonTable {
  readonly facts: CommonFacts[] = []
  /** By place: 0 is not judged yet. */
  #verdicts = new Uint8Array(64)
  counts = new Uint32Array(64)
  readonly #classes: EntityClass[] = []
  readonly #question: SiftQuestion
  readonly #judge: Judge

  constructor(question: SiftQuestion, judge: Judge) {
    this.#question = question
    this.#judge = judge
  }

  /** A hot loop: place and verdict of each of a slice that begins at `begin`. Gives how many must be judged on their own. */
  judge({ indexes, classAt }: ClassIndexes, degrees: Uint16Array, begin: number, places: Int32Array, verdicts: Uint8Array): number {
    let openCount = 0
    let known = this.#verdicts
    for (let at = 0; at < indexes.length; at += 1) {
      const index = indexes[at] ?? -1
      const degree = degrees[begin + at] ?? 0
      const place = index < 0 ? noPlace : index * degreeValues.length + (degree < degreeValues.length ? degree : degreeValues.length)
      let verdict = place < known.length ? known[place] ?? 0 : 0
      if (verdict === 0) {
        verdict = index < 0 ? isOut : this.#judgeAt(place, classAt(index), degree)
        known = this.#verdicts
      }
      places[at] = place
      verdicts[at] = verdict
      if (verdict === isOpen) openCount += 1
    }
    return openCount
  }

  #judgeAt(place: number, entityClass: EntityClass, degree: number): number {
    if (place >= this.#verdicts.length) {
      this.#verdicts = withRoom(this.#verdicts, new Uint8Array(place * 2))
      this.counts = withRoom(this.counts, new Uint32Array(place * 2))
    }
    const facts = factsOf(entityClass, degree)
    this.#classes[place] = entityClass
    this.facts[place] = facts
    return this.#verdicts[place] = verdictOn(this.#question, this.#judge, facts, entityClass)
  }

  counted(): Tally['byClass'] {
    return this.#classes.flatMap((entityClass, place) => {
      const [count, degree] = [this.counts[place] ?? 0, this.facts[place]?.degree ?? null]
      return count > 0 ? [{ entityClass, degree, count }] : []
    })
  }
}

function withRoom<Values extends Uint8Array | Uint32Array>(values: Values, larger: Values): Values {
  larger.set(values)
  return larger
}

const factsOf = ({ entityType, platformUrn, origin, isRemoved, domainId }: EntityClass, degree: number): CommonFacts =>
  ({ entityType, platformUrn, origin, isRemoved, domainId, degree: degreeValueOf(degree) })

/** Whether all entities of a class are kept, or none; null where each must be looked at. */
export function keepsClass(question: SiftQuestion, judge: Judge, entityClass: EntityClass): boolean | null {
  const verdict = verdictOn(question, judge, factsOf(entityClass, 0), entityClass)
  return verdict === isOpen ? null : verdict === isIn
}

function verdictOn({ includesRemoved, types, text, existingOnly }: SiftQuestion, judge: Judge, facts: CommonFacts, { exists }: EntityClass): number {
  if (existingOnly && !exists) return isOut
  if (facts.isRemoved && !includesRemoved) return isOut
  if (types && !types.has(graphqlTypeOf(facts.entityType))) return isOut
  const verdict = judge.common(facts)
  if (verdict === false) return isOut
  return verdict === null || text !== null ? isOpen : isIn
}

/** Whether something is upstream of an entity, existing or not. */
export async function upstreamTest(reader: Pick<LineageReader, 'neighbours'>, ids: readonly number[]): Promise<(id: number) => boolean> {
  const [assetsOf, columnsOf] = [await reader.neighbours(ids, 'UPSTREAM', 'asset'), await reader.neighbours(ids, 'UPSTREAM', 'column')]
  return (id) => assetsOf(id).length > 0 || columnsOf(id).length > 0
}

/** Judges hits by their URNs and documents, a few at a time: documents may be large. */
async function judgeOwn(
  reader: LineageReader, { text }: SiftQuestion, judge: Judge, { ids }: Pick<Hits, 'ids'>, places: readonly number[],
  factsAt: (place: number) => CommonFacts | null, tell: (place: number, holds: boolean) => void
): Promise<void> {
  const aspectNames = [...new Set([...judge.aspectNames, ...text === null ? [] : textAspectNames])]
  const count = aspectNames.length > 0 ? documentsSliceCount : sliceCount
  for (let begin = 0; begin < places.length; begin += count) {
    const slice = places.slice(begin, begin + count)
    const wanted = slice.map((place) => ids[place] ?? 0)
    const urnOf = await reader.urns(wanted)
    const documentsOf = await reader.documents(wanted, aspectNames)
    const hasUpstreams = judge.asksUpstreams ? await upstreamTest(reader, wanted) : null
    for (const place of slice) {
      const id = ids[place] ?? 0
      const [common, urn] = [factsAt(place), urnOf(id)]
      if (!common || urn === null) {
        tell(place, false)
        continue
      }
      const candidate: Candidate = { common, urn, documents: documentsOf.get(id) ?? new Map(), hasUpstreams: hasUpstreams?.(id) ?? null }
      tell(place, (text === null || findText(text, urn, candidate.documents).length > 0) && judge.whole(candidate))
    }
  }
}

/** One step of FNV-1a over a whole number: order matters, and a change of any result shows. */
const mix = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193)
