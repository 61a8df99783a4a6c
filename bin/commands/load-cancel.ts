/** `tributary load cancel`: ends a load that is still running. */
import { serverOf, serverOptions } from '../client-options.ts'
import { findLoadId } from '../client/find-load.ts'
import { idNote } from '../find-id.ts'
import { hasEnded, readLoad, type LoadView } from '../client/load-view.ts'
import { getJson, postJson } from '../client/ask.ts'
import type { Command } from '../command.ts'
import { confirm, yesOption } from '../confirm.ts'
import { exitCodes } from '../failure.ts'
import { reportLoad } from '../load-report.ts'
import { countsSentence } from '../load-sentences.ts'

export const loadCancel: Command = {
  notes: [
    idNote,
    'What has been applied stays. On a terminal it says how much that is, and asks.',
    'Exit code: 0 cancelled, 1 not confirmed or refused (it has ended), 4 server unreachable.'
  ],
  examples: ['tributary load cancel 0b8f2c1e'],
  operands: ['ID'],
  options: { json: { help: 'Print the load as JSON.' }, ...yesOption, ...serverOptions },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const id = await findLoadId(server, input.operands[0] ?? '')
    const path = `loads/${encodeURIComponent(id)}`
    await confirm(input, terminal, async () => questionAbout(readLoad(await getJson(server, path))))
    const load = readLoad(await postJson(server, `${path}/cancel`))
    await reportLoad(
      server,
      load,
      { name: null, file: null, asJson: input.isSet('json'), isQuiet: false, elapsedMs: null },
      terminal
    )
    return exitCodes.ok
  }
}

/** Null if it has ended: the server says then why it cannot be cancelled. */
function questionAbout(load: LoadView): string | null {
  if (hasEnded(load)) return null
  const stays = load.dryRun === true ? 'its report will be missing' : 'what is applied stays'
  return `Load ${load.id} is ${load.state}: ${countsSentence(load)}; ${stays}, the rest is left out. Cancel it?`
}
