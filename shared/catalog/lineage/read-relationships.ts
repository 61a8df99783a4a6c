/**
 * Reads relationships between entities: those of one entity by offset, and all that match a filter by cursor.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { checkCount } from '../../model/count-checks.ts'
import { findEntities } from '../../store/entities.ts'
import {
  anyRelationship,
  armsCount,
  countRelationships,
  pageOfRelationships,
  type Ends,
  type RelationshipFilter,
  type RelationshipKey,
  type RelationshipRow
} from '../../store/relationships.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { readVia } from './edge-via.ts'
import { pageCount, pageStart } from '../entities/page-count.ts'
import { parsePlace, printPlace } from './relationship-cursor.ts'
import type { Slice } from '../entities/slice.ts'

export type RelationshipDirection = 'INCOMING' | 'OUTGOING'

/**
 * An empty or absent list of types means all, and so does a list with `*`. OUTGOING relationships have the
 * entity as their source.
 */
export type RelatedInput = {
  direction: RelationshipDirection
  types?: readonly string[] | null
  relatedEntityTypes?: readonly string[] | null
  start?: number | null
  count?: number | null
  includeSoftDelete?: boolean | null
}

/** `via` are the jobs and queries that assert a lineage relationship. */
type Related = { type: string; urn: Urn; via: Urn[] }

export type RelatedPage = { start: number; count: number; total: number; relationships: Related[] }

/**
 * The relationships of each entity, in the order of the URNs, all of one snapshot. Unknown names of
 * relationships and entity types match nothing. `field` is the prefix of input names in errors. Throws
 * BAD_REQUEST, LIMIT_EXCEEDED.
 */
export async function readRelated(
  db: Db,
  urns: readonly Urn[],
  input: RelatedInput,
  { defaultCount, field = '' }: { defaultCount: number; field?: string }
): Promise<RelatedPage[]> {
  const page = {
    start: pageStart(input.start, `${field}start`),
    count: pageCount(input.count, `${field}count`, defaultCount, 0)
  }
  return inTransaction(
    db,
    async (tx) => {
      const pages: RelatedPage[] = []
      for (const urn of urns) pages.push(await relatedTo(tx, urn, input, page))
      return pages
    },
    { readOnly: true, isolation: 'repeatable read' }
  )
}

async function relatedTo(
  tx: Tx,
  urn: Urn,
  input: RelatedInput,
  { start, count }: { start: number; count: number }
): Promise<RelatedPage> {
  const isOutgoing = input.direction === 'OUTGOING'
  const ends = await endsOf(tx, [urn])
  const related = listed(input.relatedEntityTypes)
  const filter = {
    ...anyRelationship,
    types: typesOf(input.types),
    ...(isOutgoing
      ? { source: ends, destinationTypes: related }
      : { destination: ends, sourceTypes: related }),
    includesRemoved: input.includeSoftDelete ?? true
  }
  const rows: RelationshipRow[] = []
  let total = 0
  for (let arm = 0; arm < armsCount; arm += 1) {
    const offset = Math.max(0, start - total)
    const wanted = count - rows.length
    const found =
      wanted > 0 ? await pageOfRelationships(tx, arm, filter, { after: null, offset, count: wanted }) : []
    rows.push(...found)
    // A first page that is not full contains the whole arm, so counting is not needed.
    total += offset === 0 && found.length < wanted ? found.length : await countRelationships(tx, arm, filter)
  }
  const viaOf = await readVias(tx, rows)
  return {
    start,
    count: rows.length,
    total,
    relationships: rows.map((row) => ({
      type: row.type,
      urn: isOutgoing ? row.destinationUrn : row.sourceUrn,
      via: viaOf(row)
    }))
  }
}

export type ScrolledRelationship = { type: string; sourceUrn: Urn; destinationUrn: Urn; via: Urn[] }

export type RelationshipScroll = { scrollId: string | null; relationships: ScrolledRelationship[] }

/** An absent list does not restrict anything. */
export type ScrollInput = {
  types?: readonly string[] | null
  sourceUrns?: readonly string[] | null
  destinationUrns?: readonly string[] | null
  sourceTypes?: readonly string[] | null
  destinationTypes?: readonly string[] | null
  includeSoftDelete?: boolean | null
  slice?: Slice | null
  count?: number | null
  scrollId?: string | null
}

/**
 * The relationships that match all parts of the input, each once, however often it is asserted. Relationships
 * written during a scroll may be missing from it. Throws BAD_REQUEST, LIMIT_EXCEEDED, INVALID_URN.
 */
export async function scrollRelationships(db: Db, input: ScrollInput): Promise<RelationshipScroll> {
  const count = pageCount(input.count, 'count')
  const sources = urnsOf(input.sourceUrns, 'sourceUrns')
  const destinations = urnsOf(input.destinationUrns, 'destinationUrns')
  return inTransaction(
    db,
    async (tx) => {
      const filter = {
        ...anyRelationship,
        types: typesOf(input.types),
        source: sources && (await endsOf(tx, sources)),
        destination: destinations && (await endsOf(tx, destinations)),
        sourceTypes: listed(input.sourceTypes),
        destinationTypes: listed(input.destinationTypes),
        includesRemoved: input.includeSoftDelete ?? false,
        slice: input.slice ?? null
      }
      const { rows, scrollId } = await scroll(
        tx,
        filter,
        count,
        input.scrollId ?? null,
        questionOf({ ...input, of: 'relationships' })
      )
      const viaOf = await readVias(tx, rows)
      return {
        scrollId,
        relationships: rows.map((row) => ({
          type: row.type,
          sourceUrn: row.sourceUrn,
          destinationUrn: row.destinationUrn,
          via: viaOf(row)
        }))
      }
    },
    { readOnly: true, isolation: 'repeatable read' }
  )
}

