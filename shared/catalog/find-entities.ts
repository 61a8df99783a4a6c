/**
 * Finds the entities that a question asks for: by their documents where words or values are sought, else among all, and
 * sifts them as results of a walk are sifted.
 *
 * Up to searchExactMaxCount documents that match are taken one by one: what is found of them is exact. Of more, so many
 * are taken, whichever Postgres meets first, and how many there are is told by a sample of one in sixteen.
 */
import type { Tx } from '../db/database.ts'
import { limits } from '../limits.ts'
import type { WithinDeadline } from '../store/deadline.ts'
import { findMatches, findMatchesBetween, findSampledMatches, lastDocumentId, preferIndexes, sampleShare } from '../store/search-documents.ts'
import type { LineageReader } from './lineage-reader.ts'
import type { EntityQuestion } from './search-question.ts'
import { siftHits, type Sifted, type Tally } from './sift-hits.ts'

export type FoundEntities = {
  /** Ids kept, in the order of the question: the best first, or by id. */
  ids: Int32Array
  /** How many there are; an estimate where `isEstimate`, and then `ids` are not all. */
  total: number
  tally: Pick<Tally, 'byClass'>
  isEstimate: boolean
}

/** `exactMaxCount` is searchExactMaxCount, but for tests. */
export type FindOptions = { exactMaxCount?: number }

const tookTooLong = 'The search took longer than allowed; narrow it down'

/** Throws DEADLINE_EXCEEDED. With `ranked` false ids ascend. */
export async function findEntitiesOf(reader: LineageReader, question: EntityQuestion, { ranked, exactMaxCount = limits.searchExactMaxCount }: FindOptions & { ranked: boolean }): Promise<FoundEntities> {
  const { words } = question
  if (words === null) return kept(reader, question, await plainCandidates(reader, question))
  if (words === '') return kept(reader, question, new Int32Array(0))
  const { matches, sample } = await asked(reader, async (tx, within) => {
    const found = await within(() => findMatches(tx, words, ranked ? question.foldedText : null, exactMaxCount + 1))
    return { matches: found, sample: found.length > exactMaxCount ? await within(() => findSampledMatches(tx, words)) : null }
  })
  const found = await kept(reader, question, matches)
  if (sample === null) return found
  const { total, tally } = await siftHits(reader, question, hitsOf(sample), { keeps: false })
  return {
    ids: found.ids,
    total: Math.max(found.total, total * sampleShare),
    tally: { byClass: tally.byClass.map((entry) => ({ ...entry, count: entry.count * sampleShare })) },
    isEstimate: true
  }
}

/** The next entities behind an id, by id: at least `count` unless there are no more. For questions whose matches are too many to be taken at once. */
export async function findEntitiesBehind(reader: LineageReader, question: EntityQuestion, after: number, count: number, total: number): Promise<Int32Array> {
  const { words } = question
  if (words === null || words === '') {
    const all = await plainCandidates(reader, question)
    return keptBehind(reader, question, all, after, count)
  }
  return asked(reader, async (tx, within) => {
    const lastId = await within(() => lastDocumentId(tx))
    const ids: number[] = []
    let [from, span] = [after, Math.max(spanMinCount, Math.ceil(1.5 * count * lastId / Math.max(1, total)))]
    while (from < lastId && ids.length < count) {
      const to = Math.min(lastId, from + span)
      const matches = await within(() => findMatchesBetween(tx, words, from, to))
      ids.push(...(await kept(reader, question, matches)).ids)
      from = to
      span *= 2
    }
    return Int32Array.from(ids)
  })
}

const spanMinCount = 20_000
/** Of a list that ends long before what is looked for, so many are sifted at a time. */
const sliceCount = 20_000

async function keptBehind(reader: LineageReader, question: EntityQuestion, all: Int32Array, after: number, count: number): Promise<Int32Array> {
  const ids: number[] = []
  for (let begin = placeBehind(all, after); begin < all.length && ids.length < count; begin += sliceCount) ids.push(...(await kept(reader, question, all.subarray(begin, begin + sliceCount))).ids)
  return Int32Array.from(ids)
}

/** The place of the first of ascending ids that is greater. */
export function placeBehind(ids: Int32Array, after: number): number {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] ?? 0) <= after) low = middle + 1
    else high = middle
  }
  return low
}

async function plainCandidates(reader: LineageReader, { urn, words }: EntityQuestion): Promise<Int32Array> {
  if (words === '') return new Int32Array(0)
  if (urn === null) return reader.everyone()
  return Int32Array.from([...(await reader.find([urn])).values()].flatMap(({ id }) => id ?? []))
}

/** Statements that look matches up. */
export const asked = <Result>(reader: LineageReader, work: (tx: Tx, within: WithinDeadline) => Promise<Result>): Promise<Result> =>
  reader.inSql(tookTooLong, async (tx, within) => {
    await preferIndexes(tx)
    return work(tx, within)
  })

const hitsOf = (ids: Int32Array): { ids: Int32Array, degrees: Uint16Array } => ({ ids, degrees: new Uint16Array(ids.length) })

/** Those of candidates that the question keeps, in their order. */
export async function kept(reader: LineageReader, question: EntityQuestion, candidates: Int32Array): Promise<FoundEntities> {
  const sifted = await siftHits(reader, question, hitsOf(candidates))
  return { ids: keptIds(candidates, sifted), total: sifted.total, tally: sifted.tally, isEstimate: false }
}

const keptIds = (ids: Int32Array, sifted: Sifted): Int32Array => sifted.kept === null ? ids : sifted.kept.map((index) => ids[index] ?? 0)
