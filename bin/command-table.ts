/** Every command: its words, what it is for, and where it is. A command is loaded when it is called: most need little of the program. */
import type { Command } from './command.ts'

export type CommandEntry = {
  /** The words after `tributary`, such as `token create`. */
  name: string
  summary: string
  /** The heading that it stands under in the overview. */
  group: string
  open: () => Promise<Command>
}

export const commandTable: readonly CommandEntry[] = [
  {
    name: 'up',
    group: 'Run:',
    summary:
      'Runs everything in one process, with a database of its own where DATABASE_URL names none: what `npm start` runs.',
    open: async () => (await import('./commands/up.ts')).up
  },
  {
    name: 'serve',
    group: 'Run:',
    summary: 'Runs the API. Needs DATABASE_URL; run `tributary migrate` first.',
    open: async () => (await import('./commands/serve.ts')).serve
  },
  {
    name: 'work',
    group: 'Run:',
    summary: 'Runs a worker, which applies bulk loads. Needs DATABASE_URL; any number may run.',
    open: async () => (await import('./commands/work.ts')).work
  },
  {
    name: 'migrate',
    group: 'Run:',
    summary:
      'Brings the database of DATABASE_URL to the newest schema. Safe to run at any time, also several at once.',
    open: async () => (await import('./commands/migrate.ts')).migrateCommand
  },
  {
    name: 'doctor',
    group: 'Run:',
    summary:
      'Looks at configuration, database, schema, queue, clock and loads. Exit code 1 where something is wrong.',
    open: async () => (await import('./commands/doctor.ts')).doctor
  },
  {
    name: 'load',
    group: 'Loads:',
    summary:
      'Sends files, folders or standard input through the bulk pipeline and follows each load to its end.',
    open: async () => (await import('./commands/load.ts')).load
  },
  {
    name: 'load status',
    group: 'Loads:',
    summary: 'Says how far a load is, or how it has ended.',
    open: async () => (await import('./commands/load-status.ts')).loadStatus
  },
  {
    name: 'load rejects',
    group: 'Loads:',
    summary: 'Prints what was refused of a load, all of it.',
    open: async () => (await import('./commands/load-rejects.ts')).loadRejects
  },
  {
    name: 'load retry',
    group: 'Loads:',
    summary: 'Applies again what was rejected, or goes on with a load that failed.',
    open: async () => (await import('./commands/load-retry.ts')).loadRetry
  },
  {
    name: 'load cancel',
    group: 'Loads:',
    summary: 'Ends a load that has not ended.',
    open: async () => (await import('./commands/load-cancel.ts')).loadCancel
  },
  {
    name: 'load undo',
    group: 'Loads:',
    summary: 'Takes back what a load changed, where nothing newer has changed it.',
    open: async () => (await import('./commands/load-undo.ts')).loadUndo
  },
  {
    name: 'load list',
    group: 'Loads:',
    summary: 'Lists the loads that the token may see, newest first.',
    open: async () => (await import('./commands/load-list.ts')).loadList
  },
  {
    name: 'lineage',
    group: 'Read:',
    summary: 'Prints what an asset or a column feeds, or comes from, as a tree.',
    open: async () => (await import('./commands/lineage.ts')).lineage
  },
  {
    name: 'search',
    group: 'Read:',
    summary: 'Finds entities by words in their name, columns, description or URN.',
    open: async () => (await import('./commands/search.ts')).search
  },
  {
    name: 'resolve',
    group: 'Read:',
    summary: 'Prints the URN that a short reference means.',
    open: async () => (await import('./commands/resolve.ts')).resolve
  },
  {
    name: 'export lineage',
    group: 'Read:',
    summary: 'Prints the lineage of an asset or a column as CSV, NDJSON or a diagram.',
    open: async () => (await import('./commands/export.ts')).exportLineage
  },
  {
    name: 'export domains',
    group: 'Read:',
    summary: 'Prints which asset is in which domain as CSV or NDJSON.',
    open: async () => (await import('./commands/export.ts')).exportDomains
  },
  {
    name: 'domain tree',
    group: 'Domains:',
    summary: 'Prints the domains as a tree, with how many assets are in each.',
    open: async () => (await import('./commands/domain-tree.ts')).domainTree
  },
  {
    name: 'domain create',
    group: 'Domains:',
    summary: 'Makes a domain and prints its URN.',
    open: async () => (await import('./commands/domain-create.ts')).domainCreate
  },
  {
    name: 'domain move',
    group: 'Domains:',
    summary: 'Puts a domain under another one, or at the top level.',
    open: async () => (await import('./commands/domain-move.ts')).domainMove
  },
  {
    name: 'domain delete',
    group: 'Domains:',
    summary: 'Deletes a domain that has none below it.',
    open: async () => (await import('./commands/domain-delete.ts')).domainDelete
  },
  {
    name: 'domain assign',
    group: 'Domains:',
    summary: 'Puts assets into a domain.',
    open: async () => (await import('./commands/domain-assign.ts')).domainAssign
  },
  {
    name: 'domain unassign',
    group: 'Domains:',
    summary: 'Takes assets out of their domain.',
    open: async () => (await import('./commands/domain-assign.ts')).domainUnassign
  },
  {
    name: 'token create',
    group: 'Tokens:',
    summary: 'Makes an access token and prints it, alone, on standard output. It cannot be shown again.',
    open: async () => (await import('./commands/token-create.ts')).tokenCreate
  },
  {
    name: 'token list',
    group: 'Tokens:',
    summary: 'Lists the access tokens, newest first, without their texts.',
    open: async () => (await import('./commands/token-list.ts')).tokenList
  },
  {
    name: 'token revoke',
    group: 'Tokens:',
    summary: 'Ends an access token. It is refused everywhere within a second.',
    open: async () => (await import('./commands/token-revoke.ts')).tokenRevoke
  },
  {
    name: 'completion',
    group: 'Help:',
    summary: 'Prints a script that makes bash, zsh or fish complete commands and options.',
    open: async () => (await import('./commands/completion.ts')).completion
  }
]
