/** `tributary search WORDS...`: finds entities by words; those with the words in their name come first. */
import { nameFromUrn } from '../../shared/urn/kinds.ts'
import { toUrn } from '../../shared/urn/urn.ts'
import { serverOf, serverOptions } from '../client-options.ts'
import { cardFragment, cardOf } from '../client/entity-card.ts'
import { askGraphql } from '../client/graphql.ts'
import { count } from '../quantity.ts'
import { isObject } from '../client/load-view.ts'
import { resolveDomain } from '../client/resolve-reference.ts'
import type { Server } from '../client/server.ts'
import type { Command, CommandInput } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { openTable, type Column } from '../table.ts'

const defaultCount = 20

const query = `
  query search($input: SearchAcrossEntitiesInput!) {
    searchAcrossEntities(input: $input) { total isEstimate searchResults { entity { urn type ...card } } }
  }${cardFragment}`

/** A URN is complete or absent: a part of one is of no use. */
const columns: readonly Column[] = [
  { title: 'NAME', kind: 'name' },
  { title: 'TYPE', colour: 'cyan', leaveOut: 4 },
  { title: 'PLATFORM', leaveOut: 3 },
  { title: 'DOMAIN', kind: 'name', leaveOut: 2 },
  { title: 'URN', colour: 'dim', leaveOut: 1 }
]

export const search: Command = {
  notes: [
    'All WORDS must be in the name, columns, description or URN. Also: "a phrase" in quotes, a prefix with a star (ord*), or * for everything.',
    'A name in the answer is a reference that other commands take, as is platform:name. URNs are shown if the terminal is wide enough, and always in a pipe.',
    'Exit code: 0 printed, even if nothing is found, 1 usage or refused, 4 server unreachable.'
  ],
  examples: ['tributary search orders', "tributary search 'ord*' --platform hive --domain Sales"],
  operands: ['WORDS...'],
  options: {
    types: { value: 'LIST', help: 'Only entities of these types, such as DATASET,DASHBOARD.' },
    platform: { value: 'LIST', help: 'Only entities of these platforms, such as snowflake.' },
    env: { value: 'LIST', help: 'Only entities of these environments, such as PROD.' },
    domain: {
      value: 'DOMAIN',
      help: 'Only entities in this domain, or in one below it: a name, a path, or a URN.'
    },
    limit: { value: 'N', help: `Maximum number. Default: ${defaultCount}.` },
    json: { help: 'Print each entity as one line of JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const { searchAcrossEntities: found } = await askGraphql(server, query, {
      input: await questionOf(server, input)
    })
    if (!isObject(found) || !Array.isArray(found.searchResults))
      throw new Refusal(
        'Unexpected answer from the server: not search results. Is this a Tributary server?',
        exitCodes.unreachable
      )
    const entities = found.searchResults.map((result) => (isObject(result) ? result.entity : null))
    if (input.isSet('json')) for (const entity of entities) terminal.out(JSON.stringify(asJson(entity)))
    else
      openTable(columns, terminal).print(
        entities.map((entity) => {
          const { urn, type, name, platform, domain } = cardOf(entity)
          return [name, type, platform, domain, urn]
        })
      )
    const total = Number(found.total)
    if (total > entities.length)
      terminal.err(
        `${count(entities.length)} of ${found.isEstimate === true ? 'about ' : ''}${count(total)} are shown; --limit shows more.`
      )
    else if (total === 0) terminal.err('Nothing was found.')
    return exitCodes.ok
  }
}

async function questionOf(server: Server, input: CommandInput): Promise<Record<string, unknown>> {
  const limit = input.text('limit') ?? String(defaultCount)
  if (!/^[1-9]\d{0,3}$/.test(limit)) throw new Refusal(`--limit takes a number from 1 to 9999, not ${limit}.`)
  const domain = input.text('domain')
  const filters = [
    { field: 'platform', values: listed(input.text('platform')) },
    { field: 'origin', values: listed(input.text('env')) },
    {
      field: 'domains',
      values: domain === undefined ? [] : [await resolveDomain(server, domain)],
      condition: 'DESCENDANTS_INCL'
    }
  ].filter(({ values }) => values.length > 0)
  return {
    query: input.operands.join(' '),
    count: Number(limit),
    types: listed(input.text('types')),
    orFilters: filters.length > 0 ? [{ and: filters }] : [],
    searchFlags: { skipAggregates: true }
  }
}

const listed = (text: string | undefined): string[] => (text ?? '').split(',').filter((value) => value !== '')

function asJson(entity: unknown): { urn: string; type: string; name: string } {
  const { urn, type, described } = isObject(entity) ? entity : {}
  const name = type === 'DOMAIN' && isObject(described) ? described.name : null
  return {
    urn: String(urn),
    type: String(type),
    name: typeof name === 'string' ? name : nameFromUrn(toUrn(String(urn)))
  }
}
