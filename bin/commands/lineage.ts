/** `tributary lineage REFERENCE`: what an asset or column comes from and feeds, as a tree or as JSON. */
import { limits } from '../../shared/limits.ts'
import { serverOf, serverOptions } from '../client-options.ts'
import { resolveReference } from '../client/resolve-reference.ts'
import { openLineage, type Direction, type LineageLines } from '../client/read-lineage.ts'
import type { Command, CommandInput } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { canDraw, growTree, printTree, type LineageTree } from '../lineage-tree.ts'
import { count, counted } from '../quantity.ts'
import type { Terminal } from '../terminal.ts'

const linesDefaultCount = 200
const linesMaxCount = 100_000

export const lineage: Command = {
  notes: [
    'REFERENCE is a URN or a short reference: snowflake:db.schema.table, table@PROD, or a name that only one entity has.',
    'Each entity is printed once, where it is nearest; later occurrences are marked (again). What is not shown is counted.',
    'Exit code: 0 printed, 1 usage or refused, 4 server unreachable, or its answer was cut off.'
  ],
  examples: [
    'tributary lineage hive:shop.orders',
    'tributary lineage shop.orders --direction upstream --hops 2'
  ],
  operands: ['REFERENCE'],
  options: {
    direction: {
      value: 'WHICH',
      choices: ['upstream', 'downstream', 'both'],
      help: 'upstream, downstream or both. Default: downstream.'
    },
    hops: { value: 'N', help: 'Maximum number of hops. Default: all.' },
    columns: { help: 'Follow the columns of an asset.' },
    types: { value: 'LIST', help: 'Only entities of these types, such as DATASET,DASHBOARD.' },
    limit: { value: 'N', help: `Lines of one tree; the nearest are shown. Default: ${linesDefaultCount}.` },
    json: { help: 'Print all nodes and edges as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const [reference = ''] = input.operands
    const directions = readDirections(input.text('direction'))
    const maxLines = readNumber(input, 'limit', linesMaxCount) ?? linesDefaultCount
    const urn = await resolveReference(server, reference)
    const query = queryOf(input, urn)
    const print = input.isSet('json') ? printJson : printAsTree
    for (const [index, direction] of directions.entries()) {
      const found = await openLineage(server, { ...query, direction })
      await print(
        { found, urn, direction, maxLines, isFirst: index === 0, isLast: index === directions.length - 1 },
        terminal
      )
    }
    return exitCodes.ok
  }
}

function readDirections(text = 'downstream'): Direction[] {
  if (text === 'both') return ['UPSTREAM', 'DOWNSTREAM']
  return [text === 'upstream' ? 'UPSTREAM' : 'DOWNSTREAM']
}

function readNumber(input: CommandInput, option: string, maximum: number): number | null {
  const text = input.text(option)
  if (text === undefined) return null
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > maximum)
    throw new Refusal(`--${option} takes a number from 1 to ${maximum}, not ${text}.`)
  return number
}

function queryOf(input: CommandInput, urn: string): Record<string, string> {
  const hops = readNumber(input, 'hops', limits.walkMaxHops)
  const types = input.text('types')
  return {
    urn,
    ...(hops === null ? {} : { hops: String(hops) }),
    ...(types === undefined ? {} : { types }),
    ...(input.isSet('columns') ? { columns: 'true' } : {})
  }
}

type Part = {
  found: LineageLines
  urn: string
  direction: Direction
  maxLines: number
  isFirst: boolean
  isLast: boolean
}

async function printAsTree(
  { found, urn, direction, maxLines, isFirst }: Part,
  terminal: Terminal
): Promise<void> {
  const tree = await growTree(found, direction, maxLines)
  if (!isFirst) terminal.out('')
  terminal.out(`${direction === 'DOWNSTREAM' ? 'Downstream' : 'Upstream'} of ${urn}`)
  for (const line of printTree(tree, canDraw(terminal.env))) terminal.out(line)
  terminal.out(summaryOf(found, tree))
}

function summaryOf(
  { total, complete, truncatedBy }: LineageLines,
  { shownCount, hops }: LineageTree
): string {
  const counts = `${counted(total, 'entity')} within ${counted(hops, 'hop')}`
  const shown =
    shownCount < total ? `; the nearest ${count(shownCount)} are shown (--limit shows more, --json all)` : ''
  return complete
    ? `${counts}, complete${shown}`
    : `${counts}, cut short by ${truncatedBy ?? 'a limit'}: there is more${shown}`
}

/**
 * One object over many lines, printed as it arrives: only one line is in memory, however large the lineage
 * is.
 */
async function printJson(
  { found, urn, direction, isFirst, isLast }: Part,
  terminal: Terminal
): Promise<void> {
  const { complete, truncatedBy, total } = found
  if (isFirst) terminal.out(`{"urn": ${JSON.stringify(urn)}, "lineage": [`)
  terminal.out(
    `{"direction": "${direction}", ${JSON.stringify({ complete, truncatedBy, total }).slice(1, -1)}, "nodes": [`
  )
  let list: 'nodes' | 'edges' = 'nodes'
  let held: string | null = null
  for await (const line of found.lines()) {
    const isEdge = 'edge' in line
    if (held !== null) terminal.out(isEdge && list === 'nodes' ? held : `${held},`)
    if (isEdge && list === 'nodes') {
      list = 'edges'
      terminal.out('], "edges": [')
    }
    held = JSON.stringify(isEdge ? line.edge : line.node)
  }
  if (held !== null) terminal.out(held)
  terminal.out(`${list === 'nodes' ? '], "edges": [' : ''}]}${isLast ? ']}' : ','}`)
}
