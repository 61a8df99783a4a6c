/** `tributary domain tree`: the domains, with how many assets are in each. */
import { serverOf, serverOptions } from '../client-options.ts'
import { count } from '../client/load-progress.ts'
import { readDomainTree, type DomainNode } from '../client/read-domains.ts'
import { resolveDomain } from '../client/resolve-reference.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { printable } from '../printable.ts'

export const domainTree: Command = {
  notes: [
    'DOMAIN is where the tree begins: a name, a path such as Sales/Orders, or a URN. Without it all domains are printed.',
    'The number counts the assets directly in a domain.',
    'Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'
  ],
  operands: ['[DOMAIN]'],
  options: {
    json: { help: 'Print each domain as one line of JSON, with its parent and its depth.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = serverOf(input, terminal)
    const [domain] = input.operands
    const nodes = await readDomainTree(
      server,
      domain === undefined ? null : await resolveDomain(server, domain)
    )
    for (const node of nodes) terminal.out(input.isSet('json') ? JSON.stringify(node) : lineOf(node))
    if (nodes.length === 0) terminal.err('There are no domains.')
    return exitCodes.ok
  }
}

const lineOf = ({ urn, name, assetCount, depth }: DomainNode): string =>
  `${'  '.repeat(depth)}${printable(name)} (${count(assetCount)} ${assetCount === 1 ? 'asset' : 'assets'})  ${urn}`
