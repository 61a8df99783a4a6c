/** `tributary domain create NAME`: creates a domain and prints its URN. */
import { serverOf, serverOptions } from '../client-options.ts'
import { askGraphql } from '../client/graphql.ts'
import { resolveDomain } from '../client/resolve-reference.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'

export const domainCreate: Command = {
  notes: ['Exit code: 0 created, 1 usage or refused, 4 server unreachable.'],
  examples: ['tributary domain create Sales', 'tributary domain create Orders --in Sales'],
  operands: ['NAME'],
  options: {
    in: {
      value: 'DOMAIN',
      help: 'The domain to put it under: a name, a path such as Sales/Orders, or a URN. Default: the top level.'
    },
    id: { value: 'TEXT', help: 'The last part of its URN. Default: a random one.' },
    description: { value: 'TEXT', help: 'A description of the domain.' },
    json: { help: 'Print its URN as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const parent = input.text('in')
    const { createDomain: urn } = await askGraphql(
      server,
      'mutation create($input: CreateDomainInput!) { createDomain(input: $input) }',
      {
        input: {
          name: input.operands[0],
          id: input.text('id') ?? null,
          description: input.text('description') ?? null,
          parentDomain: parent === undefined ? null : await resolveDomain(server, parent)
        }
      }
    )
    terminal.out(input.isSet('json') ? JSON.stringify({ urn }) : String(urn))
    return exitCodes.ok
  }
}
