/**
 * Judges and counts what a walk found. What results have in common is judged once for all of them, so that a million
 * take milliseconds; only filters on what is an entity's own (texts, tags, custom properties) go entity by entity.
 */
import { graphqlTypeOf } from '../model/entity-types.ts'
import { findText, textAspectNames } from './entity-texts.ts'
import { degreeValueOf, degreeValues, type Candidate, type CommonFacts } from './filter-fields.ts'
import { judgeOf, type Filters, type Judge } from './lineage-filters.ts'
import type { Hits } from './lineage-hits.ts'
import type { EntityClass, LineageReader } from './lineage-reader.ts'

/** What to keep: everything must hold. */
export type SiftQuestion = {
  /** GraphQL types; null for all. */
  types: ReadonlySet<string> | null
  text: string | null
  filters: Filters
  includesRemoved: boolean
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
const noPlace = -1

/** Throws DEADLINE_EXCEEDED. With `keeps` false no list is made of what is kept. */
export async function siftHits(reader: LineageReader, question: SiftQuestion, hits: Pick<Hits, 'ids' | 'degrees'>, { keeps = true } = {}): Promise<Sifted> {
  const judge = await judgeOf(reader, question.filters)
  const table = commonTable(question, judge)
  const { ids, degrees } = hits
  const kept = keeps ? new Int32Array(ids.length) : null
  const byDegree = new Uint32Array((degrees.at(-1) ?? 0) + 1)
  const verdicts = new Uint8Array(Math.min(sliceCount, ids.length))
  const places = new Int32Array(verdicts.length)
  let total = 0
  let fingerprint = 0x811c9dc5
  let readsOwn = false

  for (let begin = 0; begin < ids.length; begin += sliceCount) {
    const end = Math.min(begin + sliceCount, ids.length)
    const classOf = await reader.classes(ids.subarray(begin, end))
    const open: number[] = []
    for (let at = begin; at < end; at += 1) {
      const entityClass = classOf(ids[at] ?? 0)
      const place = entityClass === null ? noPlace : table.placeOf(entityClass, degrees[at] ?? 0)
      const verdict = place === noPlace ? isOut : table.verdicts[place] ?? isOut
      places[at - begin] = place
      verdicts[at - begin] = verdict
      if (verdict === isOpen) open.push(at)
    }
    if (open.length > 0) {
      readsOwn = true
      await judgeOwn(reader, question, judge, hits, open, (at) => table.facts[places[at - begin] ?? 0] ?? null, (at, holds) => { verdicts[at - begin] = holds ? isIn : isOut })
    }
    for (let at = begin; at < end; at += 1) {
      if (verdicts[at - begin] !== isIn) continue
      const degree = degrees[at] ?? 0
      if (kept) kept[total] = at
      total += 1
      fingerprint = mix(mix(fingerprint, ids[at] ?? 0), degree)
      byDegree[degree] = (byDegree[degree] ?? 0) + 1
      table.count(places[at - begin] ?? 0)
    }
    await reader.pause()
  }
  return { total, kept: kept === null || total === ids.length ? null : kept.slice(0, total), tally: { byClass: table.counted(), byDegree: [...byDegree] }, fingerprint, readsOwn }
}

/** A table of classes at the three degrees that filters know: judged when they are first met, and counted. */
function commonTable(question: SiftQuestion, judge: Judge) {
  const verdicts: number[] = []
  const facts: CommonFacts[] = []
  const counts: number[] = []
  const classes: EntityClass[] = []
  return {
    verdicts,
    facts,
    placeOf(entityClass: EntityClass, degree: number): number {
      const place = entityClass.index * degreeValues.length + (degree < degreeValues.length ? degree : degreeValues.length) - 1
      if (verdicts[place] === undefined) {
        const own = factsOf(entityClass, degree)
        classes[place] = entityClass
        facts[place] = own
        verdicts[place] = verdictOn(question, judge, own)
        counts[place] = 0
      }
      return place
    },
    count(place: number): void { counts[place] = (counts[place] ?? 0) + 1 },
    counted: (): Tally['byClass'] => classes.flatMap((entityClass, place) => {
      const [count, degree] = [counts[place] ?? 0, facts[place]?.degree ?? null]
      return count > 0 ? [{ entityClass, degree, count }] : []
    })
  }
}

const factsOf = ({ entityType, platformUrn, origin, isRemoved, domainId }: EntityClass, degree: number): CommonFacts =>
  ({ entityType, platformUrn, origin, isRemoved, domainId, degree: degreeValueOf(degree) })

function verdictOn({ includesRemoved, types, text }: SiftQuestion, judge: Judge, facts: CommonFacts): number {
  if (facts.isRemoved && !includesRemoved) return isOut
  if (types && !types.has(graphqlTypeOf(facts.entityType))) return isOut
  const verdict = judge.common(facts)
  if (verdict === false) return isOut
  return verdict === null || text !== null ? isOpen : isIn
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
    for (const place of slice) {
      const id = ids[place] ?? 0
      const [common, urn] = [factsAt(place), urnOf(id)]
      if (!common || urn === null) {
        tell(place, false)
        continue
      }
      const candidate: Candidate = { common, urn, documents: documentsOf.get(id) ?? new Map() }
      tell(place, (text === null || findText(text, urn, candidate.documents).length > 0) && judge.whole(candidate))
    }
  }
}

/** One step of FNV-1a over a whole number: order matters, and a change of any result shows. */
const mix = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193) >>> 0
