/** `tributary load list`: the loads that the token may see, newest first. */
import { serverOf, serverOptions } from '../client-options.ts'
import { isObject, loadAsJson, readLoad } from '../client/load-view.ts'
import { count } from '../client/load-progress.ts'
import { getJson } from '../client/server.ts'
import type { Command } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'

export const loadList: Command = {
  notes: ['Exit code: 0 printed, 1 usage or refused, 4 server unreachable.'],
  options: {
    limit: { value: 'N', help: 'So many at most. Default: 20.' },
    json: { help: 'Print each load as one line of JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = serverOf(input, terminal)
    const limit = input.text('limit') ?? '20'
    if (!/^[1-9]\d{0,3}$/.test(limit)) throw new Refusal(`--limit takes a number from 1 to 9999, not ${limit}.`)
    const answer = await getJson(server, `loads?limit=${limit}`)
    if (!isObject(answer) || !Array.isArray(answer.loads)) throw new Refusal('The server does not answer as Tributary does: this is no list.', exitCodes.unreachable)
    for (const value of answer.loads) {
      const load = readLoad(value)
      const { received, applied, unchanged, rejected } = load.counts
      const { createdAt, source } = isObject(value) ? value : {}
      terminal.out(input.isSet('json') ? JSON.stringify(loadAsJson(load)) : [load.id, new Date(Number(createdAt)).toISOString().slice(0, 19), load.state.padEnd(9),
        `${load.dryRun === true ? 'dry run: ' : ''}${count(received)} received, ${count(applied)} ${load.dryRun === true ? 'would be applied' : 'applied'}, ${count(unchanged)} unchanged, ${count(rejected)} rejected`, String(source)].join('  '))
    }
    return exitCodes.ok
  }
}
