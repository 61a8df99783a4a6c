/** `tributary load retry`: applies the rejects of a load again, or continues a failed load. */
import { serverOf, serverOptions } from '../client-options.ts'
import { findLoadId } from '../client/find-load.ts'
import { idNote } from '../find-id.ts'
import { readLoad } from '../client/load-view.ts'
import { postJson } from '../client/ask.ts'
import type { Command, CommandInput } from '../command.ts'
import { waitAndReport } from './load-status.ts'

export const loadRetry: Command = {
  notes: [
    idNote,
    'A load that is done applies its rejected records again, as its newest change; a failed load continues where it stopped.',
    'Exit code: that of the load, as for tributary load.'
  ],
  examples: ['tributary load retry 0b8f2c1e', 'tributary load retry 0b8f2c1e --missing-references create'],
  operands: ['ID'],
  options: {
    force: { help: 'Allow a refused snapshot to remove any share.' },
    'missing-references': { value: 'WHAT', help: 'reject or create. Default: as the load was sent.' },
    'no-wait': { help: 'Do not wait for the end of the load (exit code 0).' },
    json: { help: 'Print the load and its first rejects as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const id = await findLoadId(server, input.operands[0] ?? '')
    const started = readLoad(await postJson(server, `loads/${encodeURIComponent(id)}/retry${queryOf(input)}`))
    return waitAndReport(server, started, input, terminal)
  }
}

function queryOf(input: CommandInput): string {
  const missing = input.text('missing-references')
  const query = new URLSearchParams({
    ...(input.isSet('force') ? { force: 'true' } : {}),
    ...(missing === undefined ? {} : { missingReferences: missing })
  })
  return query.size > 0 ? `?${query.toString()}` : ''
}
