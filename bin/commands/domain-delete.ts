/** `tributary domain delete DOMAIN`: deletes a domain without sub-domains. */
import { serverOf, serverOptions } from '../client-options.ts'
import { readDomainPaths } from '../client/domain-paths.ts'
import { askGraphql } from '../client/graphql.ts'
import { resolveDomain } from '../client/resolve-reference.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { printable } from '../printable.ts'

export const domainDelete: Command = {
  notes: [
    'DOMAIN is a name, a path such as Sales/Orders, or a URN. Its assets are then in no domain.',
    'Exit code: 0 deleted, 1 usage or refused (it has domains below it), 4 server unreachable.'
  ],
  examples: ['tributary domain delete Sales/Orders'],
  operands: ['DOMAIN'],
  options: { json: { help: 'Print its URN as JSON.' }, ...serverOptions },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const urn = await resolveDomain(server, input.operands[0] ?? '')
    const pathOf = await readDomainPaths(server, [urn])
    await askGraphql(server, 'mutation delete($urn: String!) { deleteDomain(urn: $urn) }', { urn })
    terminal.out(input.isSet('json') ? JSON.stringify({ urn }) : printable(`${pathOf(urn)} is deleted.`))
    return exitCodes.ok
  }
}
