/** `tributary token list`: all access tokens, without their secrets. */
import type { TokenView } from '../../shared/catalog/access/create-token.ts'
import { listTokens } from '../../shared/catalog/access/list-tokens.ts'
import { readAspects } from '../../shared/catalog/entities/read-aspects.ts'
import type { Db } from '../../shared/db/database.ts'
import { limits } from '../../shared/limits.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { nameFromUrn } from '../../shared/urn/kinds.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { withMigratedDatabase } from '../open-database.ts'
import { openTable, type Cell, type Column } from '../table.ts'

export const tokenList: Command = {
  notes: ['The first characters of an id are enough for the other commands.'],
  examples: ['tributary token list'],
  options: { json: { help: 'Print each token as one line of JSON.' } },
  async run(input, terminal) {
    const { tokens, total, nameOf } = await withMigratedDatabase(readConfig(terminal.env), async (db) => {
      const page = await listTokens(db, { count: limits.pageMaxCount })
      return { ...page, nameOf: await domainNames(db, page.tokens) }
    })
    if (input.isSet('json'))
      for (const token of tokens)
        terminal.out(JSON.stringify({ ...token, domainUrn: token.domainUrns?.[0] ?? null }))
    else openTable(columns, terminal).print(tokens.map((token) => rowOf(token, nameOf, new Date())))
    if (total > tokens.length) terminal.err(`${total - tokens.length} more are not shown.`)
    return exitCodes.ok
  }
}

/** Gives the name of each domain that limits a token. */
async function domainNames(db: Db, tokens: readonly TokenView[]): Promise<(urn: Urn) => string> {
  const urns = [...new Set(tokens.flatMap(({ domainUrns }) => domainUrns ?? []))]
  const aspects = await readAspects(db, urns, ['domainProperties'])
  return (urn) => {
    const name = aspects.get(urn)?.get('domainProperties')?.value.name
    return typeof name === 'string' ? name : urn
  }
}

const columns: readonly Column[] = [
  { title: 'ID', kind: 'id' },
  { title: 'NAME', kind: 'name' },
  { title: 'SCOPES', leaveOut: 4 },
  { title: 'DOMAINS', kind: 'name', leaveOut: 3 },
  { title: 'VALID', colour: (text) => (/^(?:revoked|expired)/.test(text) ? 'red' : null), leaveOut: 5 },
  { title: 'ENDS WITH', leaveOut: 1, colour: 'dim' },
  { title: 'MADE BY', kind: 'name', leaveOut: 2 }
]

function rowOf(token: TokenView, nameOf: (urn: Urn) => string, now: Date): Cell[] {
  const { id, name, hint, scopes, domainUrns } = token
  return [
    id,
    name,
    scopes.join(','),
    domainUrns?.map(nameOf).join(', ') ?? '',
    validityOf(token, now),
    `…${hint}`,
    makerOf(token)
  ]
}

/** With what is known about a maker who may be gone. */
function makerOf({ makerUrn, makerState }: TokenView): string {
  if (makerUrn === null) return ''
  const name = nameFromUrn(makerUrn)
  if (makerState === null) return name
  if (!makerState.hasRole) return `${name} (no role)`
  return makerState.absentDays === 0 ? name : `${name} (seen ${makerState.absentDays}d ago)`
}

function validityOf({ revokedAt, expiresAt }: TokenView, now: Date): string {
  if (revokedAt !== null) return `revoked ${day(revokedAt)}`
  if (expiresAt === null) return 'forever'
  return `${expiresAt < now ? 'expired' : 'until'} ${day(expiresAt)}`
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10)
}
