/** The resolver of questions about SQL. */
import { askSqlLineage, type SqlQuestion } from '../../../shared/catalog/sql/ask-sql-lineage.ts'
import { callerOf } from '../../../shared/platform/turns.ts'
import type { GraphqlContext } from '../context.ts'

type SqlInput = Omit<SqlQuestion, 'schemas' | 'indirect'> & {
  schemas?: { table: string; columns: string[] }[] | null
}

export const sqlResolvers = {
  Query: {
    async sqlLineage(_: unknown, { input }: { input: SqlInput }, context: GraphqlContext) {
      const { schemas, ...question } = input
      const given = Object.fromEntries(
        (schemas ?? []).map(({ table, columns }) => [
          table,
          Object.fromEntries(columns.map((column) => [column, '']))
        ])
      )
      const statements = await askSqlLineage(context.lineage, callerOf(context.actor), {
        ...question,
        schemas: given,
        indirect: true
      })
      context.budget.spendReads(
        statements.reduce(
          (sum, { inputs, outputs, columns }) => sum + 1 + inputs.length + outputs.length + columns.length,
          0
        )
      )
      return { statements }
    }
  }
}
