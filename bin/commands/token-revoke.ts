/** `tributary token revoke`: ends an access token. */
import { revokeToken } from '../../shared/catalog/access/revoke-token.ts'
import { readConfig } from '../../shared/platform/config.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { idNote } from '../find-id.ts'
import { findTokenId } from '../find-token.ts'
import { withMigratedDatabase } from '../open-database.ts'
import { printable } from '../printable.ts'

export const tokenRevoke: Command = {
  notes: [idNote],
  examples: ['tributary token revoke 3f9a'],
  operands: ['ID'],
  options: { json: { help: 'Print the token as JSON.' } },
  async run(input, terminal) {
    const [id = ''] = input.operands
    const record = await withMigratedDatabase(readConfig(terminal.env), async (db) =>
      revokeToken(db, await findTokenId(db, id))
    )
    terminal.out(
      input.isSet('json')
        ? JSON.stringify(record)
        : printable(`The token ${record.id} (${record.name}) is revoked.`)
    )
    return exitCodes.ok
  }
}
