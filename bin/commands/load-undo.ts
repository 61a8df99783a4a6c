/** `tributary load undo`: undoes what a load changed, and waits for the end. */
import { serverOf, serverOptions } from '../client-options.ts'
import { findLoadId } from '../client/find-load.ts'
import { idNote } from '../find-id.ts'
import { isObject, readLoad, type LoadView } from '../client/load-view.ts'
import { getJson, postJson } from '../client/ask.ts'
import type { Command } from '../command.ts'
import { confirm, yesOption } from '../confirm.ts'
import { counted } from '../quantity.ts'
import { waitAndReport } from './load-status.ts'

export const loadUndo: Command = {
  notes: [
    idNote,
    'Values that have changed again since then count as unchanged; changes that cannot be undone are rejected.',
    'The undo is a load with its own id. Undo it to restore the changes.',
    'On a terminal it says what is undone, and asks. A dry run changes nothing and asks nothing. It reports what the undo would change, and everything downstream of that.',
    'Exit code: that of the undo, as for tributary load; 1 refused or not confirmed.'
  ],
  examples: ['tributary load undo 0b8f2c1e --dry-run', 'tributary load undo 0b8f2c1e'],
  operands: ['ID'],
  options: {
    'dry-run': { help: 'Only report what the undo would change.' },
    'no-wait': { help: 'Do not wait for the end of the undo (exit code 0).' },
    ...yesOption,
    json: { help: 'Print the undo and its first rejects as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const id = await findLoadId(server, input.operands[0] ?? '')
    const path = `loads/${encodeURIComponent(id)}`
    const isDryRun = input.isSet('dry-run')
    if (!isDryRun)
      await confirm(input, terminal, async () => questionAbout(readLoad(await getJson(server, path))))
    const started = readLoad(await postJson(server, `${path}/undo${isDryRun ? '?dryRun=true' : ''}`))
    return waitAndReport(server, started, input, terminal)
  }
}

function questionAbout({ id, source, counts, snapshot }: LoadView): string {
  const removed = isObject(snapshot) ? Number(snapshot.removed) : 0
  const changes = [
    ...(counts.applied > 0 ? [`applied ${counted(counts.applied, 'record')}`] : []),
    ...(removed > 0 ? [`removed ${counted(removed, 'edge')}`] : [])
  ]
  const did = changes.length === 0 ? 'changed nothing' : changes.join(' and ')
  const from = typeof source === 'string' ? ` of ${source}` : ''
  return `Load ${id}${from} ${did}; that is undone, except what something newer has changed. Undo it?`
}
