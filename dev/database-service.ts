/**
 * The database of `npm start`: the one of DATABASE_URL, or an embedded one that starts and stops with the
 * process.
 */
import { join, relative } from 'node:path'
import { requireDatabase, requireSessions } from '../bin/reach.ts'
import type { Config } from '../shared/platform/config.ts'
import type { Service } from '../shared/platform/lifecycle.ts'
import { startEmbeddedPostgres } from './embedded-postgres/start-embedded-postgres.ts'

export type DatabaseService = {
  url: string
  description: string
  /** Stops the embedded server, after all other services. */
  service: Service
  /** Settles if the database ends unexpectedly. */
  failed?: Promise<Error>
}

/** Throws Refusal if the URL does not answer or the queue cannot live there, CannotEmbed if no database can be embedded. */
export async function openDatabaseService(
  config: Config,
  say: (line: string) => void
): Promise<DatabaseService> {
  if (config.databaseUrl !== null) {
    const { databaseUrl } = config
    await requireDatabase(databaseUrl)
    await requireSessions({ ...config, databaseUrl })
    return {
      url: databaseUrl,
      description: 'that of DATABASE_URL',
      service: serviceThatStops(() => Promise.resolve())
    }
  }
  const server = await startEmbeddedPostgres({ dataDir: join(config.dataDir, 'pg'), log: say })
  const place = relative(process.cwd(), server.dataDir).startsWith('..')
    ? server.dataDir
    : relative(process.cwd(), server.dataDir)
  return {
    url: server.url(),
    description: `embedded PostgreSQL, data in ${place}${server.adopted ? ' (shared with the process that started it)' : ''}`,
    service: serviceThatStops(() => server.stop()),
    failed: server.ended.then(() => new Error('the embedded PostgreSQL has ended'))
  }
}

function serviceThatStops(stop: () => Promise<void>): Service {
  return { name: 'database', start: () => Promise.resolve(), stop }
}
