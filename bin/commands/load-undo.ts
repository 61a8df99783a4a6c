/** `tributary load undo`: undoes what a load changed, and waits for the end. */
import { serverOf, serverOptions } from '../client-options.ts'
import { findLoadId } from '../client/find-load.ts'
import { idNote } from '../find-id.ts'
import { readLoad } from '../client/load-view.ts'
import { postJson } from '../client/ask.ts'
import type { Command } from '../command.ts'
import { waitAndReport } from './load-status.ts'

export const loadUndo: Command = {
  notes: [
    idNote,
    'Values that have changed again since then count as unchanged; changes that cannot be undone are rejected.',
    'The undo is a load with its own id. Undo it to restore the changes.',
    'A dry run changes nothing. It reports what the undo would change, and everything downstream of that.',
    'Exit code: that of the undo, as for tributary load.'
  ],
  examples: ['tributary load undo 0b8f2c1e --dry-run', 'tributary load undo 0b8f2c1e'],
  operands: ['ID'],
  options: {
    'dry-run': { help: 'Only report what the undo would change.' },
    'no-wait': { help: 'Do not wait for the end of the undo (exit code 0).' },
    json: { help: 'Print the undo and its first rejects as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const id = await findLoadId(server, input.operands[0] ?? '')
    const query = input.isSet('dry-run') ? '?dryRun=true' : ''
    const started = readLoad(await postJson(server, `loads/${encodeURIComponent(id)}/undo${query}`))
    return waitAndReport(server, started, input, terminal)
  }
}
