/** Reads which domains assets are in, and which assets are in domains: for many at once. */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { limits } from '../../limits.ts'
import { keepDeadline, type WithinDeadline } from '../../store/deadline.ts'
import {
  countChildDomains,
  countMembers,
  membersOfDomains,
  pageOfMembers,
  treesOfDomains,
  type DomainInside
} from '../../store/domain-reads.ts'
import { findEntities } from '../../store/entities.ts'
import { readEntityFacts } from '../../store/entity-reads.ts'
import { environmentOf, platformOf } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import type { MatchedField } from '../entities/entity-texts.ts'
import { readFilterDocuments } from '../lineage/filter-documents.ts'
import { entityFilterFields } from '../lineage/filter-fields.ts'
import {
  checkAllOf,
  filterValueCount,
  matcherOf,
  mentions,
  type FacetFilterInput,
  type Filters
} from '../lineage/lineage-filters.ts'
import { matchedFieldsOf } from '../search/matched-fields.ts'
import { checkEntityQuestion, type EntityQuestion } from '../search/search-question.ts'
import { findMatchesAmong } from '../../store/search-documents.ts'
import { findDomains, type EntitySources } from '../lineage/known-entities.ts'
import { pageCount, pageStart } from '../entities/page-count.ts'
import type { EntityReference } from '../lineage/read-entity.ts'
import { searchUnits } from '../lineage/read-work.ts'
import type { LineageSources } from '../lineage/with-lineage.ts'
import { edgeTest } from '../lineage/filter-hits.ts'
import { sqlLineageReader } from '../lineage/sql-lineage-reader.ts'

/** The domain of each asset, in the order of the URNs; null for an asset without one. */
export async function readDomainsOf(
  sources: EntitySources,
  urns: readonly Urn[]
): Promise<(EntityReference | null)[]> {
  const domains = await findDomains(sources, urns)
  return urns.map((urn) => domains.get(urn) ?? null)
}

/** The input as clients send it. */
export type DomainMembersInput = {
  query?: string | null
  start?: number | null
  count?: number | null
  filters?: readonly FacetFilterInput[] | null
  /** Whether assets of descendant domains also count. */
  includeDescendants?: boolean | null
}

type DomainMember = { entity: EntityReference; matchedFields: MatchedField[] }
export type DomainMembers = { start: number; count: number; total: number; members: DomainMember[] }

const membersDefaultCount = 20
const membersSliceCount = 500

/** The number of existing domains directly under each domain, in the order of the URNs. */
export async function readChildCounts(db: Db, urns: readonly Urn[]): Promise<number[]> {
  const idOf = new Map((await findEntities(db, urns)).map((row) => [row.urn, row.id]))
  const counts = await countChildDomains(db, [...idOf.values()])
  return urns.map((urn) => counts.get(idOf.get(urn) ?? 0) ?? 0)
}

/**
 * The assets in each domain, by id; with `includeDescendants`, also those in its descendants. Soft-deleted
 * assets are left out unless a filter includes them. Each domain that is searched or filtered is charged to
 * the request's budget like a search. Throws as pageCount, checkAllOf and the budget do, LIMIT_EXCEEDED for a
 * long text, DEADLINE_EXCEEDED.
 */
export async function readDomainMembers(
  { db, work }: Pick<LineageSources, 'db' | 'work'>,
  domainUrns: readonly Urn[],
  input: DomainMembersInput
): Promise<DomainMembers[]> {
  const page = {
    start: pageStart(input.start, 'input.start'),
    count: pageCount(input.count, 'input.count', membersDefaultCount, 0)
  }
  const sought = checkEntityQuestion({ query: input.query })
  const filters = checkAllOf(input.filters, entityFilterFields, 'input.filters')
  const isPlain = sought.terms === null && sought.urn === null && filters.length === 0
  const read = (): Promise<DomainMembers[]> =>
    inTransaction(
      db,
      async (tx) => {
        const idOf = new Map((await findEntities(tx, domainUrns)).map((row) => [row.urn, row.id]))
        const ids = [...idOf.values()]
        const inside = input.includeDescendants
          ? await treesOfDomains(tx, ids)
          : ids.map((id) => ({ domainId: id, insideId: id }))
        const found = isPlain
          ? await plainMembers(tx, inside, page)
          : await filteredMembers(tx, inside, page, sought, filters)
        return domainUrns.map(
          (urn) => found.get(idOf.get(urn) ?? 0) ?? { start: page.start, count: 0, total: 0, members: [] }
        )
      },
      { readOnly: true, isolation: 'repeatable read' }
    )
  if (isPlain || !work) return read()
  const units =
    searchUnits({
      wordCount: sought.terms?.length ?? 0,
      filterValueCount: filterValueCount(filters),
      isSorted: false,
      facets: false
    }) + (input.includeDescendants ? 3 : 0)
  return work.run(units * domainUrns.length, read)
}

