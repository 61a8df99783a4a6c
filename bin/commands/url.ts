/** `tributary url`: prints the address of the server that runs here, for scripts and curl. */
import { readConfig } from '../../shared/platform/config.ts'
import { findOwnServer } from '../client/find-server.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'

export const url: Command = {
  notes: [
    'It is the server that was started with the data folder (TRIBUTARY_DATA_DIR, .data), whichever port it found free, and only once it has proved that: whatever else is set, and whatever else listens on this machine. Exit code 4 if none runs.'
  ],
  examples: ['tributary url', 'curl "$(tributary url)/health/ready"'],
  options: { json: { help: 'Print the address as JSON.' } },
  async run(input, terminal) {
    const url = await findOwnServer(readConfig(terminal.env))
    terminal.out(input.isSet('json') ? JSON.stringify({ url }) : url)
    return exitCodes.ok
  }
}
