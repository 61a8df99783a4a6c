/** `tributary token list`: all access tokens, without their secrets. */
import type { TokenView } from '../../shared/catalog/access/create-token.ts'
import { listTokens } from '../../shared/catalog/access/list-tokens.ts'
import { limits } from '../../shared/limits.ts'
import { readConfig } from '../../shared/platform/config.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { withMigratedDatabase } from '../open-database.ts'

export const tokenList: Command = {
  options: { json: { help: 'Print each token as one line of JSON.' } },
  async run(input, terminal) {
    const { tokens, total } = await withMigratedDatabase(readConfig(terminal.env), (db) =>
      listTokens(db, { count: limits.pageMaxCount })
    )
    for (const token of tokens)
      terminal.out(
        input.isSet('json')
          ? JSON.stringify({ ...token, domainUrn: token.domainUrns?.[0] ?? null })
          : lineOf(token)
      )
    if (total > tokens.length) terminal.err(`${total - tokens.length} more are not shown.`)
    return exitCodes.ok
  }
}

function lineOf({ id, name, hint, scopes, domainUrns, revokedAt, expiresAt }: TokenView): string {
  const end =
    revokedAt !== null
      ? `revoked ${day(revokedAt)}`
      : expiresAt !== null
        ? `expires ${day(expiresAt)}`
        : 'no end'
  return [
    id,
    `…${hint}`,
    scopes.join(','),
    end,
    name,
    ...(domainUrns === null ? [] : [domainUrns.join(',')])
  ].join('  ')
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10)
}
