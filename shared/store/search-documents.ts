/** The table of search documents: written with the entities, and queried for matches. */
import { int4Array, int4sOf } from '../db/int4-array.ts'
import type { Db, Tx } from '../db/database.ts'
import { query, type Binding } from '../db/query.ts'
import { keyQuery, nameKey } from '../model/search-vector.ts'
import type { WithinDeadline } from './deadline.ts'

/** `name` is folded; `words` is the text of a tsvector. */
export type SearchDocumentRow = { id: number; name: string; words: string }

/**
 * Writes new and changed documents; unchanged ones are not rewritten.
 *
 * A new document of 25 words costs Postgres 42 us, of which the index of similar names takes 21 and that of
 * words 13. With pending lists of 4 MB instead of 256 kB it would be 33 us, but every search would read the
 * lists; without lists it would be 170.
 */
export async function writeSearchDocuments(tx: Tx, rows: readonly SearchDocumentRow[]): Promise<void> {
  if (rows.length === 0) return
  await query(
    tx,
    `
    insert into search_document (entity_id, name, words)
    select fresh.entity_id, fresh.name, fresh.words::tsvector
    from unnest(?::int[], ?::text[], ?::text[]) as fresh (entity_id, name, words)
    order by fresh.entity_id
    on conflict (entity_id) do update
    set name = excluded.name, words = excluded.words
    where search_document.name <> excluded.name or search_document.words <> excluded.words`,
    [int4Array(rows.map((row) => row.id)), rows.map((row) => row.name), rows.map((row) => row.words)]
  )
}

export async function deleteSearchDocuments(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length > 0)
    await query(tx, 'delete from search_document where entity_id = any(?::int[])', [int4Array(ids)])
}

/** The column `ids` of the only row. */
async function queryIds(db: Db | Tx, sql: string, bindings: readonly Binding[]): Promise<Int32Array> {
  const [row] = await query<{ ids: Buffer | null }>(db, sql, bindings)
  return int4sOf(row?.ids ?? null)
}

/**
 * Up to `count` matches of a tsquery, best first: names that are the text, or end with it after a dot; entities
 * that have it as another name, or as the end of the name in their URN; names that begin with it; names that
 * contain it; all others. Within each, short names first, then by id. Without a text, by id.
 */
export async function findMatches(
  db: Db | Tx,
  words: string,
  foldedText: string | null,
  count: number
): Promise<Int32Array> {
  const [row] = await queryMatches(db, words, foldedText, { count, rankedMaxCount: count })
  return int4sOf(row?.ids ?? null)
}

/**
 * The matches in the order of findMatches; null if there are more than `maxCount`. Then they are not ranked, which
 * would take twice as long as finding them.
 */
export async function findAllMatches(
  db: Db | Tx,
  words: string,
  foldedText: string | null,
  maxCount: number
): Promise<Int32Array | null> {
  const [row] = await queryMatches(db, words, foldedText, { count: maxCount + 1, rankedMaxCount: maxCount })
  return (row?.count ?? 0) > maxCount ? null : int4sOf(row?.ids ?? null)
}

/** More entities of the same name are in the order of their ids. */
const trustedMaxCount = 500

/** Among entities of the same name, those come first that somebody owns, that are described, and that others are made from. */
const trust = `(
  (exists (
    select from aspect
    where aspect.entity_id = ranked.entity_id and aspect.aspect_name = 'ownership' and aspect.value is not null
  ))::int
  + (exists (
    select from aspect
    where aspect.entity_id = ranked.entity_id
      and aspect.aspect_name in ('datasetProperties', 'editableDatasetProperties', 'dashboardInfo', 'chartInfo', 'dataJobInfo', 'dataFlowInfo')
      and aspect.value ->> 'description' <> ''
  ))::int
  + (exists (select from statement where statement.upstream_id = ranked.entity_id))::int
)`

