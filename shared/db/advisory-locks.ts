/**
 * The keys of all advisory locks, in one list: two locks with the same key would silently exclude each other.
 */

/**
 * The first word of each key, so that they differ from those of other programs on the same database: `tr` in
 * ASCII.
 */
const space = 0x7472

/** Two words each, for the functions pg_advisory_…lock(int, int). */
export const advisoryLocks = {
  /** Shared by all writers; exclusive for deleting entities. */
  writers: [space, 1],
  /** For changing the tree of domains. */
  domainTree: [space, 2],
  /** For checking whether any token exists, and creating the first. */
  firstToken: [space, 3],
  /** For migrating. */
  migrations: [space, 4],
  /** For ingesting OpenLineage events. */
  openLineage: [space, 5],
  /**
   * For ingesting the events of a chunk; taken before `openLineage`. A single event then waits for at most
   * one chunk, not for all waiting chunks.
   */
  openLineageLoads: [space, 6],
  /** For replacing the domain rules. */
  domainRules: [space, 7],
  /** For beginning a load of a dbt project. */
  dbtLoads: [space, 8],
  /** For sweeping and pruning, which one worker does at a time. */
  sweeper: [space, 10]
} as const satisfies Record<string, readonly [number, number]>
