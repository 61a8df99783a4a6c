/** `tributary load cancel`: ends a load that is still running. */
import { serverOf, serverOptions } from '../client-options.ts'
import { findLoadId } from '../client/find-load.ts'
import { idNote } from '../find-id.ts'
import { readLoad } from '../client/load-view.ts'
import { postJson } from '../client/ask.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { reportLoad } from '../load-report.ts'

export const loadCancel: Command = {
  notes: [
    idNote,
    'What has been applied stays.',
    'Exit code: 0 cancelled, 1 refused (it has ended), 4 server unreachable.'
  ],
  examples: ['tributary load cancel 0b8f2c1e'],
  operands: ['ID'],
  options: { json: { help: 'Print the load as JSON.' }, ...serverOptions },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const id = await findLoadId(server, input.operands[0] ?? '')
    const load = readLoad(await postJson(server, `loads/${encodeURIComponent(id)}/cancel`))
    await reportLoad(
      server,
      load,
      { name: null, file: null, asJson: input.isSet('json'), isQuiet: false, elapsedMs: null },
      terminal
    )
    return exitCodes.ok
  }
}