/** No ids if there are more than `rankedMaxCount`. `count` is at most the one that is asked for. */
function queryMatches(
  db: Db | Tx,
  words: string,
  foldedText: string | null,
  { count, rankedMaxCount }: { count: number; rankedMaxCount: number }
): Promise<{ ids: Buffer | null; count: number }[]> {
  if (foldedText === null)
    return query(
      db,
      `
      select string_agg(int4send(found.entity_id), '' order by found.entity_id) as ids, count(*)::int as count
      from (select search_document.entity_id from search_document where search_document.words @@ ?::tsquery limit ?::int) as found`,
      [words, count]
    )
  return query(
    db,
    `
    with found as materialized (
      select search_document.entity_id, search_document.name
      from search_document
      where search_document.words @@ ?::tsquery
      limit ?::int
    ), ranked as materialized (
      select
        placed.entity_id,
        case
          when placed.name = ?::text or right(placed.name, ?::int) = '.' || ?::text then 0
          when namesake.entity_id is not null then 1
          when placed.place = 1 then 2
          when placed.place > 0 then 3
          else 4
        end as tier,
        case when placed.place = 0 and namesake.entity_id is null then 0 else length(placed.name) end as length
      from (
        select found.entity_id, found.name, strpos(found.name, ?::text) as place
        from found
        where (select count(*) from found) <= ?::int
      ) as placed
      left join (
        select search_document.entity_id
        from search_document
        where search_document.words @@ (?::tsquery && ?::tsquery)
        limit ?::int
      ) as namesake on namesake.entity_id = placed.entity_id
    ), alike as (
      select count(*) as count from ranked where ranked.tier <= 1
    )
    select
      string_agg(
        int4send(trusted.entity_id), ''
        order by trusted.tier, trusted.length, trusted.trust desc, trusted.entity_id
      ) as ids,
      (select count(*)::int from found) as count
    from (
      select
        ranked.*,
        case when ranked.tier <= 1 and (select alike.count from alike) <= ?::int then ${trust} else 0 end as trust
      from ranked
    ) as trusted`,
    [
      words,
      count,
      foldedText,
      [...foldedText].length + 1,
      foldedText,
      foldedText,
      rankedMaxCount,
      keyQuery(nameKey(foldedText)),
      words,
      count,
      trustedMaxCount
    ]
  )
}

/** Up to `count` matches of each of several tsqueries, by id. */
export async function findMatchesOfEach(
  db: Db | Tx,
  words: readonly string[],
  count: number
): Promise<Int32Array[]> {
  if (words.length === 0) return []
  const rows = await query<{ ids: Buffer | null }>(
    db,
    `
    select (
      select string_agg(int4send(found.entity_id), '' order by found.entity_id)
      from (
        select search_document.entity_id
        from search_document
        where search_document.words @@ sought.words
        limit ?::int
      ) as found
    ) as ids
    from unnest(?::tsquery[]) with ordinality as sought (words, place)
    order by sought.place`,
    [count, words]
  )
  return rows.map(({ ids }) => int4sOf(ids))
}

/** Two tsqueries: that of a name, and of what the documents with this name must match besides. */
export type NameQuery = { name: string; rest: string | null }

/**
 * Up to `count` matches of each of several names, by id. Finds the documents by the name alone, and then
 * looks at the rest: with both in the index a name took 100 us, because the lists of platforms and types are
 * long, and so it takes 7. Both are in the index only for a name that `count` documents or more have.
 */
export async function findNamesakesOfEach(
  db: Db | Tx,
  queries: readonly NameQuery[],
  count: number
): Promise<Int32Array[]> {
  if (queries.length === 0) return []
  const rows = await query<{ ids: Buffer | null }>(
    db,
    `
    select
      case
        when sought.rest is null or namesakes.count < ?::int then namesakes.ids
        else (
          select string_agg(int4send(found.entity_id), '' order by found.entity_id)
          from (
            select search_document.entity_id
            from search_document
            where search_document.words @@ (sought.name && sought.rest)
            limit ?::int
          ) as found
        )
      end as ids
    from unnest(?::tsquery[], ?::tsquery[]) with ordinality as sought (name, rest, place)
    cross join lateral (
      select
        count(*) as count,
        string_agg(int4send(found.entity_id), '' order by found.entity_id)
          filter (where sought.rest is null or found.words @@ sought.rest) as ids
      from (
        select search_document.entity_id, search_document.words
        from search_document
        where search_document.words @@ sought.name
        limit ?::int
      ) as found
    ) as namesakes
    order by sought.place`,
    [count, count, queries.map(({ name }) => name), queries.map(({ rest }) => rest), count]
  )
  return rows.map(({ ids }) => int4sOf(ids))
}

/** The sample contains one in this many documents, chosen by id. */
export const sampleShare = 64

/** The matches in the sample, by id. Multiply by sampleShare to estimate all matches. */
export async function findSampledMatches(db: Db | Tx, words: string): Promise<Int32Array> {
  return queryIds(
    db,
    `
    select string_agg(int4send(search_document.entity_id), '' order by search_document.entity_id) as ids
    from search_document
    where search_document.words @@ ?::tsquery
      and hashint4(search_document.entity_id) & 63 = 0`,
    [words]
  )
}

/**
 * Applies to the rest of the transaction. With `byId`, matches are found by scanning the ids, for a query
 * that many documents match; otherwise by index first. The table is never scanned.
 */
