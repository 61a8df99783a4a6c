/** `tributary token revoke`: ends an access token. */
import { listTokens } from '../../shared/catalog/access/list-tokens.ts'
import { revokeToken } from '../../shared/catalog/access/revoke-token.ts'
import type { Db } from '../../shared/db/database.ts'
import { limits } from '../../shared/limits.ts'
import { readConfig } from '../../shared/platform/config.ts'
import type { Command } from '../command.ts'
import { confirm, yesOption } from '../confirm.ts'
import { exitCodes } from '../failure.ts'
import { idNote } from '../find-id.ts'
import { findTokenId } from '../find-token.ts'
import { withMigratedDatabase } from '../open-database.ts'
import { printable } from '../printable.ts'

export const tokenRevoke: Command = {
  notes: [
    idNote,
    'On a terminal it asks. Exit code: 0 revoked, 1 usage, not confirmed or not found, 78 no database.'
  ],
  examples: ['tributary token revoke 3f9a'],
  operands: ['ID'],
  options: { json: { help: 'Print the token as JSON.' }, ...yesOption },
  async run(input, terminal) {
    const [id = ''] = input.operands
    const record = await withMigratedDatabase(readConfig(terminal.env), async (db) => {
      const found = await findTokenId(db, id)
      await confirm(input, terminal, () => questionAbout(db, found))
      return revokeToken(db, found)
    })
    terminal.out(
      input.isSet('json')
        ? JSON.stringify(record)
        : printable(`The token ${record.id} (${record.name}) is revoked.`)
    )
    return exitCodes.ok
  }
}

/** Null if the token is unknown, or was revoked before. */
async function questionAbout(db: Db, id: string): Promise<string | null> {
  const { tokens, total } = await listTokens(db, { count: limits.pageMaxCount })
  const token = tokens.find((each) => each.id === id.toLowerCase())
  if (token === undefined)
    return total > tokens.length ? `Whoever uses the token ${id} will be refused. Revoke it?` : null
  return token.revokedAt === null
    ? `Whoever uses the token ${token.id} (${token.name}) will be refused. Revoke it?`
    : null
}
