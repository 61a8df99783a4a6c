/** `tributary export lineage REFERENCE` and `export domains`: print an export of the server as it arrives. */
import { serverOf, serverOptions } from '../client-options.ts'
import { openExport } from '../client/read-lineage.ts'
import type { Server } from '../client/server.ts'
import type { Command, CommandInput } from '../command.ts'
import { exitCodes } from '../failure.ts'
import type { Terminal } from '../terminal.ts'

const wholeNote =
  'Exit code: 0 everything is printed, 1 usage or refused, 4 server unreachable, or its answer was cut off: then the output is incomplete.'

export const exportLineage: Command = {
  notes: [
    'REFERENCE is a URN or a short reference: snowflake:db.schema.table, table@PROD, or a name that only one entity has. The edges of an export are loaded back with tributary load.',
    wholeNote
  ],
  examples: [
    'tributary export lineage shop.orders --of edges > edges.csv',
    'tributary export lineage shop.orders --format mermaid --hops 2'
  ],
  operands: ['REFERENCE'],
  options: {
    format: {
      value: 'NAME',
      choices: ['csv', 'ndjson', 'dot', 'mermaid'],
      help: 'csv (the default), ndjson, dot (Graphviz) or mermaid.'
    },
    of: {
      value: 'WHAT',
      choices: ['entities', 'edges', 'graph'],
      help: 'entities (the default) or edges; with ndjson also graph, which is both. A diagram is always a graph.'
    },
    direction: {
      value: 'WHICH',
      choices: ['upstream', 'downstream'],
      help: 'upstream or downstream (the default).'
    },
    hops: { value: 'N', help: 'Maximum number of hops. Default: all.' },
    degree: { value: 'LIST', help: 'Only entities of these degrees: 1, 2, 3+.' },
    types: { value: 'LIST', help: 'Only entities of these types, such as DATASET,DASHBOARD.' },
    platform: { value: 'LIST', help: 'Only entities of these platforms, such as looker.' },
    domain: { value: 'DOMAIN', help: 'Only assets directly in this domain: a name, a path, or a URN.' },
    query: { value: 'TEXT', help: 'Only entities whose name, description or URN contains this text.' },
    columns: { help: 'Begin at the columns of an asset.' },
    json: { help: 'The same as --format ndjson.' },
    ...serverOptions
  },
  run: async (input, terminal) =>
    print(
      await serverOf(input, terminal),
      'lineage/export',
      {
        urn: input.operands[0],
        format: formatOf(input),
        direction: input.text('direction')?.toUpperCase(),
        columns: input.isSet('columns') ? 'true' : undefined,
        ...Object.fromEntries(
          ['of', 'hops', 'degree', 'types', 'platform', 'domain', 'query'].map((name) => [
            name,
            input.text(name)
          ])
        )
      },
      terminal
    )
}

export const exportDomains: Command = {
  notes: [
    'The domain of each asset, as a file that can be edited and loaded with tributary load.',
    wholeNote
  ],
  examples: ['tributary export domains --domain Sales > sales.csv'],
  options: {
    format: { value: 'NAME', choices: ['csv', 'ndjson'], help: 'csv (the default) or ndjson.' },
    domain: { value: 'DOMAIN', help: 'Only this domain and those below it: a name, a path, or a URN.' },
    json: { help: 'The same as --format ndjson.' },
    ...serverOptions
  },
  run: async (input, terminal) =>
    print(
      await serverOf(input, terminal),
      'domains/export',
      { format: formatOf(input), domain: input.text('domain') },
      terminal
    )
}

const formatOf = (input: CommandInput): string | undefined =>
  input.text('format') ?? (input.isSet('json') ? 'ndjson' : undefined)

async function print(
  server: Server,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  terminal: Terminal
): Promise<number> {
  const given = Object.entries(query).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]))
  const { header, lines } = await openExport(server, path, Object.fromEntries(given))
  for await (const line of lines()) terminal.out(line)
  if (header('x-lineage-complete') === 'false')
    terminal.err(`Cut short by ${header('x-lineage-truncated-by') ?? 'a limit'}: there is more.`)
  return exitCodes.ok
}
