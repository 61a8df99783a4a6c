/** `tributary domain move DOMAIN`: puts a domain under another one, or at the top level. */
import { serverOf, serverOptions } from '../client-options.ts'
import { readDomainPaths } from '../client/domain-paths.ts'
import { askGraphql } from '../client/graphql.ts'
import { resolveDomain } from '../client/resolve-reference.ts'
import type { Command } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { printable } from '../printable.ts'

export const domainMove: Command = {
  notes: [
    'DOMAIN is a name, a path such as Sales/Orders, or a URN.',
    'Exit code: 0 moved, 1 usage or refused, 4 server unreachable.'
  ],
  examples: ['tributary domain move Orders --to Sales', 'tributary domain move Sales/Orders --top'],
  operands: ['DOMAIN'],
  options: {
    to: { value: 'DOMAIN', help: 'The domain to put it under.' },
    top: { help: 'Put it at the top level.' },
    json: { help: 'Print its URN and that of its parent as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const to = input.text('to')
    if ((to === undefined) !== input.isSet('top'))
      throw new Refusal('tributary domain move needs either --to DOMAIN or --top.')
    const server = await serverOf(input, terminal)
    const urn = await resolveDomain(server, input.operands[0] ?? '')
    const parent = to === undefined ? null : await resolveDomain(server, to)
    await askGraphql(server, 'mutation move($input: MoveDomainInput!) { moveDomain(input: $input) }', {
      input: { resourceUrn: urn, parentDomain: parent }
    })
    if (input.isSet('json')) terminal.out(JSON.stringify({ urn, parent }))
    else {
      const pathOf = await readDomainPaths(server, [urn])
      terminal.out(printable(`The domain is now ${pathOf(urn)}.`))
    }
    return exitCodes.ok
  }
}
