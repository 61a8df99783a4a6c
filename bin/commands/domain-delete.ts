/** `tributary domain delete DOMAIN`: deletes a domain without sub-domains. */
import { serverOf, serverOptions } from '../client-options.ts'
import { readDomainPaths } from '../client/domain-paths.ts'
import { askGraphql } from '../client/graphql.ts'
import { isObject } from '../client/load-view.ts'
import { resolveDomain } from '../client/resolve-reference.ts'
import type { Server } from '../client/server.ts'
import type { Command } from '../command.ts'
import { confirm, yesOption } from '../confirm.ts'
import { exitCodes } from '../failure.ts'
import { printable } from '../printable.ts'
import { counted } from '../quantity.ts'

export const domainDelete: Command = {
  notes: [
    'DOMAIN is a name, a path such as Sales/Orders, or a URN. Its assets are then in no domain. On a terminal it says how many they are, and asks.',
    'Exit code: 0 deleted, 1 usage, not confirmed or refused (it has domains below it), 4 server unreachable.'
  ],
  examples: ['tributary domain delete Sales/Orders', 'tributary domain delete Sales/Orders --yes'],
  operands: ['DOMAIN'],
  options: { json: { help: 'Print its URN as JSON.' }, ...yesOption, ...serverOptions },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const urn = await resolveDomain(server, input.operands[0] ?? '')
    const path = (await readDomainPaths(server, [urn]))(urn)
    await confirm(input, terminal, async () => `${await whatGoes(server, urn, path)} Delete it?`)
    await askGraphql(server, 'mutation delete($urn: String!) { deleteDomain(urn: $urn) }', { urn })
    terminal.out(input.isSet('json') ? JSON.stringify({ urn }) : printable(`${path} is deleted.`))
    return exitCodes.ok
  }
}

async function whatGoes(server: Server, urn: string, path: string): Promise<string> {
  const { domain } = await askGraphql(
    server,
    'query assets($urn: String!) { domain(urn: $urn) { entities(input: { count: 0 }) { total } } }',
    { urn }
  )
  const entities = isObject(domain) ? domain.entities : null
  const total = isObject(entities) ? Number(entities.total) : 0
  return total === 0
    ? `${path} has no assets.`
    : `${path} has ${counted(total, 'asset')}; ${total === 1 ? 'it' : 'they'} will be in no domain.`
}
