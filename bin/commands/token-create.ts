/** `tributary token create`: creates an access token and prints it, only this once. */
import { createToken } from '../../shared/catalog/access/create-token.ts'
import { CatalogError } from '../../shared/errors.ts'
import type { Scope } from '../../shared/model/changes.ts'
import { readConfig } from '../../shared/platform/config.ts'
import type { Command } from '../command.ts'
import { parseExpiry } from '../duration.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { withMigratedDatabase } from '../open-database.ts'

export const tokenCreate: Command = {
  examples: [
    'tributary token create --name dbt --expires 90d',
    'tributary token create --name sales --domain Sales --scopes read,write'
  ],
  options: {
    name: { value: 'TEXT', help: 'What the token is for. Required.' },
    scopes: { value: 'LIST', help: 'read, write, admin; separated by commas. Default: read,write.' },
    expires: { value: 'TIME', help: 'Such as 30d, 12h, 90m, or a date. Default: never.' },
    domain: {
      value: 'DOMAIN',
      isRepeatable: true,
      help: 'Limits the token to this domain, its child domains and their assets: a name, a path such as Sales/Orders, or a URN.'
    },
    actor: {
      value: 'URN',
      help: 'The user (corpuser) recorded as the author of its changes. Default: made from the name.'
    },
    json: { help: 'Print id, token and facts as JSON.' }
  },
  async run(input, terminal) {
    const name = input.text('name')
    if (name === undefined) throw new Refusal('A token needs a name: tributary token create --name TEXT')
    const scopes = parseScopes(input.text('scopes') ?? 'read,write')
    const domains = input.texts('domain')
    const expires = input.text('expires')
    const end = expires === undefined ? {} : parseExpiry(expires)
    const { token, record } = await withMigratedDatabase(readConfig(terminal.env), (db) =>
      createToken(db, {
        name,
        scopes,
        ...end,
        domainUrns: domains.length === 0 ? null : domains,
        actorUrn: input.text('actor') ?? null
      }).catch(nameOption)
    )
    if (input.isSet('json'))
      terminal.out(JSON.stringify({ token, ...record, domainUrn: record.domainUrns?.[0] ?? null }))
    else {
      terminal.out(token)
      terminal.err(
        `Token ${record.id} for ${record.actorUrn}, ${record.scopes.join(' and ')}, ${record.expiresAt === null ? 'never expires' : `expires ${record.expiresAt.toISOString()}`}.`
      )
    }
    return exitCodes.ok
  }
}

/** Throws the error, with the name of the option instead of that of the field made from it. */
function nameOption(error: unknown): never {
  if (!(error instanceof CatalogError)) throw error
  const message = error.message.replace(/\bdomainUrns(\[\d+\])?/, '--domain')
  throw new CatalogError(error.code, message, error.details)
}

const known: readonly Scope[] = ['read', 'write', 'admin']

function parseScopes(text: string): Scope[] {
  return text.split(',').map((word) => {
    const scope = known.find((each) => each === word.trim())
    if (scope === undefined) throw new Refusal(`--scopes takes ${known.join(', ')}, not ${word.trim()}.`)
    return scope
  })
}
