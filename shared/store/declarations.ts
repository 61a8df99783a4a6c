/**
 * What the records of a load's second pass will create, and what they refer to. So references inside a load
 * may point in any direction, also in cycles, and nothing is created whose own references are missing.
 */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { Urn } from '../urn/urn.ts'

/**
 * `reference` is the asset that must exist for the record on this line (the asset of a column); null for
 * none.
 */
export type Declaration = { line: number; urn: Urn; reference: Urn | null }

export async function insertDeclarations(
  tx: Tx,
  loadId: string,
  declarations: readonly Declaration[]
): Promise<void> {
  if (declarations.length === 0) return
  await query(
    tx,
    `
    insert into load_declaration (load_id, line, urn, reference)
    select ?::uuid, declared.line, declared.urn, declared.reference
    from unnest(?::int[], ?::text[], ?::text[]) as declared (line, urn, reference)`,
    [
      loadId,
      declarations.map((row) => row.line),
      declarations.map((row) => row.urn),
      declarations.map((row) => row.reference)
    ]
  )
}

/**
 * The URNs, among those given, that a remaining record of the load's second pass will create. Once that pass
 * is settled, they exist or will never exist.
 */
export async function declaredUrns(tx: Tx, loadId: string, urns: readonly Urn[]): Promise<Set<Urn>> {
  if (urns.length === 0) return new Set()
  const rows = await query<{ urn: Urn }>(
    tx,
    `
    select wanted.urn
    from load
    cross join unnest(?::text[]) as wanted (urn)
    where load.id = ?::uuid
      and load.current_pass < 3
      and exists (select 1 from load_declaration where load_declaration.load_id = load.id and load_declaration.urn = wanted.urn)`,
    [urns, loadId]
  )
  return new Set(rows.map((row) => row.urn))
}

const keyOfReference =
  "encode(substring(sha256(convert_to(load_declaration.reference, 'UTF8')) from 1 for 16), 'hex')::uuid"

/** References to existing entities need no further checks. */
export async function forgetPresentReferences(tx: Tx, loadId: string): Promise<void> {
  await query(
    tx,
    `
    update load_declaration
    set reference = null
    from entity
    where load_declaration.load_id = ?::uuid
      and load_declaration.reference is not null
      and entity.urn_key = ${keyOfReference}
      and entity.urn = load_declaration.reference
      and entity.is_present`,
    [loadId]
  )
}

/**
 * Whether a line refers to something that no line of the load will create. Call it after
 * forgetPresentReferences.
 */
export async function hasDanglingReference(tx: Tx, loadId: string): Promise<boolean> {
  const rows = await query(
    tx,
    `select load_declaration.line from load_declaration where ${dangling} limit 1`,
    [loadId]
  )
  return rows.length > 0
}

const dangling = `
      load_declaration.load_id = ?::uuid
      and load_declaration.reference is not null
      and not exists (
        select 1
        from load_declaration as maker
        where maker.load_id = load_declaration.load_id and maker.urn = load_declaration.reference
      )`

/**
 * Deletes lines with missing references, and the lines that depend only on them. Returns how many rows were
 * deleted. Repeat the call until it returns 0, because an entity that two lines declare is only missing once
 * both are deleted. One call follows a chain of any depth.
 */
export async function deleteDangling(tx: Tx, loadId: string): Promise<number> {
  const rows = await query(
    tx,
    `
    with recursive fallen (line, urn) as (
      select fallen_line.line, fallen_line.urn
      from load_declaration
      join load_declaration as fallen_line on fallen_line.load_id = load_declaration.load_id and fallen_line.line = load_declaration.line
      where ${dangling}
      union
      select hanging_line.line, hanging_line.urn
      from fallen
      join load_declaration as hanging on hanging.load_id = ?::uuid and hanging.reference = fallen.urn
      join load_declaration as hanging_line on hanging_line.load_id = hanging.load_id and hanging_line.line = hanging.line
      where not exists (
        select 1
        from load_declaration as other
        where other.load_id = ?::uuid and other.urn = fallen.urn and other.line <> fallen.line
      )
    )
    delete from load_declaration
    using (select distinct fallen.line from fallen) as gone
    where load_declaration.load_id = ?::uuid and load_declaration.line = gone.line
    returning load_declaration.line`,
    [loadId, loadId, loadId, loadId]
  )
  return rows.length
}

export async function markDeclarationsSettled(tx: Tx, loadId: string): Promise<void> {
  await query(tx, 'update load set declarations_settled = true where load.id = ?::uuid', [loadId])
}

export async function deleteDeclarations(tx: Tx, loadId: string): Promise<void> {
  await query(tx, 'delete from load_declaration where load_declaration.load_id = ?::uuid', [loadId])
}
