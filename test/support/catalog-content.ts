/**
 * The content of the tables about entities above an id, as texts, grouped by the name of their history
 * (`h12`).
 *
 * Left out is everything that an undo changes on purpose or must keep: orders (seq, line, changed_seq),
 * versions and history (an undo is a version of its own), who and when, tombstones and watermarks (they hold
 * back older changes), the ids, rows and search documents of entities that are only named (ids are never
 * reused), the audit trail, journals, loads and the change log.
 */
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { patchedAttributes, type EdgePatch } from '../../shared/model/edge-patches.ts'
import { explicitAttributes } from '../../shared/model/lineage-document.ts'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { appendedPosition } from '../../shared/model/list-order.ts'
import type { Order } from '../../shared/model/order.ts'

type Stated = Order & {
  owner: string
  downstream: string
  upstream: string
  field: number
  source: string
  recordKey: number
  position: number
  attributes: JsonObject | null
}
type Patch = EdgePatch & { owner: string; downstream: string; upstream: string; field: number }

export async function contentOf(db: Db, after: number): Promise<Map<string, string[]>> {
  const content = new Map<string, string[]>()
  const add = (text: string): void => {
    const [name = ''] = /\bh\d+\b/.exec(text) ?? []
    const texts = content.get(name)
    if (texts) texts.push(text)
    else content.set(name, [text])
  }
  const patches = new Map<string, Patch[]>()
  for (const patch of await query<Patch>(
    db,
    `
    select owner.urn as owner, downstream.urn as downstream, upstream.urn as upstream, field, seq, line, ordinal, operation
    from edge_patch
    join entity as owner on owner.id = owner_id
    join entity as downstream on downstream.id = downstream_id
    join entity as upstream on upstream.id = upstream_id
    where owner_id > ?`,
    [after]
  ))
    patches.set(edgeOf(patch), [...(patches.get(edgeOf(patch)) ?? []), patch])
  const stated = new Set<string>()
  for (const row of await query<Stated>(
    db,
    `
    select owner.urn as owner, downstream.urn as downstream, upstream.urn as upstream, field, source.name as source, record_key as "recordKey", position, seq, line, attributes
    from statement
    join entity as owner on owner.id = owner_id
    join entity as downstream on downstream.id = downstream_id
    join entity as upstream on upstream.id = upstream_id
    join statement_source as source on source.id = source_id
    where downstream_id > ?`,
    [after]
  )) {
    stated.add(edgeOf(row))
    // After an undo, an attribute from a patch may be in the statement itself, and the row of the patch is
    // gone.
    const shown = patchedAttributes(
      row,
      explicitAttributes(row.field, row.attributes),
      patches.get(edgeOf(row)) ?? []
    )
    // The position in the list, or that the statement was appended; appended ones are ordered by when they
    // were last appended.
    add(
      `statement ${edgeOf(row)} ${row.source} ${row.recordKey} ${Math.min(row.position, appendedPosition)} ${print(shown)}`
    )
  }
  // Patches of an edge without an asserting aspect count if its ends alone assert it.
  for (const [edge, waiting] of patches)
    if (!stated.has(edge))
      add(
        `patches ${edge} ${print(waiting.sort((a, b) => a.seq - b.seq || a.line - b.line || a.ordinal - b.ordinal).map(({ operation }) => operation as JsonValue))}`
      )
  for (const { urn, name, value } of await query<{ urn: string; name: string; value: JsonValue }>(
    db,
    `
    select urn, aspect_name as name, value from aspect join entity on entity.id = entity_id where entity_id > ? and value is not null`,
    [after]
  ))
    add(`aspect ${urn} ${name} ${print(value)}`)
  for (const sql of [
    // An asset removed from its domain is the same as one that never had a domain; the row only says that it
    // once did.
    `select concat_ws(' ', 'domain of', entity.urn, domain.urn, attributes::text) as text
    from domain_association
    join entity on entity.id = entity_id
    join entity as domain on domain.id = domain_id
    where entity_id > ?`,
    `select concat_ws(' ', 'domain', entity.urn, domain.name, 'below', parent.urn) as text
    from domain
    join entity on entity.id = domain.entity_id
    left join entity as parent on parent.id = domain.parent_id
    where domain.entity_id > ?`,
    "select concat_ws(' ', 'entity', urn, is_present, is_removed) as text from entity where id > ? and (is_present or is_removed)",
    "select concat_ws(' ', 'search document', urn, name, words::text) as text from search_document join entity on entity.id = entity_id where entity_id > ? and is_present"
  ])
    for (const { text } of await query<{ text: string }>(db, sql, [after])) add(text)
  return content
}

const edgeOf = ({
  owner,
  field,
  downstream,
  upstream
}: Pick<Stated, 'owner' | 'field' | 'downstream' | 'upstream'>): string =>
  `${owner} ${field} ${downstream} ${upstream}`

const print = (value: JsonValue): string => {
  if (Array.isArray(value)) return `[${value.map(print).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${print(part ?? null)}`)
    .join(',')}}`
}
