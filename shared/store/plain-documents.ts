/** Lineage documents that are the first of their dataset, thousands at a time: their statements, aspects and watermarks, written without being read back. */
import { int4Array, int4sOf } from '../db/int4-array.ts'
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'

/** One aspect of many owners, and the list of it that the documents fill. `aspectCode` is field >> 4. */
export type DocumentPlace = { aspectName: string; aspectCode: number; field: number }

/**
 * Owners of which anything is known that a document must be weighed against: the aspects to be written, edges of the first, removals, patches of
 * edges, or a replacement that is newer than the document. `lines` has that of each owner's document.
 * Removals, replacements and patches count only where `keepsOrder`; their tables are mostly empty, which is asked once.
 * With `limit 1` and not `exists`, which Postgres may turn into a hash of the whole table; and with `seq + 0`, of which there is no index (plain-edges.ts).
 */
export async function findOccupied(
  tx: Tx,
  { aspectCode }: DocumentPlace,
  ownerIds: Int32Array,
  lines: Int32Array,
  { aspectNames, seq, keepsOrder }: { aspectNames: readonly string[]; seq: number; keepsOrder: boolean }
): Promise<Int32Array> {
  const [row] = await query<{ found: Buffer | null }>(
    tx,
    `
    select string_agg(int4send(judged.id), '') as found
    from (
      select wanted.id,
        (select true from aspect where aspect.entity_id = wanted.id and aspect.aspect_name = any(?::text[]) limit 1) is not null
        or (select true from statement where statement.downstream_id = wanted.id and statement.owner_id = wanted.id and statement.field >> 4 = ?::int limit 1) is not null
        or (select true from statement where statement.owner_id = wanted.id and statement.owner_id <> statement.downstream_id and statement.field >> 4 = ?::int limit 1) is not null
        or (?::boolean and (
          ((select exists (select 1 from edge_tombstone)) and (select true from edge_tombstone where edge_tombstone.owner_id = wanted.id limit 1) is not null)
          or ((select exists (select 1 from replace_watermark)) and (select true from replace_watermark where replace_watermark.owner_id = wanted.id and (replace_watermark.seq + 0, replace_watermark.line) > (?::bigint, wanted.line) limit 1) is not null)
          or ((select exists (select 1 from edge_patch)) and (select true from edge_patch where edge_patch.owner_id = wanted.id limit 1) is not null)
        )) as is_occupied
      from unnest(?::int[], ?::int[]) as wanted (id, line)
      offset 0
    ) as judged
    where judged.is_occupied`,
    [aspectNames, aspectCode, aspectCode, keepsOrder, seq, int4Array(ownerIds), int4Array(lines)]
  )
  return int4sOf(row?.found ?? null)
}

/** A document of each owner, which has none; `systemMetadata` as JSON. */
export type FirstDocuments = {
  ownerIds: Int32Array
  lines: Int32Array
  systemMetadata: readonly (string | null)[]
  values: readonly JsonObject[]
}

/** Writes the aspects at their first version. Needs the owners locked. `ownerIds` ascend. */
export async function insertFirstDocuments(
  tx: Tx,
  aspectName: string,
  { ownerIds, lines, systemMetadata, values }: FirstDocuments,
  { actor, seq }: { actor: string; seq: number }
): Promise<void> {
  await query(
    tx,
    `
    insert into aspect (entity_id, aspect_name, version, seq, line, kind, change, value, system_metadata, actor, created_at)
    select fresh.owner_id, ?, 1, ?::bigint, fresh.line, 'put', null, fresh.value::jsonb, fresh.system_metadata::jsonb, ?, now()
    from unnest(?::int[], ?::int[], ?::text[], ?::text[]) as fresh (owner_id, line, value, system_metadata)`,
    [
      aspectName,
      seq,
      actor,
      int4Array(ownerIds),
      int4Array(lines),
      values.map((value) => JSON.stringify(value)),
      [...systemMetadata]
    ]
  )
}

/** Remembers that the aspects were replaced, for what is older and still to come; a newer replacement is kept. */
export async function rememberReplaced(
  tx: Tx,
  { aspectCode }: DocumentPlace,
  { ownerIds, lines }: Pick<FirstDocuments, 'ownerIds' | 'lines'>,
  seq: number
): Promise<void> {
  await query(
    tx,
    `
    insert into replace_watermark (owner_id, aspect_code, source_id, seq, line)
    select fresh.owner_id, ?::int, 0, ?::bigint, fresh.line
    from unnest(?::int[], ?::int[]) as fresh (owner_id, line)
    on conflict (owner_id, aspect_code, source_id) do update
    set seq = excluded.seq, line = excluded.line
    where (replace_watermark.seq, replace_watermark.line) < (excluded.seq, excluded.line)`,
    [aspectCode, seq, int4Array(ownerIds), int4Array(lines)]
  )
}
