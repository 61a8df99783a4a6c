/**
 * Finds the entities of a question: by their documents if it has words or values, otherwise among all.
 * Filters are applied as to the results of a walk.
 *
 * A sample of one document in sixty-four estimates the number of matches. Up to searchExactMaxCount matches
 * are all read, and the result is exact. If there are more, the total is the sample's estimate, and a page
 * has the entities whose name is the text, then others by id: words that many documents contain are soon
 * found by a scan along the ids.
 */
import { firstAtLeast } from '../../model/first-index.ts'
import type { Tx } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import { keyQuery, nameKey } from '../../model/search-vector.ts'
import type { WithinDeadline } from '../../store/deadline.ts'
import {
  findAllMatches,
  findMatches,
  findMatchesAmong,
  findMatchesBetween,
  findSampledMatches,
  lastDocumentId,
  preferWay,
  sampleShare
} from '../../store/search-documents.ts'
import { idsOfClasses, type Counted } from '../lineage/lineage-facets.ts'
import { matcherOf } from '../lineage/lineage-filters.ts'
import type { EntityClass, LineageReader } from '../lineage/lineage-reader.ts'
import type { EntityQuestion } from './search-question.ts'
import { keepsClass, filterHits, type FilteredHits } from '../lineage/filter-hits.ts'
import { inSlice } from '../entities/slice.ts'

export type FoundEntities = {
  /** The kept ids in the order of the question: best first, or by id. */
  ids: Int32Array
  /** Number of results; an estimate if `isEstimate`, and then `ids` has only some of them. */
  total: number
  counted: Counted
  isEstimate: boolean
}

/** Overrides limits.ts in tests. */
export type FindOptions = { exactMaxCount?: number }

type Wanted = { ranked: boolean; wantedCount: number }

export const searchTookTooLong = 'The search took longer than allowed; narrow it down'

/**
 * Throws DEADLINE_EXCEEDED. With `ranked` false, ids ascend. For a question without words, and for an
 * estimate, returns `wantedCount` ids if there are that many.
 */
export async function findEntitiesOf(
  reader: LineageReader,
  question: EntityQuestion,
  wanted: Wanted,
  options: FindOptions
): Promise<FoundEntities> {
  const { wantedCount } = wanted
  const exactMaxCount = options.exactMaxCount ?? limits.searchExactMaxCount
  const { words } = question
  if (words === null || words === '')
    return (
      (await findByClass(reader, question, 0, wantedCount)) ??
      filterMatches(reader, question, await plainCandidates(reader, question))
    )
  const { sample, matches, namesakes, lastId } = await lookUp(reader, question, words, wanted, exactMaxCount)
  if (matches) return filterMatches(reader, question, matches)
  const sampled = inSlice(question.slice, sample)
  const filtered = await filterHits(reader, question, hitsOf(sampled))
  const total = Math.max(filtered.total * sampleShare, 1)
  const ids =
    wantedCount === 0
      ? new Int32Array(0)
      : await firstOf(reader, question, namesakes, lastId, { count: wantedCount, total })
  return {
    ids,
    // If there are fewer than requested, these are all.
    total: ids.length < wantedCount ? ids.length : Math.max(ids.length, total),
    counted: {
      byClass: filtered.tally.byClass.map((entry) => ({ ...entry, count: entry.count * sampleShare })),
      members: async (keeps) => ({
        ids: await idsOfClasses(reader, keptIds(sampled, filtered), keeps),
        share: sampleShare
      })
    },
    isEstimate: true
  }
}

type LookedUp = {
  sample: Int32Array
  matches: Int32Array | null
  namesakes: Int32Array
  lastId: number
}

/**
 * Reads what depends on the words, in one transaction: `matches` if there are few enough, otherwise what the
 * first page of an estimate needs.
 */
function lookUp(
  reader: LineageReader,
  question: EntityQuestion,
  words: string,
  { ranked, wantedCount }: Wanted,
  exactMaxCount: number
): Promise<LookedUp> {
  const { foldedText } = question
  return asked(reader, async (tx, within) => {
    const sample = await within(() => findSampledMatches(tx, words))
    const isMany = sample.length * sampleShare > exactMaxCount * surelyMore
    const matches = isMany
      ? null
      : await within(() => findAllMatches(tx, words, ranked ? foldedText : null, exactMaxCount))
    if (matches || wantedCount === 0) return { sample, matches, namesakes: new Int32Array(0), lastId: 0 }
    const lastId = await within(() => lastDocumentId(tx))
    const namesakes =
      ranked && foldedText !== null && foldedText !== ''
        ? await namesakesOf(tx, within, words, foldedText)
        : new Int32Array(0)
    return { sample, matches, namesakes, lastId }
  })
}

