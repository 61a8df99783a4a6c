/** The sign of life of one worker process. */
import { randomUUID } from 'node:crypto'
import type { Db } from '../../db/database.ts'
import { readPackage } from '../../platform/package.ts'
import { deleteWorker, touchWorker } from '../../store/workers.ts'
import { processName } from './process-name.ts'

export type Heartbeat = {
  /** The id of this worker, new at each start. */
  readonly id: string
  /** Call it every workerHeartbeatSeconds. Throws what the database throws. */
  beat(): Promise<void>
  /**
   * Call it when the worker has stopped: it no longer counts as alive. Never throws; if the database is
   * unreachable, the row expires.
   */
  end(): Promise<void>
}

export function openHeartbeat(db: Db): Heartbeat {
  const id = randomUUID()
  const { version } = readPackage()
  const startedAt = performance.now()
  return {
    id,
    beat: () =>
      touchWorker(db, {
        id,
        name: processName,
        version,
        ageSeconds: (performance.now() - startedAt) / 1_000
      }),
    async end() {
      await deleteWorker(db, id).catch(() => {})
    }
  }
}
