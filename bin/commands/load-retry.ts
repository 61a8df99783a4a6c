/** `tributary load retry`: applies the rejects of a load again, or continues a failed load. */
import { serverOf, serverOptions } from '../client-options.ts'
import { findLoadId } from '../client/find-load.ts'
import { readLoad } from '../client/load-view.ts'
import { postJson } from '../client/ask.ts'
import type { Command } from '../command.ts'
import { waitAndReport } from './load-status.ts'

export const loadRetry: Command = {
  notes: [
    'A load that is done applies its rejected records again, as its newest change; a failed load continues where it stopped.',
    'Exit code: that of the load, as for tributary load.'
  ],
  operands: ['ID'],
  options: {
    force: { help: 'Allow a refused snapshot to remove any share.' },
    'no-wait': { help: 'Do not wait for the end of the load (exit code 0).' },
    json: { help: 'Print the load and its first rejects as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const id = await findLoadId(server, input.operands[0] ?? '')
    const started = readLoad(
      await postJson(
        server,
        `loads/${encodeURIComponent(id)}/retry${input.isSet('force') ? '?force=true' : ''}`
      )
    )
    return waitAndReport(server, started, input, terminal)
  }
}
