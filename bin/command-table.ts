/** Every command: its name, its purpose and its module. A command is loaded only when it is called, because most need little of the program. */
import type { Command } from './command.ts'

export type CommandEntry = {
  /** The words after `tributary`, such as `token create`. */
  name: string
  summary: string
  /** Its heading in the overview. */
  group: string
  open: () => Promise<Command>
}

export const commandTable: readonly CommandEntry[] = [
  {
    name: 'up',
    group: 'Run:',
    summary:
      'Runs everything in one process, with an embedded database unless DATABASE_URL is set. In a checkout, `npm start` runs this.',
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
    summary: 'Runs a worker, which applies bulk loads. Needs DATABASE_URL. Any number of workers may run.',
    open: async () => (await import('./commands/work.ts')).work
  },
  {
    name: 'migrate',
    group: 'Run:',
    summary:
      'Migrates the database of DATABASE_URL to the newest schema. Safe to run at any time, even several times at once.',
    open: async () => (await import('./commands/migrate.ts')).migrateCommand
  },
  {
    name: 'doctor',
    group: 'Run:',
    summary:
      'Checks configuration, database, schema, queue, clock and loads. Exit code 1 if something is wrong.',
    open: async () => (await import('./commands/doctor.ts')).doctor
  },
  {
    name: 'url',
    group: 'Run:',
    summary: 'Prints the address of the server that runs here, for scripts and curl.',
    open: async () => (await import('./commands/url.ts')).url
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
    summary: 'Prints the state of a load.',
    open: async () => (await import('./commands/load-status.ts')).loadStatus
  },
  {
    name: 'load rejects',
    group: 'Loads:',
    summary: 'Prints all rejected records of a load.',
    open: async () => (await import('./commands/load-rejects.ts')).loadRejects
  },
  {
    name: 'load retry',
    group: 'Loads:',
    summary: 'Applies rejected records again, or continues a failed load.',
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
    summary: 'Undoes what a load changed, except values that something newer has changed.',
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
    summary: 'Prints what depends on an asset or column, or what it comes from, as a tree.',
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
    name: 'sql-lineage',
    group: 'Read:',
    summary: 'Prints which tables and columns SQL reads and writes, without storing anything.',
    open: async () => (await import('./commands/sql-lineage.ts')).sqlLineage
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
    summary: 'Prints the domain of each asset as CSV or NDJSON.',
    open: async () => (await import('./commands/export.ts')).exportDomains
  },
  {
    name: 'domain tree',
    group: 'Domains:',
    summary: 'Prints the domains as a tree, with the number of assets in each.',
    open: async () => (await import('./commands/domain-tree.ts')).domainTree
  },
  {
    name: 'domain create',
    group: 'Domains:',
    summary: 'Creates a domain and prints its URN.',
    open: async () => (await import('./commands/domain-create.ts')).domainCreate
  },
  {
    name: 'domain move',
    group: 'Domains:',
    summary: 'Moves a domain under another one, or to the top level.',
    open: async () => (await import('./commands/domain-move.ts')).domainMove
  },
  {
    name: 'domain delete',
    group: 'Domains:',
    summary: 'Deletes a domain that has no child domains.',
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
    name: 'domain rules list',
    group: 'Domains:',
    summary: 'Prints the domain rules, in the order in which they are tried.',
    open: async () => (await import('./commands/domain-rules.ts')).domainRulesList
  },
  {
    name: 'domain rules set',
    group: 'Domains:',
    summary: 'Replaces the domain rules: which domain new assets are put into.',
    open: async () => (await import('./commands/domain-rules.ts')).domainRulesSet
  },
  {
    name: 'domain rules preview',
    group: 'Domains:',
    summary: 'Prints which assets would be put into a domain by domain rules.',
    open: async () => (await import('./commands/domain-rules.ts')).domainRulesPreview
  },
  {
    name: 'domain rules apply',
    group: 'Domains:',
    summary: 'Applies the domain rules to assets that are in no domain.',
    open: async () => (await import('./commands/domain-rules.ts')).domainRulesApply
  },
  {
    name: 'token create',
    group: 'Tokens:',
    summary:
      'Creates an access token and prints only the token on standard output. It cannot be shown again.',
    open: async () => (await import('./commands/token-create.ts')).tokenCreate
  },
  {
    name: 'token list',
    group: 'Tokens:',
    summary: 'Lists the access tokens, newest first, without their secrets.',
    open: async () => (await import('./commands/token-list.ts')).tokenList
  },
  {
    name: 'token revoke',
    group: 'Tokens:',
    summary: 'Revokes an access token. Every process refuses it within a second.',
    open: async () => (await import('./commands/token-revoke.ts')).tokenRevoke
  },
  {
    name: 'sign-in',
    group: 'Tokens:',
    summary: 'Prints a link that signs a browser in to the web UI with the rights of a token, once.',
    open: async () => (await import('./commands/sign-in.ts')).signInCommand
  },
  {
    name: 'completion',
    group: 'Help:',
    summary: 'Prints a completion script for bash, zsh or fish.',
    open: async () => (await import('./commands/completion.ts')).completion
  }
]
