/**
 * Finds out whether a URL leads to Postgres sessions that are used only by us, or through a pooler that
 * shares them.
 */
import pg from 'pg'
import { postgresOptions } from '../platform/postgres-url.ts'
import { processOf } from './run-alone.ts'

/**
 * `own`: a connection is a session of Postgres. `lent`: a pooler gives each connection one session for its
 * whole life. `shared`: a pooler gives each transaction whichever session is free.
 */
export type Sessions = 'own' | 'lent' | 'shared'

const answerMaxMs = 10_000
/** Other clients of the pooler may be served in between, so one check is not enough. */
const looksMaxCount = 10

/** Throws what the driver throws. */
export async function findSessions(url: string): Promise<Sessions> {
  const [one, other] = [await openClient(url), await openClient(url)]
  try {
    await one.connect()
    const first = await processOf(one)
    if (first.isOwn) return 'own'
    await other.connect()
    for (let looks = 0; looks < looksMaxCount; looks += 1) {
      // Two open connections have the same session, or one connection has another session than before.
      if ((await processOf(other)).pid === first.pid || (await processOf(one)).pid !== first.pid)
        return 'shared'
    }
    return 'lent'
  } finally {
    await Promise.all([one.end(), other.end()].map((ending) => ending.catch(() => {})))
  }
}

async function openClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...(await postgresOptions(url)),
    application_name: 'tributary-sessions',
    connectionTimeoutMillis: answerMaxMs,
    // A pooler accepts a connection at once, but may keep it waiting for a session for any time.
    query_timeout: answerMaxMs
  })
  client.on('error', () => {})
  return client
}
