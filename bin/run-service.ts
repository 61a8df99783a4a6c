/** Runs one service as a process, as in the Procfile. */
import { readConfig, type Config } from '../shared/platform/config.ts'
import { runServices, shutdownMsOf, type Service } from '../shared/platform/lifecycle.ts'
import { createLog, type Log } from '../shared/platform/log.ts'
import { startTracing } from '../shared/platform/tracing.ts'
import { requireDatabaseUrl, requireRights, withDatabase } from './open-database.ts'
import { requireSessions } from './reach.ts'
import type { Terminal } from './terminal.ts'

const serviceNames = { serve: 'tributary-api', work: 'tributary-worker' } as const

/**
 * Returns null once the service runs; the process continues until a signal ends it. Waits for Redis if it
 * does not answer. Throws Refusal (exit code 78) if there is no database, if it does not answer, if the role lacks a
 * right in it, or if the queue cannot use it.
 */
export async function runService(
  command: keyof typeof serviceNames,
  start: (config: Config, log: Log) => Service,
  terminal: Terminal
): Promise<null> {
  const config = readConfig(terminal.env)
  const databaseUrl = requireDatabaseUrl(config, command)
  await withDatabase(databaseUrl, (db) => requireRights(db, { queueInPostgres: config.redisUrl === null }))
  await requireSessions({ ...config, databaseUrl })
  const log = createLog(config)
  const tracing = startTracing(config, log, serviceNames[command])
  await runServices([tracing, start(config, log)], { log, shutdownMs: shutdownMsOf(config) })
  return null
}
