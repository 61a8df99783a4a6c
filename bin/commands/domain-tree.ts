/** `tributary domain tree`: the domains, with how many assets are in each. */
import { serverOf, serverOptions } from '../client-options.ts'
import { count } from '../quantity.ts'
import { readDomainTree, type DomainNode } from '../client/read-domains.ts'
import { resolveDomain } from '../client/resolve-reference.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { openTable, type Cell, type Column } from '../table.ts'

export const domainTree: Command = {
  notes: [
    'DOMAIN is where the tree begins: a name, a path such as Sales/Orders, or a URN. Without it all domains are printed.',
    'The number counts the assets directly in a domain.',
    'Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'
  ],
  examples: ['tributary domain tree', 'tributary domain tree Sales'],
  operands: ['[DOMAIN]'],
  options: {
    json: { help: 'Print each domain as one line of JSON, with its parent and its depth.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const [domain] = input.operands
    const nodes = await readDomainTree(
      server,
      domain === undefined ? null : await resolveDomain(server, domain)
    )
    if (input.isSet('json')) for (const node of nodes) terminal.out(JSON.stringify(node))
    else openTable(columns, terminal).print(nodes.map(rowOf))
    if (nodes.length === 0) terminal.err('There are no domains.')
    return exitCodes.ok
  }
}

const columns: readonly Column[] = [
  { title: 'DOMAIN', kind: 'name' },
  { title: 'ASSETS', kind: 'number' },
  { title: 'URN', colour: 'dim', leaveOut: 1 }
]

const rowOf = ({ urn, name, assetCount, depth }: DomainNode): Cell[] => [
  `${'  '.repeat(depth)}${name}`,
  { text: count(assetCount), machine: String(assetCount) },
  urn
]
