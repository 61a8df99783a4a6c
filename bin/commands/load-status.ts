/** `tributary load status`: how far a load is, or how it ended. */
import { serverOf, serverOptions } from '../client-options.ts'
import { findLoadId } from '../client/find-load.ts'
import { idNote } from '../find-id.ts'
import { followLoad } from '../client/follow-load.ts'
import { showProgress } from '../client/load-progress.ts'
import { exitCodeOf, readLoad, type LoadView } from '../client/load-view.ts'
import { getJson } from '../client/ask.ts'
import type { Server } from '../client/server.ts'
import type { Command, CommandInput } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { reportLoad } from '../load-report.ts'
import type { Terminal } from '../terminal.ts'

export const loadStatus: Command = {
  notes: [idNote, 'Exit code: that of the load as for tributary load; 5 while it runs.'],
  examples: ['tributary load status 0b8f2c1e', 'tributary load status 0b8f2c1e --follow'],
  operands: ['ID'],
  options: {
    follow: { help: 'Wait for the end of the load and show progress.' },
    json: { help: 'Print the load and its first rejects as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const server = await serverOf(input, terminal)
    const id = await findLoadId(server, input.operands[0] ?? '')
    const found = readLoad(await getJson(server, `loads/${encodeURIComponent(id)}`))
    const load = input.isSet('follow') ? await followWithProgress(server, found, terminal) : found
    await report(server, load, input, terminal)
    return exitCodeOf(load)
  }
}

/**
 * Waits for the end of a load that the command has started, unless `--no-wait` is set, and reports it. Returns
 * the exit code. Throws as followLoad does.
 */
export async function waitAndReport(
  server: Server,
  started: LoadView,
  input: CommandInput,
  terminal: Terminal
): Promise<number> {
  const isLeft = input.isSet('no-wait')
  const load = isLeft ? started : await followWithProgress(server, started, terminal)
  await report(server, load, input, terminal)
  return isLeft ? exitCodes.ok : exitCodeOf(load)
}

const report = (server: Server, load: LoadView, input: CommandInput, terminal: Terminal): Promise<void> =>
  reportLoad(
    server,
    load,
    { name: null, file: null, asJson: input.isSet('json'), isQuiet: false, elapsedMs: null },
    terminal
  )

/** Follows a load to its end, and shows its progress. Throws as followLoad does. */
async function followWithProgress(server: Server, load: LoadView, terminal: Terminal): Promise<LoadView> {
  const progress = showProgress(terminal, null)
  try {
    return await followLoad(server, load, {
      waitMs: Infinity,
      signal: terminal.interruption(),
      onState: (state) => {
        progress.load(state)
      }
    })
  } finally {
    progress.end()
  }
}