type Page = { start: number; count: number }

/** Without a search text and filters, Postgres counts the assets and returns the page. */
async function plainMembers(
  tx: Tx,
  inside: readonly DomainInside[],
  { start, count }: Page
): Promise<Map<number, DomainMembers>> {
  const totals = await countMembers(tx, inside)
  const pages = new Map(
    [...totals].map(([id, total]): [number, DomainMembers] => [id, { start, count: 0, total, members: [] }])
  )
  const rows = count > 0 ? await pageOfMembers(tx, inside, start, count) : []
  for (const row of rows) {
    pages.get(row.domainId)?.members.push({ entity: { urn: row.urn, exists: row.exists }, matchedFields: [] })
  }
  for (const page of pages.values()) page.count = page.members.length
  return pages
}

/** The search among the assets. Everything matches if `terms` and `urn` are null. */
type Sought = Pick<EntityQuestion, 'terms' | 'urn' | 'words'>

async function filteredMembers(
  tx: Tx,
  inside: readonly DomainInside[],
  { start, count }: Page,
  sought: Sought,
  filters: Filters
): Promise<Map<number, DomainMembers>> {
  const withinDeadline = keepDeadline(
    tx,
    limits.walkDeadlineMs,
    'The search took longer than allowed; narrow it down'
  )
  const reader = sqlLineageReader(tx, null)
  const matcher = await withinDeadline(() => matcherOf(reader, filters))
  const includesRemoved = mentions(filters, 'removed')
  const pages = new Map<number, DomainMembers>()
  const onPages: { id: number; urn: Urn; member: DomainMember }[] = []
  const rows = await membersThatMatch(
    tx,
    await membersInside(tx, inside, withinDeadline),
    sought,
    withinDeadline
  )

  for (let begin = 0; begin < rows.length; begin += membersSliceCount) {
    const slice = rows.slice(begin, begin + membersSliceCount)
    const ids = slice.map((row) => row.id)
    const facts = await withinDeadline(() => readEntityFacts(tx, ids, { urns: true, domains: true }))
    const documents = await withinDeadline(() => readFilterDocuments(tx, ids, matcher.aspectNames))
    const hasEdges = await edgeTest(reader, ids, matcher.edges)
    for (const { domainId, id } of slice) {
      const found = facts.get(id)
      if (!found || (found.isRemoved && !includesRemoved)) continue
      const common = {
        ...found,
        platformUrn: platformOf(found.urn),
        origin: environmentOf(found.urn),
        degree: null
      }
      if (
        !matcher.whole({
          common,
          urn: found.urn,
          documents: documents.get(id) ?? new Map(),
          hasEdges: hasEdges && ((direction) => hasEdges(id, direction))
        })
      )
        continue
      const page = pages.get(domainId) ?? { start, count: 0, total: 0, members: [] }
      pages.set(domainId, page)
      page.total += 1
      if (page.total <= start || page.count >= count) continue
      page.count += 1
      const member: DomainMember = { entity: { urn: found.urn, exists: found.exists }, matchedFields: [] }
      page.members.push(member)
      onPages.push({ id, urn: found.urn, member })
    }
  }
  const matched = sought.terms ? await matchedFieldsOf(reader, sought.terms, onPages) : null
  for (const { id, member } of onPages) member.matchedFields = matched?.get(id) ?? []
  return pages
}

/** Each asset for each requested domain that contains it, by id. */
async function membersInside(
  tx: Tx,
  inside: readonly DomainInside[],
  withinDeadline: WithinDeadline
): Promise<{ domainId: number; id: number }[]> {
  const askedFor = new Map<number, number[]>()
  for (const { domainId, insideId } of inside)
    askedFor.set(insideId, [...(askedFor.get(insideId) ?? []), domainId])
  const rows = await withinDeadline(() => membersOfDomains(tx, [...askedFor.keys()]))
  return rows.flatMap(({ domainId, id }) =>
    (askedFor.get(domainId) ?? []).map((asked) => ({ domainId: asked, id }))
  )
}

async function membersThatMatch<Row extends { id: number }>(
  tx: Tx,
  rows: readonly Row[],
  { terms, urn, words }: Sought,
  withinDeadline: WithinDeadline
): Promise<readonly Row[]> {
  if (terms === null && urn === null) return rows
  const ids =
    urn !== null
      ? (await withinDeadline(() => findEntities(tx, [urn]))).map((row) => row.id)
      : words
        ? await withinDeadline(() =>
            findMatchesAmong(
              tx,
              words,
              rows.map((row) => row.id)
            )
          )
        : []
  const matches = new Set(ids)
  return rows.filter(({ id }) => matches.has(id))
}
