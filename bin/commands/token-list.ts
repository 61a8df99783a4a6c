/** `tributary token list`: every access token, without its text. */
import { listTokens } from '../../shared/catalog/list-tokens.ts'
import { limits } from '../../shared/limits.ts'
import { readConfig } from '../../shared/platform/config.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { withCatalogDatabase } from '../open-database.ts'

export const tokenList: Command = {
  options: { json: { help: 'Print them as JSON.' } },
  async run(input, terminal) {
    const { tokens, total } = await withCatalogDatabase(readConfig(terminal.env), db => listTokens(db, { count: limits.pageMaxCount }))
    if (input.isSet('json')) {
      terminal.out(JSON.stringify(tokens))
      return exitCodes.ok
    }
    for (const { id, name, hint, scopes, domainUrn, revokedAt, expiresAt } of tokens) {
      const end = revokedAt !== null ? `revoked ${day(revokedAt)}` : expiresAt !== null ? `expires ${day(expiresAt)}` : 'no end'
      terminal.out([id, `…${hint}`, scopes.join(','), end, name, ...(domainUrn === null ? [] : [domainUrn])].join('  '))
    }
    if (total > tokens.length) terminal.err(`${total - tokens.length} more are not shown.`)
    return exitCodes.ok
  }
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10)
}
