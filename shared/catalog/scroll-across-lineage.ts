/**
 * Searches across lineage: everything that is reached from a start, filtered, nearest first, a page at a time.
 *
 * Walk, filters, total and page are of one snapshot. Each page walks anew from the start; results are ordered by
 * (degree, id), so a page goes on where the last one ended whatever has changed meanwhile, and says so if it has.
 */
import type { Db, Tx } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'
import { limits } from '../limits.ts'
import { graphqlTypeOf } from '../model/entity-types.ts'
import { keepDeadline, type WithinDeadline } from '../store/deadline.ts'
import { findKnownEntities, parentIdsOf, readDocuments, readEntityFacts, type EntityFacts } from '../store/entity-reads.ts'
import type { Walk, WalkBounds } from '../model/walk.ts'
import { walkLineage } from '../store/lineage-walk.ts'
import { findText, textAspectNames, type MatchedField } from './entity-texts.ts'
import type { Candidate } from './filter-fields.ts'
import { facetCounter, type Facet } from './lineage-facets.ts'
import { hopsWanted, judgeOf, needsOf } from './lineage-filters.ts'
import { everyEntity, foldedToAssets, type Hits } from './lineage-hits.ts'
import { readPaths } from './lineage-paths.ts'
import { entityNotFound, type EntityReference } from './read-entity.ts'
import { checkQuestion, type ScrollInput, type ScrollQuestion } from './scroll-question.ts'
import { printCursor } from './scroll-cursor.ts'

export type LineageResult = {
  entity: EntityReference
  degree: number
  /** The degree; for an asset that stands for columns, those of all of them. */
  degrees: number[]
  /** From the start to the entity, or to each column of it; empty unless paths were wished for. */
  paths: EntityReference[][]
  matchedFields: MatchedField[]
  /** Whether the walk went on from here. */
  isExplored: boolean
}

/** Whether the answer is the whole answer, and why not. */
export type LineageReport = {
  complete: boolean
  cutBy: Walk['cutBy']
  /** Hops followed and entities reached, before any filter. */
  hops: number
  reached: number
  /** True where the results are no longer those that the scroll began with. */
  changedSinceFirstPage: boolean
  /** Inputs that were accepted and have no effect. */
  withoutEffect: readonly string[]
}

export type LineagePage = { nextScrollId: string | null, total: number, results: LineageResult[], facets: Facet[] | null, report: LineageReport }

/** What the caller will show; what is not wished for is not read. */
export type ScrollWishes = { facets: boolean, paths: boolean }

const walkBounds: WalkBounds = { maxHops: limits.walkMaxHops, maxEntities: limits.walkMaxEntities }
const tookTooLong = 'The lineage walk took longer than allowed; ask for fewer hops (a filter on degree) or begin nearer to what you look for'

/** Results judged at a time: facts alone are small, documents may be large. */
const factsSliceCount = 5_000
const documentsSliceCount = 500
/** Hits whose URNs are read with their facts: cheaper than to ask again for those of the page. */
const smallCount = 1_000

/**
 * One page. Throws what checkQuestion throws, NOT_FOUND for a start that does not exist, DEADLINE_EXCEEDED after
 * walkDeadlineMs, LIMIT_EXCEEDED where the paths of a page are too long.
 */
export async function scrollAcrossLineage(db: Db, input: ScrollInput, wishes: ScrollWishes, bounds: WalkBounds = walkBounds): Promise<LineagePage> {
  const question = checkQuestion(input)
  return inTransaction(db, (tx) => answer(tx, question, wishes, bounds), { readOnly: true, isolation: 'repeatable read' })
}

async function answer(tx: Tx, question: ScrollQuestion, wishes: ScrollWishes, bounds: WalkBounds): Promise<LineagePage> {
  const start = (await findKnownEntities(tx, [question.startUrn])).get(question.startUrn)
  if (!start) throw entityNotFound(question.startUrn, 'input.urn')
  const withinDeadline = keepDeadline(tx, limits.walkDeadlineMs, tookTooLong)
  const walk = await walkLineage(tx, {
    startIds: start.id === null ? [] : [start.id],
    direction: question.direction,
    level: question.level,
    hopsWanted: hopsWanted(question.filters),
    bounds,
    withinDeadline
  })
  const hits = question.foldsColumns ? foldedToAssets(walk, await withinDeadline(() => parentIdsOf(tx, walk.ids))) : everyEntity(walk)
  const { kept, total, fingerprint, facets } = await sift(tx, question, hits, wishes, withinDeadline)
  const page = kept.slice(0, question.count)
  const paths = wishes.paths ? await withinDeadline(() => readPaths(tx, start, walk, page.map((hit) => hits.placesOf(hit.index)))) : []
  const references = await withinDeadline(() => referencesTo(tx, page))
  const last = page.at(-1)
  const first = question.after?.fingerprint ?? fingerprint
  return {
    nextScrollId: last && kept.length > page.length ? printCursor({ degree: last.degree, id: last.id, fingerprint: first }, question.identity) : null,
    total,
    results: page.flatMap((hit, at) => {
      const entity = references.get(hit.id)
      return entity ? [{ ...shapeOf(hit, walk, hits), entity, paths: paths[at] ?? [] }] : []
    }),
    facets,
    report: {
      complete: walk.cutBy === null,
      cutBy: walk.cutBy,
      hops: walk.hops,
      reached: walk.ids.length,
      changedSinceFirstPage: first !== fingerprint,
      withoutEffect: question.withoutEffect
    }
  }
}

