/** What the routes of one API process need. Created by start.ts, or by a test. */
import type { KnownIds } from '../shared/catalog/lineage/known-ids.ts'
import type { LineageSources } from '../shared/catalog/lineage/with-lineage.ts'
import type { Db } from '../shared/db/database.ts'
import type { Connections } from '../shared/openlineage/connections.ts'
import type { Config } from '../shared/platform/config.ts'
import type { Log } from '../shared/platform/log.ts'
import type { ChunkQueue } from '../shared/queue/chunk-queue.ts'
import type { Provider } from './oidc/provider.ts'

export type ApiContext = {
  db: Db
  /**
   * Connections for storing uploads, so that uploads and readers never wait for each other. By default `db`.
   */
  uploadDb?: Db
  lineage: LineageSources
  /** The ids of URNs that this process knows without asking. Without it, loads are stored by their URNs. */
  knownIds?: () => KnownIds | null
  queue: ChunkQueue
  config: Config
  /** The connections for namespaces of OpenLineage events; by default none. */
  connections?: Connections
  /** Where people sign in; null or absent where no identity provider is configured. */
  provider?: Provider | null
  log: Log
  /** What this process proves to know at /instance/proof; without it, it proves nothing. */
  instanceKey?: string
  /** The folder of the built web UI; by default dist/site. */
  site?: string
}

/**
 * Set by start.ts. After the first signal the process is not ready any more: load balancers take it out, and until
 * they have, every request is answered (`isLeaving`). Then new requests are refused, and those under way are answered
 * (`isStopping`).
 */
export type ServerState = { isLeaving?: boolean; isStopping: boolean }
