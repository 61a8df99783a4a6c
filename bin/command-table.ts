/** Every command: its words, what it is for, and where it is. A command is loaded when it is called: most need little of the program. */
import type { Command } from './command.ts'

export type CommandEntry = {
  /** The words after `tributary`, such as `token create`. */
  name: string
  summary: string
  open(): Promise<Command>
}

export const commandTable: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'Runs the API. Needs DATABASE_URL; run `tributary migrate` first.',
    open: async () => (await import('./commands/serve.ts')).serve
  },
  {
    name: 'work',
    summary: 'Runs a worker, which applies bulk loads. Needs DATABASE_URL; any number may run.',
    open: async () => (await import('./commands/work.ts')).work
  },
  {
    name: 'migrate',
    summary: 'Brings the database of DATABASE_URL to the newest schema. Safe to run at any time, also several at once.',
    open: async () => (await import('./commands/migrate.ts')).migrateCommand
  },
  {
    name: 'token create',
    summary: 'Makes an access token and prints it, alone, on standard output. It cannot be shown again.',
    open: async () => (await import('./commands/token-create.ts')).tokenCreate
  },
  {
    name: 'token list',
    summary: 'Lists the access tokens, newest first, without their texts.',
    open: async () => (await import('./commands/token-list.ts')).tokenList
  },
  {
    name: 'token revoke',
    summary: 'Ends an access token. It is refused everywhere within a second.',
    open: async () => (await import('./commands/token-revoke.ts')).tokenRevoke
  },
  {
    name: 'load',
    summary: 'Sends a file (or - for standard input) through the bulk pipeline and follows the load to its end.',
    open: async () => (await import('./commands/load.ts')).load
  },
  {
    name: 'lineage',
    summary: 'Prints what an asset or a column feeds, or comes from, as a tree.',
    open: async () => (await import('./commands/lineage.ts')).lineage
  },
  {
    name: 'doctor',
    summary: 'Looks at configuration, database, schema, queue, clock and loads. Exit code 1 where something is wrong.',
    open: async () => (await import('./commands/doctor.ts')).doctor
  }
]