type Hit = { index: number, degree: number, id: number, facts: EntityFacts, matchedFields: MatchedField[] }

const shapeOf = (hit: Hit, walk: Walk, hits: Hits): Omit<LineageResult, 'entity' | 'paths'> => ({
  degree: hit.degree,
  degrees: [...new Set(hits.placesOf(hit.index).map((place) => walk.degrees[place] ?? 0))],
  matchedFields: hit.matchedFields,
  isExplored: hit.degree < walk.hops
})

/** What results show. Their URNs are read now where judging them did without. */
async function referencesTo(tx: Tx, page: readonly Hit[]): Promise<Map<number, EntityReference>> {
  const isRead = page.every(({ facts }) => facts.urn !== '')
  const facts = isRead ? new Map(page.map((hit) => [hit.id, hit.facts])) : await readEntityFacts(tx, page.map((hit) => hit.id), { urns: true, domains: false })
  return new Map([...facts].map(([id, { urn, exists }]) => [id, { urn, exists }]))
}

/** Judges every hit; keeps those of the page and one more, to know whether there is a next page. */
async function sift(tx: Tx, question: ScrollQuestion, hits: Hits, wishes: ScrollWishes, withinDeadline: WithinDeadline) {
  const judge = await withinDeadline(() => judgeOf(tx, question.filters))
  const needs = needsOf(question.filters)
  const counts = wishes.facets && question.wantsFacets ? facetCounter(question.facetValuesMaxCount) : null
  const isSmall = hits.ids.length <= smallCount
  const wants = { urns: isSmall || needs.urns || question.text !== null || counts !== null, domains: needs.domains }
  const aspectNames = [...new Set([...needs.aspectNames, ...(question.text === null ? [] : textAspectNames)])]
  const sliceCount = aspectNames.length > 0 ? documentsSliceCount : factsSliceCount
  const kept: Hit[] = []
  let total = 0
  let fingerprint = 0x811c9dc5

  for (let begin = 0; begin < hits.ids.length; begin += sliceCount) {
    const ids = hits.ids.subarray(begin, begin + sliceCount)
    const facts = await withinDeadline(() => readEntityFacts(tx, ids, wants))
    const documents = await withinDeadline(() => readDocuments(tx, ids, aspectNames))
    ids.forEach((id, at) => {
      const found = facts.get(id)
      const degree = hits.degrees[begin + at] ?? 0
      if (!found) return
      const candidate: Candidate = { ...found, degree, documents: documents.get(id) ?? new Map() }
      const matchedFields = matches(question, candidate)
      if (!matchedFields || !judge(candidate)) return
      total += 1
      fingerprint = mix(mix(fingerprint, id), degree)
      counts?.add(candidate)
      if (isAfter(question, degree, id) && kept.length <= question.count) kept.push({ index: begin + at, degree, id, facts: found, matchedFields })
    })
  }
  return { kept, total, fingerprint, facets: counts?.facets() ?? null }
}

/** Where the text was found in a result that is to be kept; null for one that is not. */
function matches(question: ScrollQuestion, candidate: Candidate): MatchedField[] | null {
  if (candidate.isRemoved && !question.includesRemoved) return null
  if (question.types && !question.types.has(graphqlTypeOf(candidate.entityType))) return null
  if (question.text === null) return []
  const found = findText(question.text, candidate.urn, candidate.documents)
  return found.length > 0 ? found : null
}

const isAfter = ({ after }: ScrollQuestion, degree: number, id: number): boolean =>
  after === null || degree > after.degree || (degree === after.degree && id > after.id)

/** One step of FNV-1a over a whole number: order matters, and a change of any result shows. */
const mix = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193) >>> 0