export const preferWay = (within: WithinDeadline, way: 'byId' | 'byWord'): Promise<void> =>
  within.set({ enable_seqscan: 'off', enable_bitmapscan: way === 'byId' ? 'off' : 'on' })

/** The matches with ids above `after` and up to `last`, by id. */
export async function findMatchesBetween(
  db: Db | Tx,
  words: string,
  after: number,
  last: number
): Promise<Int32Array> {
  return queryIds(
    db,
    `
    select string_agg(int4send(search_document.entity_id), '' order by search_document.entity_id) as ids
    from search_document
    where search_document.words @@ ?::tsquery
      and search_document.entity_id > ?::int
      and search_document.entity_id <= ?::int`,
    [words, after, last]
  )
}

/** The ids, among those given, whose documents match, by id. */
export async function findMatchesAmong(
  db: Db | Tx,
  words: string,
  ids: readonly number[] | Int32Array
): Promise<Int32Array> {
  if (ids.length === 0) return new Int32Array(0)
  return queryIds(
    db,
    `
    select string_agg(int4send(search_document.entity_id), '' order by search_document.entity_id) as ids
    from search_document
    where search_document.words @@ ?::tsquery
      and search_document.entity_id = any(?::int[])`,
    [words, int4Array(ids)]
  )
}

/** The largest id that has a document; 0 if there is none. */
export async function lastDocumentId(db: Db | Tx): Promise<number> {
  const [row] = await query<{ id: number }>(
    db,
    'select coalesce(max(entity_id), 0) as id from search_document'
  )
  return row?.id ?? 0
}

/**
 * Up to `count` documents that match the tsquery, if there is one, and whose name begins with the text, in
 * the order of names.
 */
export async function findNamesBeginning(
  db: Db | Tx,
  foldedText: string,
  words: string | null,
  count: number
): Promise<Int32Array> {
  const pattern = `${likeText(foldedText)}%`
  return queryIds(
    db,
    `
    select string_agg(int4send(found.entity_id), '' order by found.name, found.entity_id) as ids
    from (
      select search_document.entity_id, left(search_document.name, 200) as name
      from search_document
      where left(search_document.name, 200) like ?
        ${words === null ? '' : 'and search_document.words @@ ?::tsquery'}
      order by left(search_document.name, 200)
      limit ?::int
    ) as found`,
    [pattern, ...(words === null ? [] : [words]), count]
  )
}

/**
 * Up to `count` documents that match the tsquery, if there is one, and whose name contains all of the texts,
 * short names first; null without pg_trgm.
 */
export async function findNamesContaining(
  tx: Tx,
  foldedTexts: readonly string[],
  words: string | null,
  count: number
): Promise<Int32Array | null> {
  if (!(await hasTrigrams(tx))) return null
  return queryIds(
    tx,
    `
    select string_agg(int4send(found.entity_id), '' order by length(found.name), found.name, found.entity_id) as ids
    from (
      select search_document.entity_id, search_document.name
      from search_document
      where ${foldedTexts.map(() => 'search_document.name like ?').join(' and ')}
        ${words === null ? '' : 'and search_document.words @@ ?::tsquery'}
      limit ?::int
    ) as found`,
    [...foldedTexts.map((text) => `%${likeText(text)}%`), ...(words === null ? [] : [words]), count]
  )
}

const likeText = (text: string): string => text.slice(0, 200).replaceAll(/[\\%_]/g, '\\$&')

async function hasTrigrams(tx: Tx): Promise<boolean> {
  const [index] = await query<{ isThere: boolean }>(
    tx,
    'select to_regclass(\'search_document_name_trgm_idx\') is not null as "isThere"'
  )
  return index?.isThere ?? false
}

/** `name` is folded; `score` is from 0 to 1. */
export type NearName = { id: number; name: string; score: number }

/**
 * Up to `count` documents whose name is similar to the text or contains a similar part, most similar first;
 * of one entity type if it is given. Empty without pg_trgm.
 */
export async function findNearNames(
  tx: Tx,
  foldedText: string,
  count: number,
  entityType: string | null = null
): Promise<NearName[]> {
  if (!(await hasTrigrams(tx))) return []
  await query(tx, "select set_config('pg_trgm.word_similarity_threshold', '0.5', true)")
  return query<NearName>(
    tx,
    `
    select search_document.entity_id as id, search_document.name, word_similarity(?, search_document.name) as score
    from search_document
    where search_document.name %> ?
      and (?::text is null or exists (select from entity where entity.id = search_document.entity_id and entity.entity_type = ?))
    order by 3 desc, length(search_document.name), search_document.entity_id
    limit ?::int`,
    [foldedText, foldedText, entityType, entityType, count]
  )
}