/**
 * The entities whose name is the text and that match `words`. Each is tested by its id, because looking up
 * the prefix in `words` would read everything that begins with it. This sets the plan of the transaction, so
 * no other lookup may follow.
 */
async function namesakesOf(
  tx: Tx,
  within: WithinDeadline,
  words: string,
  foldedText: string
): Promise<Int32Array> {
  const named = await within(() =>
    findMatches(tx, keyQuery(nameKey(foldedText)), foldedText, namesakesMaxCount)
  )
  if (named.length === 0) return named
  await preferWay(within, 'byId')
  const matches = new Set(await within(() => findMatchesAmong(tx, words, named)))
  return named.filter((id) => matches.has(id))
}

/** At most this many entities are judged by their own facts beside those that are judged by their class. */
const openMaxCount = 20_000

/**
 * The result if facts that entities share decide about almost all of them: containers and runs have their
 * platform in an aspect. Null otherwise. The total is that of all only if `after` is 0.
 */
async function findByClass(
  reader: LineageReader,
  question: EntityQuestion,
  after: number,
  count: number
): Promise<FoundEntities | null> {
  if (question.words !== null || question.urn !== null || question.slice !== null || reader.census === null)
    return null
  const matcher = await matcherOf(reader, question.filters)
  const census = await reader.census()
  const verdicts = new Map(
    census.byClass.map(({ entityClass }) => [entityClass, keepsClass(question, matcher, entityClass)])
  )
  const isOpen = (entityClass: EntityClass): boolean => verdicts.get(entityClass) === null
  const openCount = census.byClass.reduce(
    (sum, { entityClass, count: own }) => sum + (isOpen(entityClass) ? own : 0),
    0
  )
  if (openCount > openMaxCount) return null
  const open =
    openCount === 0 ? null : await filterMatches(reader, question, await census.ids(isOpen, after, openCount))
  const keeps = (entityClass: EntityClass): boolean => verdicts.get(entityClass) === true
  const byClass = census.byClass
    .filter(({ entityClass }) => keeps(entityClass))
    .map((entry) => ({ ...entry, degree: null }))
  const decided = await census.ids(keeps, after, count)
  return {
    ids: open ? merged(decided, open.ids).subarray(0, count) : decided,
    total: byClass.reduce((sum, entry) => sum + entry.count, 0) + (open?.total ?? 0),
    counted: {
      byClass: [...byClass, ...(open?.counted.byClass ?? [])],
      async members(wants) {
        const ids = await census.ids(
          (entityClass) => keeps(entityClass) && wants(entityClass),
          0,
          Number.MAX_SAFE_INTEGER
        )
        return { ids: open ? merged(ids, (await open.counted.members(wants)).ids) : ids, share: 1 }
      }
    },
    isEstimate: false
  }
}

/** Ascending ids of two lists. */
const merged = (a: Int32Array, b: Int32Array): Int32Array => Int32Array.from([...a, ...b]).sort()

/**
 * If the sample's estimate is this many times searchExactMaxCount, matches are not counted: the estimate is
 * then nine standard deviations above the maximum.
 */
const surelyMore = 2
/** Number of entities looked up whose name is the text. */
const namesakesMaxCount = 1_000

async function firstOf(
  reader: LineageReader,
  question: EntityQuestion,
  named: Int32Array,
  lastId: number,
  { count, total }: { count: number; total: number }
): Promise<Int32Array> {
  const namesakes = named.length === 0 ? named : (await filterMatches(reader, question, named)).ids
  if (namesakes.length >= count) return namesakes.subarray(0, count)
  const isNamesake = new Set(namesakes)
  const others = await findEntitiesAfter(reader, question, 0, { count, total, lastId })
  return Int32Array.from([...namesakes, ...others.filter((id) => !isNamesake.has(id))].slice(0, count))
}

/**
 * The next entities after an id, by id: at least `count` unless there are no more. For questions with too
 * many matches to read at once. `lastId` is the greatest id with a document, if the caller knows it.
 */
