/** The lineage graph in memory for a test: loaded when it is returned, ended with the test. */
import type { Test } from 'tap'
import {
  createLineageMemory,
  type LineageMemory,
  type LineageMemoryOptions
} from '../../shared/catalog/lineage/lineage-memory.ts'
import { connectDatabase } from '../../shared/db/connect.ts'
import type { Db } from '../../shared/db/database.ts'
import type { Log } from '../../shared/platform/log.ts'

/** `through` replaces the connection of the graph. */
export type MemoryOptions = Pick<LineageMemoryOptions, 'readUnseen' | 'turns'> & {
  through?: (graphDb: Db) => Db
}

const maxBytes = 512 * 1024 * 1024

export async function openMemory(
  t: Pick<Test, 'teardown'>,
  db: Db,
  url: string,
  log: Log,
  { through = (graphDb) => graphDb, ...options }: MemoryOptions = {}
): Promise<LineageMemory> {
  const graphDb = connectDatabase({
    url,
    poolMax: 1,
    applicationName: 'tributary-test-lineage',
    statementTimeoutMs: 10_000,
    lockTimeoutMs: 5_000,
    usesIndexes: true,
    log
  })
  const memory = createLineageMemory({ db, graphDb: through(graphDb), maxBytes, log, ...options })
  memory.start()
  await memory.settled()
  t.teardown(async () => {
    await memory.stop()
    await graphDb.destroy()
  })
  return memory
}