/** Without `urns` all lineage is listed, and `direction` is ignored. */
export type LineageScrollInput = Pick<
  ScrollInput,
  'types' | 'includeSoftDelete' | 'slice' | 'count' | 'scrollId'
> & { urns?: readonly string[] | null; direction?: 'UPSTREAM' | 'DOWNSTREAM' | null }

export type ScrolledLineage = ScrolledRelationship & { upstreamUrn: Urn; downstreamUrn: Urn }

/**
 * The lineage of one hop around entities, or columns: their upstreams, their downstreams, or both. Throws as scrollRelationships.
 */
export async function scrollLineage(
  db: Db,
  input: LineageScrollInput
): Promise<{ scrollId: string | null; relationships: ScrolledLineage[] }> {
  const count = pageCount(input.count, 'count')
  const urns = urnsOf(input.urns, 'urns')
  return inTransaction(
    db,
    async (tx) => {
      const ends = urns && (await endsOf(tx, urns))
      const place =
        input.direction === 'UPSTREAM'
          ? { downstream: ends }
          : input.direction === 'DOWNSTREAM'
            ? { upstream: ends }
            : { either: ends }
      const filter = {
        ...anyRelationship,
        types: typesOf(input.types),
        includesRemoved: input.includeSoftDelete ?? false,
        isLineageOnly: true,
        slice: input.slice ?? null,
        ...place
      }
      const { rows, scrollId } = await scroll(
        tx,
        filter,
        count,
        input.scrollId ?? null,
        questionOf({ ...input, of: 'lineage' })
      )
      const viaOf = await readVias(tx, rows)
      return {
        scrollId,
        relationships: rows.map((row) => {
          const [upstreamUrn, downstreamUrn] =
            row.edge?.sourceIs === 'upstream'
              ? [row.sourceUrn, row.destinationUrn]
              : [row.destinationUrn, row.sourceUrn]
          return {
            type: row.type,
            sourceUrn: row.sourceUrn,
            destinationUrn: row.destinationUrn,
            via: viaOf(row),
            upstreamUrn,
            downstreamUrn
          }
        })
      }
    },
    { readOnly: true, isolation: 'repeatable read' }
  )
}

async function scroll(
  tx: Tx,
  filter: RelationshipFilter,
  count: number,
  scrollId: string | null,
  question: string
): Promise<{ rows: (RelationshipRow & { arm: number })[]; scrollId: string | null }> {
  const place = scrollId === null ? null : parsePlace(scrollId, question)
  const rows: (RelationshipRow & { arm: number })[] = []
  for (let arm = place?.arm ?? 0; arm < armsCount; arm += 1) {
    const after: RelationshipKey | null = arm === place?.arm ? place.after : null
    const found = await pageOfRelationships(tx, arm, filter, {
      after,
      offset: 0,
      count: count + 1 - rows.length
    })
    rows.push(...found.map((row) => ({ ...row, arm })))
    if (rows.length > count) break
  }
  const last = rows[count - 1]
  if (rows.length <= count || !last) return { rows, scrollId: null }
  return { rows: rows.slice(0, count), scrollId: printPlace({ arm: last.arm, after: last.key }, question) }
}

const typesOf = (types: readonly string[] | null | undefined): ReadonlySet<string> | null =>
  types && types.length > 0 && !types.includes('*') ? new Set(types) : null
const listed = <T>(list: readonly T[] | null | undefined): readonly T[] | null =>
  list && list.length > 0 ? list : null

/** The size of a page may change from one page to the next; everything else must stay the same. */
const questionOf = ({ scrollId: _place, count: _count, ...question }: { [name: string]: unknown }): string =>
  JSON.stringify(Object.entries(question).toSorted(([a], [b]) => (a < b ? -1 : 1)))

async function endsOf(tx: Tx, urns: readonly Urn[]): Promise<Ends> {
  return { urns, ids: (await findEntities(tx, [...new Set(urns)])).map((row) => row.id) }
}

function urnsOf(texts: readonly string[] | null | undefined, field: string): Urn[] | null {
  if (!texts || texts.length === 0) return null
  checkCount(texts.length, 'filterValuesMaxCount', { field, what: `${texts.length} URNs in ${field}` })
  return texts.map((text, index) => toUrn(text, `${field}[${index}]`))
}

async function readVias(tx: Tx, rows: readonly RelationshipRow[]): Promise<(row: RelationshipRow) => Urn[]> {
  const viaOf = await readVia(
    tx,
    rows.flatMap(({ edge }) => (edge ? [edge] : []))
  )
  return ({ edge }) => (edge ? viaOf(edge).map(({ urn }) => urn) : [])
}

/** Throws BAD_REQUEST unless the text is a direction. */
export function checkDirection<Direction extends string>(
  sent: string,
  allowed: readonly Direction[],
  field = 'direction'
): Direction {
  const found = allowed.find((direction) => direction === sent)
  if (!found)
    throw new CatalogError('BAD_REQUEST', `${field} must be ${allowed.join(' or ')}`, { field, allowed })
  return found
}
