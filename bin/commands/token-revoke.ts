/** `tributary token revoke`: ends an access token. */
import { revokeToken } from '../../shared/catalog/access/revoke-token.ts'
import { readConfig } from '../../shared/platform/config.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { withMigratedDatabase } from '../open-database.ts'

export const tokenRevoke: Command = {
  operands: ['ID'],
  options: { json: { help: 'Print the token as JSON.' } },
  async run(input, terminal) {
    const [id = ''] = input.operands
    const record = await withMigratedDatabase(readConfig(terminal.env), (db) => revokeToken(db, id))
    terminal.out(
      input.isSet('json') ? JSON.stringify(record) : `The token ${record.id} (${record.name}) is revoked.`
    )
    return exitCodes.ok
  }
}
