/** `tributary load list`: the loads that the token may see, newest first. */
import { serverOf, serverOptions } from '../client-options.ts'
import { listLoads } from '../client/find-load.ts'
import { count } from '../client/load-progress.ts'
import { loadAsJson, type LoadView } from '../client/load-view.ts'
import type { Command, CommandInput } from '../command.ts'
import { parseSince } from '../duration.ts'
import { exitCodes, Refusal } from '../failure.ts'

export const loadList: Command = {
  notes: [
    'A load must match all options.',
    'Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'
  ],
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
    const server = serverOf(input, terminal)
    for (const load of await listLoads(server, queryOf(input)))
      terminal.out(input.isSet('json') ? JSON.stringify(loadAsJson(load)) : lineOf(load))
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

function lineOf(load: LoadView): string {
  const { received, applied, unchanged, rejected } = load.counts
  const { createdAt, source } = loadAsJson(load)
  const isDryRun = load.dryRun === true
  return [
    load.id,
    String(createdAt).slice(0, 19),
    load.state.padEnd(9),
    `${isDryRun ? 'dry run: ' : ''}${count(received)} received, ${count(applied)} ${isDryRun ? 'would be applied' : 'applied'}, ${count(unchanged)} unchanged, ${count(rejected)} rejected`,
    String(source)
  ].join('  ')
}
