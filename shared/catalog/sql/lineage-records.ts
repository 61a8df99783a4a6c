/** Turns SQL into the records of a load: the tables that each statement writes, and their lineage. */
import type { JsonObject } from '../../model/changes.ts'
import { columnUrn } from '../../openlineage/names.ts'
import type { SqlOptions, SqlStatementRecords } from '../../formats/sql/options.ts'
import type { Urn } from '../../urn/urn.ts'
import type { EntitySources } from '../lineage/known-entities.ts'
import { readSqlLineage, type StatementAnswer } from './ask-sql-lineage.ts'

/** The statements of one file. Throws as askSqlLineage does. */
export async function readSqlRecords(
  sources: EntitySources,
  caller: string,
  sql: string,
  options: SqlOptions
): Promise<SqlStatementRecords[]> {
  const { statements, columnIn } = await readSqlLineage(sources, caller, { ...options, sql })
  return statements.map((statement) => recordsOf(statement, columnIn))
}

type ColumnIn = (table: string, column: string) => string

function recordsOf(statement: StatementAnswer, columnIn: ColumnIn): SqlStatementRecords {
  const { kind, line, inputs, outputs, columns, problems } = statement
  const urns = new Map<string, Urn>()
  for (const { name, urn } of [...inputs, ...outputs]) if (urn !== null) urns.set(name, urn)
  const written = outputs.flatMap(({ name }) => urns.get(name) ?? [])
  const read = inputs.flatMap(({ name }) => urns.get(name) ?? [])
  const records: JsonObject[] = [
    ...written.map((urn) => ({ op: 'upsertEntity', urn })),
    ...written.flatMap((downstreamUrn) =>
      read
        .filter((upstreamUrn) => upstreamUrn !== downstreamUrn)
        .map((upstreamUrn) => ({ upstreamUrn, downstreamUrn }))
    ),
    ...columns.flatMap(({ output, column, upstreams }) => {
      const downstream = output === null ? undefined : urns.get(output)
      if (downstream === undefined || output === null) return []
      const downstreamUrn = columnUrn(downstream, columnIn(output, column))
      return upstreams.flatMap(({ table, column: from }) => {
        const upstream = urns.get(table)
        // a table's own earlier rows are not its lineage
        return upstream === undefined || upstream === downstream
          ? []
          : [{ upstreamUrn: columnUrn(upstream, columnIn(table, from)), downstreamUrn }]
      })
    })
  ]
  const [problem] = problems
  const isUnread = kind === 'UNKNOWN'
  return {
    line,
    name: [kind, ...outputs.map(({ name }) => name)].join(' '),
    records,
    fault: isUnread ? `${problem?.message ?? 'unknown'} (line ${problem?.line ?? line})` : null,
    warnings: isUnread || outputs.length === 0 ? [] : problems.map(({ message }) => `${message}.`)
  }
}
