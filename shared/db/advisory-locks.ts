/** The keys of every advisory lock that is taken, in one list: two of one key would exclude each other silently. */

/** First word of each key, so that other programs on the same database are not met by chance: `tr` in ASCII. */
const space = 0x7472

/** Two words each, for the functions pg_advisory_…lock(int, int). */
export const advisoryLocks = {
  /** Shared by all who write, alone by who deletes entities. */
  writers: [space, 1],
  /** Alone by who changes the tree of domains. */
  domainTree: [space, 2],
  /** Alone by who looks whether there is a token and makes the first. */
  firstToken: [space, 3],
  /** Alone by who migrates. */
  migrations: [space, 4],
  /** Alone by who ingests OpenLineage events. */
  openLineage: [space, 5],
  /** Alone by who ingests the events of a chunk, before `openLineage`: events that come one by one wait for one chunk, not for all that wait. */
  openLineageLoads: [space, 6],
  /** Alone by who replaces the domain rules. */
  domainRules: [space, 7],
  /** Alone by the worker that sweeps or prunes just now. */
  sweeper: [space, 10]
} as const satisfies Record<string, readonly [number, number]>
