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

/** Throws DEADLINE_EXCEEDED. With `keeps` false no list is made of what is kept. */
export async function siftHits(reader: LineageReader, question: SiftQuestion, hits: Pick<Hits, 'ids' | 'degrees'>, { keeps = true } = {}): Promise<Sifted> {
  const judge = await judgeOf(reader, question.filters)
  const verdictOf = commonVerdicts(question, judge)
  const { ids, degrees } = hits
  const kept = keeps ? new Int32Array(ids.length) : null
  const tally = counter()
  const verdicts = new Uint8Array(Math.min(sliceCount, ids.length))
  let total = 0
  let fingerprint = 0x811c9dc5
  let readsOwn = false

  for (let begin = 0; begin < ids.length; begin += sliceCount) {
    const end = Math.min(begin + sliceCount, ids.length)
    const classOf = await reader.classes(ids.subarray(begin, end))
    const open: number[] = []
    for (let at = begin; at < end; at += 1) {
      const entityClass = classOf(ids[at] ?? 0)
      const verdict = entityClass ? verdictOf(entityClass, degrees[at] ?? 0) : isOut
      verdicts[at - begin] = verdict
      if (verdict === isOpen) open.push(at)
    }
    if (open.length > 0) {
      readsOwn = true
      await judgeOwn(reader, question, judge, hits, open, classOf, (at, holds) => { verdicts[at - begin] = holds ? isIn : isOut })
    }
    for (let at = begin; at < end; at += 1) {
      if (verdicts[at - begin] !== isIn) continue
      const id = ids[at] ?? 0
      const degree = degrees[at] ?? 0
      if (kept) kept[total] = at
      total += 1
      fingerprint = mix(mix(fingerprint, id), degree)
      const entityClass = classOf(id)
      if (entityClass) tally.add(entityClass, degree)
    }
    await reader.pause()
  }
  return { total, kept: kept === null || total === ids.length ? null : kept.slice(0, total), tally: tally.result(), fingerprint, readsOwn }
}

/** Of a degree the filters know three values, so a class has three places in a list. */
const placeOf = (entityClass: EntityClass, degree: number): number => entityClass.index * degreeValues.length + (degree < degreeValues.length ? degree : degreeValues.length) - 1

/** Judges each class at each degree when it is first met, and remembers. */
function commonVerdicts(question: SiftQuestion, judge: Judge): (entityClass: EntityClass, degree: number) => number {
  const known: number[] = []
  return (entityClass, degree) => {
    const place = placeOf(entityClass, degree)
    return known[place] ??= verdictOn(question, judge, factsOf(entityClass, degree))
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
  reader: LineageReader, { text }: SiftQuestion, judge: Judge, { ids, degrees }: Pick<Hits, 'ids' | 'degrees'>, places: readonly number[],
  classOf: (id: number) => EntityClass | null, tell: (place: number, holds: boolean) => void
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
      const [entityClass, urn] = [classOf(id), urnOf(id)]
      if (!entityClass || urn === null) {
        tell(place, false)
        continue
      }
      const candidate: Candidate = { common: factsOf(entityClass, degrees[place] ?? 0), urn, documents: documentsOf.get(id) ?? new Map() }
      tell(place, (text === null || findText(text, urn, candidate.documents).length > 0) && judge.whole(candidate))
    }
  }
}

function counter() {
  const counts: number[] = []
  const classes: EntityClass[] = []
  const byDegree: number[] = []
  return {
    add: (entityClass: EntityClass, degree: number): void => {
      const place = placeOf(entityClass, degree)
      counts[place] = (counts[place] ?? 0) + 1
      byDegree[degree] = (byDegree[degree] ?? 0) + 1
      classes[entityClass.index] = entityClass
    },
    result: (): Tally => ({
      byClass: classes.flatMap((entityClass) => degreeValues.flatMap((degree, at) => {
        const count = counts[entityClass.index * degreeValues.length + at] ?? 0
        return count > 0 ? [{ entityClass, degree, count }] : []
      })),
      byDegree: Array.from(byDegree, (count) => count ?? 0)
    })
  }
}

/** One step of FNV-1a over a whole number: order matters, and a change of any result shows. */
const mix = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193) >>> 0
