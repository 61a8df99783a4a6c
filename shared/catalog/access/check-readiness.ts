/** Whether the catalog can be used now: the database answers, and its schema is that of this version. */
import type { Db } from '../../db/database.ts'
import { pendingMigrations, UnknownSchemaError } from '../../db/migrate.ts'
import { answerInTime } from '../../platform/answer-in-time.ts'

export type Readiness = {
  database: 'up' | 'down'
  schema: 'current' | 'pending' | 'newer' | 'pre-release' | 'unknown'
}

const answerMaxMs = 1_000

/** Never throws, and answers within a second. */
export async function checkReadiness(db: Db): Promise<Readiness> {
  return answerInTime(answerMaxMs, askDatabase(db), { database: 'down', schema: 'unknown' })
}

async function askDatabase(db: Db): Promise<Readiness> {
  try {
    const pending = await pendingMigrations(db)
    return { database: 'up', schema: pending.length === 0 ? 'current' : 'pending' }
  } catch (error) {
    return error instanceof UnknownSchemaError
      ? { database: 'up', schema: error.madeBy }
      : { database: 'down', schema: 'unknown' }
  }
}

/** What to log if the schema is not that of this version; null if it is, or if the database does not answer. */
export function schemaProblem({ schema }: Readiness): string | null {
  if (schema === 'pending')
    return 'the database has not been migrated to this version: run `tributary migrate`; until then nothing is served'
  if (schema === 'pre-release')
    return 'the database was made by a version before the first release: use a new, empty database'
  return schema === 'newer'
    ? 'the database was migrated by a newer version of Tributary: run that version'
    : null
}
