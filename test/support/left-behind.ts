/**
 * All effects of applied changes on the tables, as texts: two ways of applying the same changes must have the
 * same effects.
 */
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { unpackJournal } from '../../shared/statements/load-journal.ts'
import { graphOfLog, graphOfTables, type GraphView } from './graph-log.ts'

/** Sorted lines of each kind. Ids are replaced by URNs, because new ids differ from run to run. */
export type LeftBehind = { [what: string]: string[] }

const shown: { [what: string]: string } = {
  statements:
    "select concat_ws(' ', down.urn, up.urn, owner.urn, field, statement_source.name, record_key, position, seq, line, attributes::text) as row from statement join entity down on down.id = downstream_id join entity up on up.id = upstream_id join entity owner on owner.id = owner_id join statement_source on statement_source.id = source_id",
  aspects:
    "select concat_ws(' ', urn, aspect_name, version, seq, line, kind, change::text, value::text, actor) as row from aspect join entity on entity.id = entity_id",
  aspectHistory:
    "select concat_ws(' ', urn, aspect_name, version, seq, line, kind, change::text, value::text, actor) as row from aspect_history join entity on entity.id = entity_id",
  entities:
    "select concat_ws(' ', entity.urn, parent.urn, entity.is_present::text, entity.is_removed::text, entity.deleted_seq, entity.deleted_line) as row from entity left join entity parent on parent.id = entity.parent_id",
  documents:
    "select concat_ws(' ', urn, name, words::text) as row from search_document join entity on entity.id = entity_id",
  tombstones:
    "select concat_ws(' ', owner.urn, aspect_code, down.urn, up.urn, seq, line) as row from edge_tombstone join entity owner on owner.id = owner_id join entity down on down.id = downstream_id left join entity up on up.id = upstream_id",
  watermarks:
    "select concat_ws(' ', urn, aspect_code, coalesce(statement_source.name, 'all sources'), seq, line) as row from replace_watermark join entity on entity.id = owner_id left join statement_source on statement_source.id = source_id",
  patches: "select concat_ws(' ', to_jsonb(edge_patch)::text) as row from edge_patch",
  audit:
    "select concat_ws(' ', actor, operation, seq, (details - 'urns')::text, (select string_agg(urn, ' ' order by urn) from jsonb_array_elements_text(details -> 'urns') as urn)) as row from audit",
  searchDocuments:
    "select concat_ws(' ', urn, name, words::text) as row from search_document join entity on entity.id = entity_id",
  rejects: 'select to_jsonb(reject)::text as row from reject',
  chunks: "select concat_ws(' ', id, state, record_count) as row from chunk",
  loads: "select concat_ws(' ', id, state, remaining, applied, unchanged, rejected) as row from load"
}

export async function leftBehind(db: Db): Promise<LeftBehind> {
  const left: LeftBehind = {}
  for (const [what, sql] of Object.entries(shown))
    left[what] = (await query<{ row: string }>(db, sql)).map(({ row }) => row).sort()
  const urns = new Map(
    (await query<{ id: number; urn: string }>(db, 'select id, urn from entity')).map(({ id, urn }) => [
      id,
      urn
    ])
  )
  const urnOf = (id: number): string => urns.get(id) ?? 'nobody'
  const sources = new Map(
    (await query<{ id: number; name: string }>(db, 'select id, name from statement_source')).map(
      ({ id, name }) => [id, name]
    )
  )
  left.journal = await journalLines(db, (name, id) => (name === 'sourceId' ? sources.get(id) : urnOf(id)))
  Object.assign(left, await statedLines(db, urnOf))
  left.graphOfLog = graphLines(await graphOfLog(db), urnOf)
  left.graphOfTables = graphLines(await graphOfTables(db), urnOf)
  return left
}

/** Also for a domain's parent and an asset's domain: every line begins with an id. */
const graphLines = (graph: GraphView, urnOf: (id: number) => string): string[] =>
  [
    ...graph.edges.map((line) =>
      line
        .split(' ')
        .map((word, at) => (at < 2 ? urnOf(Number(word)) : word))
        .join(' ')
    ),
    ...[...graph.entities, ...graph.domains, ...graph.parents].map((line) =>
      line.replace(/^\d+/, (id) => urnOf(Number(id)))
    )
  ].sort()

async function journalLines(
  db: Db,
  sayId: (name: string, id: number) => string | undefined
): Promise<string[]> {
  const rows = await query<{ payload: Buffer }>(db, 'select payload from load_journal order by id')
  return rows
    .flatMap(({ payload }) => unpackJournal(payload))
    .map((entry) =>
      JSON.stringify(entry, (name, value: unknown) =>
        typeof value === 'number' && name.endsWith('Id') ? sayId(name, value) : value
      )
    )
    .sort()
}

/** A repeated key counts once. */
async function statedLines(
  db: Db,
  urnOf: (id: number) => string
): Promise<{ stated: string[]; statedNew: string[] }> {
  const rows = await query<{
    field: number
    recordKey: number
    owners: number[] | null
    downs: number[]
    ups: number[]
    fresh: number
  }>(
    db,
    `
    select field, record_key as "recordKey", owner_ids as owners, downstream_ids as downs, upstream_ids as ups, new_count as fresh from snapshot_statement`
  )
  const keys = rows.flatMap(({ field, recordKey, owners, downs, ups }) =>
    downs.map(
      (down, at) =>
        `${field} ${recordKey} ${urnOf(owners?.[at] ?? down)} ${urnOf(down)} ${urnOf(ups[at] ?? 0)}`
    )
  )
  return {
    stated: [...new Set(keys)].sort(),
    statedNew: [String(rows.reduce((sum, row) => sum + row.fresh, 0))]
  }
}
