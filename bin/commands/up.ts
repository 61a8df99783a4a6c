/**
 * `tributary up`: everything in one process, with an embedded database unless DATABASE_URL is set. What `npm
 * start` runs.
 */
import { endWithNpm, shellOfNpm } from '../../dev/end-with-npm.ts'
import { startEverything } from '../../dev/start-everything.ts'
import type { Command } from '../command.ts'

export const up: Command = {
  notes: [
    'The database and the token are below TRIBUTARY_DATA_DIR (.data), unless DATABASE_URL names a database. Ctrl-C stops everything; the data stays.'
  ],
  examples: ['tributary up', 'PORT=5050 TRIBUTARY_DATA_DIR=/srv/catalog tributary up'],
  options: {},
  async run(_input, terminal) {
    const shell = shellOfNpm()
    await startEverything({ ...terminal.env }, (line) => {
      terminal.out(line)
    })
    endWithNpm(shell)
    return null
  }
}
