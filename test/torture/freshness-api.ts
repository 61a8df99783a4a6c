/**
 * An API process that keeps its graph fresh by the named rule: `node freshness-api.js snapshot|maxIdSeen`.
 * Only the torture runs it.
 */
import { buildServer } from '../../api/server.ts'
import { createLineageMemory } from '../../shared/catalog/lineage/lineage-memory.ts'
import { connectDatabase } from '../../shared/db/connect.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { createLog } from '../../shared/platform/log.ts'
import { openQueue } from '../../shared/queue/chunk-queue.ts'
import { readAfterMaxId } from '../support/max-id-rule.ts'

const rule = process.argv[2] === 'maxIdSeen' ? { readUnseen: readAfterMaxId() } : {}
const config = readConfig(process.env)
const log = createLog(config)
const pool = {
  url: config.databaseUrl ?? '',
  statementTimeoutMs: config.statementTimeoutApiMs,
  lockTimeoutMs: 5_000,
  log
}
const db = connectDatabase({ ...pool, poolMax: config.databasePoolApi, applicationName: 'tributary-api' })
const graphDb = connectDatabase({
  ...pool,
  poolMax: 1,
  applicationName: 'tributary-lineage',
  usesIndexes: true
})
const memory = createLineageMemory({
  db,
  graphDb,
  maxBytes: config.lineageMemoryMb * 1024 * 1024,
  log,
  ...rule
})
memory.start()
await memory.settled()
const app = await buildServer({
  db,
  lineage: { db, memory },
  queue: await openQueue(config, log),
  config,
  log
})
await app.listen({ host: config.host, port: config.port })
