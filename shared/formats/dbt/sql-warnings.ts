/** What a load could not read of the SQL of a dbt project, as sentences for the load's warnings. */
import { limits } from '../../limits.ts'
import type { StatedSql } from './compiled-sql.ts'
import type { DbtProject } from './project.ts'
import type { ReadColumns } from './read-columns.ts'
import type { KeptEdges } from './stored-project.ts'

/** First the sentences that count, then one for each node whose SQL was not read, or not all of it. */
export function warningsOfSql(
  { nodes }: DbtProject,
  { edges, problems }: ReadColumns,
  kept: KeptEdges
): string[] {
  const idsIn = (state: StatedSql['state']): string[] =>
    [...nodes].flatMap(([id, { sql }]) => (sql?.state === state ? [id] : []))
  const [absent, foreign, tooLarge] = [idsIn('absent'), idsIn('foreign'), idsIn('tooLarge')]
  const unread = [...problems.keys()].filter((id) => !edges.has(id))
  const partly = problems.size - unread.length
  return [
    ...(absent.length > 0
      ? [
          `The manifest has no compiled SQL of ${models(absent.length)}, so nothing new is known of their columns: dbt compile, run, build and docs generate write it.`
        ]
      : []),
    ...(kept.edges.size > 0
      ? [
          `Kept of ${models(kept.edges.size)} whose SQL was not read: the edges between columns that an earlier load stated.`
        ]
      : []),
    ...(kept.changed.length > 0
      ? [
          `Not kept of ${models(kept.changed.length)} whose SQL was not read and has changed: the edges between columns that an earlier load stated.`
        ]
      : []),
    ...(foreign.length > 0 ? [`Not read: ${models(foreign.length)} in another language than SQL.`] : []),
    ...(unread.length + tooLarge.length > 0
      ? [`Not read: the SQL of ${models(unread.length + tooLarge.length)}.`]
      : []),
    ...(partly > 0 ? [`Read in part: the SQL of ${models(partly)}.`] : []),
    ...tooLarge.map((id) => `${id}: its SQL has more than ${limits.sqlMaxBytes} bytes (sqlMaxBytes).`),
    ...problems.values()
  ]
}

const models = (count: number): string => `${count} ${count === 1 ? 'model' : 'models'}`
