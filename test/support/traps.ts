/** Triggers that a test installs. They fire each time anyone asserts an edge from a chosen asset. */
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'

/** PL/pgSQL, run before such a statement is written. */
export const trapActions = {
  fail: (code: string): string => `raise exception 'a secret value' using errcode = '${code}'`,
  endConnection: 'perform pg_terminate_backend(pg_backend_pid())'
}

/** `upstreamUrn` must exist; null means every edge. Returns a function that removes the trap. */
export async function setTrap(
  db: Db,
  action: string,
  upstreamUrn: string | null
): Promise<() => Promise<void>> {
  const [row] = await query<{ id: number }>(db, 'select id from entity where urn = ?', [upstreamUrn ?? ''])
  const isMeant = upstreamUrn === null ? 'true' : `new.upstream_id = ${row?.id ?? 0}`
  await query(
    db,
    `
    create function trap() returns trigger language plpgsql as $$
    begin
      if ${isMeant} then ${action}; end if;
      return new;
    end $$`
  )
  await query(db, 'create trigger trap before insert on statement for each row execute function trap()')
  return async () => {
    await query(db, 'drop function trap() cascade')
  }
}
