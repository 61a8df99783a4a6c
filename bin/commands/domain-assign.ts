/**
 * `tributary domain assign DOMAIN ASSET...` and `domain unassign ASSET...`: put assets into a domain, and
 * take them out of their domains.
 */
import { serverOf, serverOptions } from '../client-options.ts'
import { readDomainPaths } from '../client/domain-paths.ts'
import { askGraphql } from '../client/graphql.ts'
import { resolveDomain, resolveReference } from '../client/resolve-reference.ts'
import type { Server } from '../client/server.ts'
import type { Command, CommandInput } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { printable } from '../printable.ts'
import type { Terminal } from '../terminal.ts'

const assetNote =
  'ASSET is a URN or a short reference: snowflake:db.schema.table, table@PROD, or a name that only one entity has.'

export const domainAssign: Command = {
  notes: [
    'DOMAIN is a name, a path such as Sales/Orders, or a URN.',
    `${assetNote} Assigns all assets or none; each leaves its current domain. For thousands of assets use tributary load.`,
    'Exit code: 0 assigned, 1 usage or refused, 4 server unreachable.'
  ],
  examples: ['tributary domain assign Sales/Orders shop.orders shop.order_items'],
  operands: ['DOMAIN', 'ASSET...'],
  options: { json: { help: 'Print the URNs of domain and assets as JSON.' }, ...serverOptions },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const [domain = '', ...assets] = input.operands
    return assign(server, await resolveDomain(server, domain), assets, input, terminal)
  }
}

export const domainUnassign: Command = {
  notes: [
    `${assetNote} Unassigns all assets or none.`,
    'Exit code: 0 taken out, 1 usage or refused, 4 server unreachable.'
  ],
  examples: ['tributary domain unassign shop.orders'],
  operands: ['ASSET...'],
  options: { json: { help: 'Print the URNs of the assets as JSON.' }, ...serverOptions },
  run: async (input, terminal) =>
    assign(await serverOf(input, terminal), null, input.operands, input, terminal)
}

async function assign(
  server: Server,
  domain: string | null,
  references: readonly string[],
  input: CommandInput,
  terminal: Terminal
): Promise<number> {
  const assets: string[] = []
  for (const reference of references) assets.push(await resolveReference(server, reference))
  await askGraphql(
    server,
    'mutation assign($input: BatchSetDomainInput!) { batchSetDomain(input: $input) }',
    {
      input: { domainUrn: domain, resources: assets.map((resourceUrn) => ({ resourceUrn })) }
    }
  ).catch((error: unknown) => {
    throw withWayOut(error)
  })
  if (input.isSet('json')) terminal.out(JSON.stringify({ domain, assets }))
  else {
    const place = domain === null ? 'no domain' : (await readDomainPaths(server, [domain]))(domain)
    for (const asset of assets) terminal.out(printable(`${asset} is now in ${place}.`))
  }
  return exitCodes.ok
}

/** A placeholder is found and walked, so that "does not exist" alone would be a riddle. */
function withWayOut(error: unknown): unknown {
  if (!(error instanceof Refusal) || !error.message.includes('MISSING_REFERENCE')) return error
  return new Refusal(
    `${error.message} If only lineage mentions it, load {"op": "upsertEntity", "urn": …} first, or load a CSV with the columns resource and domain and --missing-references create.`,
    error.exitCode,
    { cause: error }
  )
}
