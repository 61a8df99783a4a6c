/** Puts the catalog together in one process: database, schema, first token, API, worker, and a sample to look at. */
import { readFileSync } from 'node:fs'
import { withDatabase } from '../bin/open-database.ts'
import { ownCommand } from '../bin/own-command.ts'
import { requireRedis } from '../bin/reach.ts'
import { migrate } from '../shared/db/migrate.ts'
import { readConfig, type Config } from '../shared/platform/config.ts'
import { runServices, shutdownMsOf } from '../shared/platform/lifecycle.ts'
import { createLog } from '../shared/platform/log.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { startTracing } from '../shared/platform/tracing.ts'
import { startWorker } from '../worker/start.ts'
import { startApiOnFreePort } from './api-on-free-port.ts'
import { howToOpen, isOutputKept } from './browser-link.ts'
import { openDatabaseService } from './database-service.ts'
import { commandHere, whatToTry } from './greeting.ts'
import { showSample } from './sample.ts'
import { ensureFirstToken, type FirstToken } from './token-file.ts'

/**
 * Resolves once everything runs and the sample, if there is one, is loaded.
 *
 * Throws CannotEmbed, ConfigError or Refusal, with messages for people, before anything listens. If a given
 * URL does not answer, nothing is used instead.
 */
export async function startEverything(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<void> {
  const startedAt = performance.now()
  const asked = readConfig(env)
  if (asked.redisUrl !== null) await requireRedis({ ...asked, redisUrl: asked.redisUrl })
  const database = await openDatabaseService(asked, say)
  // unless the log was requested, its lines would hide those for the person
  const config = Object.freeze({
    ...asked,
    databaseUrl: database.url,
    logLevel: env.LOG_LEVEL ? asked.logLevel : ('warn' as const)
  })
  const command = ownCommand(env)
  const token = await prepareCatalog(config, command)

  const log = createLog(config)
  const api = startApiOnFreePort(config, log, { mayMove: !env.PORT })
  const tracing = startTracing(config, log, 'tributary')
  const isRunning = await runServices([tracing, database.service, api, startWorker(config, log)], {
    log,
    shutdownMs: shutdownMsOf(config),
    ...(database.failed === undefined ? {} : { failed: database.failed })
  })
  if (!isRunning) return
  const url = api.url()
  const pastable = commandHere(env.TRIBUTARY_DATA_DIR ? asked.dataDir : null, command)
  for (const line of await howToOpen({
    url,
    databaseUrl: database.url,
    token: token.text,
    isKept: isOutputKept(env),
    command: pastable
  }))
    say(line)
  say(
    `Tributary ${version()} is ready at ${url} (after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`
  )
  say(`  database  ${database.description}`)
  say(`  queue     ${config.redisUrl === null ? 'in the database (no REDIS_URL)' : 'Redis of REDIS_URL'}`)
  say(`  token     ${token.description}`)

  const recordProblem = api.recordProblem()
  if (recordProblem !== null)
    say(
      `  commands  do not find this server, because its address could not be written: ${recordProblem}. Set TRIBUTARY_URL and TRIBUTARY_TOKEN for them.`
    )

  if (token.text !== null)
    await showSample(
      { url, token: token.text, provenBy: recordProblem === null ? config.dataDir : null },
      database.url,
      say
    )
  for (const line of whatToTry({ url, tokenFile: token.path, command: pastable })) say(line)
}

function prepareCatalog(config: Config & { databaseUrl: string }, command: string): Promise<FirstToken> {
  return withDatabase(config.databaseUrl, async (db) => {
    await migrate(db)
    return ensureFirstToken(db, config, command)
  })
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(packagePath('package.json'), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : ''
}
