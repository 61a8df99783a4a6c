/** What the routes of one API process need. Created by start.ts, or by a test. */
import type { KnownIds } from '../shared/catalog/lineage/known-ids.ts'
import type { LineageSources } from '../shared/catalog/lineage/with-lineage.ts'
import type { Db } from '../shared/db/database.ts'
import type { Connections } from '../shared/openlineage/connections.ts'
import type { Config } from '../shared/platform/config.ts'
import type { Log } from '../shared/platform/log.ts'
import type { ChunkQueue } from '../shared/queue/chunk-queue.ts'

export type ApiContext = {
  db: Db
  /** Connections that store uploads, so that none of them waits for a reader, nor a reader for them. Without it they share `db`. */
  uploadDb?: Db
  lineage: LineageSources
  /** The ids of URNs that this process knows without asking; without it loads are stored by their URNs. */
  knownIds?: () => KnownIds | null
  queue: ChunkQueue
  config: Config
  /** What the namespaces of OpenLineage events are; none without it. */
  connections?: Connections
  log: Log
  /** The folder of the built web UI; dist/site without it. */
  site?: string
}

/** What start.ts tells the routes: from the first signal on, new requests are refused and those under way are answered. */
export type ServerState = { isStopping: boolean }