export async function findEntitiesAfter(
  reader: LineageReader,
  question: EntityQuestion,
  after: number,
  { count, total, lastId: knownLastId }: { count: number; total: number; lastId?: number }
): Promise<Int32Array> {
  const { words } = question
  if (words === null || words === '')
    return (
      (await findByClass(reader, question, after, count))?.ids ??
      keptAfter(reader, question, await plainCandidates(reader, question), after, count)
    )
  const lastId = knownLastId ?? (await asked(reader, (tx, within) => within(() => lastDocumentId(tx))))
  const ids: number[] = []
  const perMatch = lastId / Math.max(1, total)
  const isNear = perMatch <= walkedPerMatchMax || count * perMatch <= walkedMaxCount
  // Entities loaded together have neighbouring ids, so all matches may be far from this id.
  const walkedEnd = after + walkedTimes * Math.max(walkedMaxCount, count * perMatch)
  let [from, span] = [after, Math.max(spanMinCount, Math.ceil(1.2 * count * perMatch))]
  while (from < lastId && ids.length < count) {
    const way = isNear && from < walkedEnd ? 'byId' : 'byWord'
    const lastOfWay = way === 'byId' ? Math.min(lastId, walkedEnd) : lastId
    const [first, firstSpan, missing] = [from, span, count - ids.length]
    const read = await asked(
      reader,
      async (tx, within) => {
        // Spans until there are enough, in one transaction: each transaction costs four round trips more.
        const matches: Int32Array[] = []
        let [begin, next, found] = [first, firstSpan, 0]
        while (begin < lastOfWay && found < missing) {
          const [above, last] = [begin, Math.min(lastId, begin + next)]
          const some = await within(() => findMatchesBetween(tx, words, above, last))
          matches.push(some)
          found += some.length
          begin = last
          next = way === 'byId' ? Math.max(next, Math.min(next * 2, spanMaxCount)) : next * 2
        }
        return { matches, from: begin, span: next }
      },
      way
    )
    // Filtered after the transaction, because filtering may take a connection: all of them could be held by
    // searches that wait for a second one.
    for (const matches of read.matches)
      for (const id of (await filterMatches(reader, question, matches)).ids) ids.push(id)
    from = read.from
    span = read.span
  }
  return Int32Array.from(ids)
}

/**
 * Ids are scanned in order if at most this many are scanned per match, or this many in total. At a million
 * documents, looking up a frequent word takes 20 ms before the first match; scanning 5,000 documents takes 15
 * ms.
 */
const walkedPerMatchMax = 50
const walkedMaxCount = 5_000
/** A scan that is this many times longer than expected continues by word. */
const walkedTimes = 4
const spanMinCount = 1_000
/** Matches may be close together and far ahead, so a span is never longer than this. */
const spanMaxCount = 65_536
/** Ids filtered at a time, because the first ones may already be enough. */
const documentsPerSlice = 20_000

async function keptAfter(
  reader: LineageReader,
  question: EntityQuestion,
  all: Int32Array,
  after: number,
  count: number
): Promise<Int32Array> {
  const ids: number[] = []
  for (
    let begin = firstAtLeast(all, after + 1);
    begin < all.length && ids.length < count;
    begin += documentsPerSlice
  )
    ids.push(...(await filterMatches(reader, question, all.subarray(begin, begin + documentsPerSlice))).ids)
  return Int32Array.from(ids)
}

async function plainCandidates(reader: LineageReader, { urn, words }: EntityQuestion): Promise<Int32Array> {
  if (words === '') return new Int32Array(0)
  if (urn === null) return reader.everyone()
  return Int32Array.from([...(await reader.find([urn])).values()].flatMap(({ id }) => id ?? []))
}

/** Runs statements that look up matches, by id or by word. */
export const asked = <Result>(
  reader: LineageReader,
  work: (tx: Tx, within: WithinDeadline) => Promise<Result>,
  way: 'byId' | 'byWord' = 'byWord'
): Promise<Result> =>
  reader.inSql(searchTookTooLong, async (tx, within) => {
    await preferWay(within, way)
    return work(tx, within)
  })

const hitsOf = (ids: Int32Array): { ids: Int32Array; degrees: Uint16Array } => ({
  ids,
  degrees: new Uint16Array(ids.length)
})

/** The ids that match the question, in their order. */
export async function filterMatches(
  reader: LineageReader,
  question: EntityQuestion,
  all: Int32Array
): Promise<FoundEntities> {
  const candidates = inSlice(question.slice, all)
  const filtered = await filterHits(reader, question, hitsOf(candidates))
  const ids = keptIds(candidates, filtered)
  return {
    ids,
    total: filtered.total,
    counted: {
      byClass: filtered.tally.byClass,
      members: async (keeps) => ({ ids: await idsOfClasses(reader, ids, keeps), share: 1 })
    },
    isEstimate: false
  }
}

const keptIds = (ids: Int32Array, filtered: FilteredHits): Int32Array =>
  filtered.kept === null ? ids : filtered.kept.map((index) => ids[index] ?? 0)
