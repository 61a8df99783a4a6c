/** Sends dbt projects as loads, and reads what they left in the catalog. */
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import type { RestAnswer, TestServer } from './server.ts'

export const load = (
  server: TestServer,
  documents: JsonObject | readonly JsonObject[] | string,
  parameters = '',
  waitSeconds = 25
): Promise<RestAnswer> =>
  server.rest({
    method: 'POST',
    url: `/loads?wait=${waitSeconds}${parameters}`,
    body:
      typeof documents === 'string'
        ? documents
        : [documents]
            .flat()
            .map((each) => JSON.stringify(each))
            .join('\n'),
    headers: { 'content-type': 'application/json' }
  })

/** Edges as `upstream > downstream`, of the existing assets. */
export async function edgesOf(db: Db, source?: string): Promise<string[]> {
  const rows = await query<{ edge: string }>(
    db,
    `
    select distinct up.urn || ' > ' || down.urn as edge
    from statement
    join entity as up on up.id = upstream_id
    join entity as down on down.id = downstream_id
    join statement_source as source on source.id = statement.source_id
    where ?::text is null or source.name = ?::text
    order by edge`,
    [source ?? null, source ?? null]
  )
  return rows.map((row) => row.edge)
}

export async function aspectOf(db: Db, urn: string, aspectName: string): Promise<unknown> {
  const [row] = await query<{ value: unknown }>(
    db,
    'select value from aspect join entity on entity.id = entity_id where urn = ? and aspect_name = ?',
    [urn, aspectName]
  )
  return row?.value
}

export const done = (counts: { [name: string]: number }): object => ({
  status: 200,
  body: {
    state: 'done',
    format: 'dbt',
    mode: 'snapshot',
    source: 'dbt:shop',
    counts: { rejected: 0, ...counts }
  }
})
