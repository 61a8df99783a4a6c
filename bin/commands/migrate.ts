/**
 * `tributary migrate`: migrates the database of DATABASE_URL to the newest schema. The Procfile's `release`.
 */
import { migrate } from '../../shared/db/migrate.ts'
import { readConfig } from '../../shared/platform/config.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { requireDatabaseUrl, withDatabase } from '../open-database.ts'

export const migrateCommand: Command = {
  examples: ['DATABASE_URL=postgres://owner@db/catalog tributary migrate'],
  options: { json: { help: 'Print what was applied as JSON.' } },
  async run(input, terminal) {
    const url = requireDatabaseUrl(readConfig(terminal.env), 'migrate')
    const applied = await withDatabase(url, (db) => migrate(db))
    if (input.isSet('json')) terminal.out(JSON.stringify({ applied }))
    else terminal.out(applied.length === 0 ? 'The schema is current.' : `Applied ${applied.join(', ')}.`)
    return exitCodes.ok
  }
}
