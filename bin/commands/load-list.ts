/** `tributary load list`: the loads that the token may see, newest first. */
import { serverOf, serverOptions } from '../client-options.ts'
import { listLoads } from '../client/find-load.ts'
import { count } from '../quantity.ts'
import { loadAsJson, type LoadView } from '../client/load-view.ts'
import type { Command, CommandInput } from '../command.ts'
import { ageOf, parseSince } from '../duration.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { colourOfState } from '../state-colours.ts'
import { openTable, type Cell, type Column } from '../table.ts'

export const loadList: Command = {
  notes: [
    'A load must match all options. The first characters of an id are enough for the other commands.',
    'Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'
  ],
  examples: ['tributary load list', 'tributary load list --state failed,aborted --since 12h'],
  options: {
    state: {
      value: 'LIST',
      help: 'receiving, accepted, applying, done, failed, aborted, cancelled; separated by commas.'
    },
    source: { value: 'NAME', help: 'Loads of this source.' },
    mode: { value: 'NAME', choices: ['merge', 'snapshot', 'undo'], help: 'merge, snapshot or undo.' },
    since: { value: 'TIME', help: 'Loads sent since this time: 12h or 30d ago, or a date.' },
    limit: { value: 'N', help: 'Maximum number. Default: 20.' },
    json: { help: 'Print each load as one line of JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const loads = await listLoads(server, queryOf(input))
    if (input.isSet('json')) for (const load of loads) terminal.out(JSON.stringify(loadAsJson(load)))
    else openTable(columns, terminal).print(loads.map((load) => rowOf(load, Date.now())))
    if (loads.length === 0) terminal.err('No load matches.')
    return exitCodes.ok
  }
}

function queryOf(input: CommandInput): Record<string, string> {
  const limit = input.text('limit') ?? '20'
  if (!/^[1-9]\d{0,3}$/.test(limit)) throw new Refusal(`--limit takes a number from 1 to 9999, not ${limit}.`)
  const since = input.text('since')
  const query = {
    limit,
    state: input.text('state'),
    source: input.text('source'),
    mode: input.text('mode'),
    since: since === undefined ? undefined : parseSince(since, new Date()).toISOString()
  }
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]))
  )
}

const columns: readonly Column[] = [
  { title: 'ID', kind: 'id' },
  { title: 'AGE', kind: 'number', leaveOut: 5 },
  { title: 'STATE', colour: colourOfState },
  // says that a load was a dry run
  { title: 'MODE', leaveOut: 6 },
  { title: 'SOURCE', kind: 'name', leaveOut: 4 },
  { title: 'RECEIVED', kind: 'number', leaveOut: 3 },
  { title: 'APPLIED', kind: 'number', leaveOut: 2 },
  { title: 'UNCHANGED', kind: 'number', leaveOut: 1 },
  { title: 'REJECTED', kind: 'number', leaveOut: 7, colour: (text) => (text === '0' ? null : 'yellow') }
]

function rowOf(load: LoadView, now: number): Cell[] {
  const { received, applied, unchanged, rejected } = load.counts
  const { createdAt, mode, source } = loadAsJson(load)
  return [
    load.id,
    { text: ageOf(now - Date.parse(String(createdAt))), machine: String(createdAt) },
    load.state,
    load.dryRun === true ? 'dry run' : typeof mode === 'string' ? mode : '',
    typeof source === 'string' ? source : '',
    ...[received, applied, unchanged, rejected].map((number) => ({
      text: count(number),
      machine: String(number)
    }))
  ]
}
