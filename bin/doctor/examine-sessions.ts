/** Says whether a connection pooler is between us and Postgres, because that decides where the queue can live. */
import { findSessions } from '../../shared/db/sessions.ts'
import { note, type Finding } from './finding.ts'

/** A finding if there is a pooler. Throws what the driver throws. */
export async function examineSessions(url: string): Promise<Finding[]> {
  const sessions = await findSessions(url)
  if (sessions === 'own') return []
  return [
    note(
      'pooler',
      sessions === 'shared'
        ? 'gives each transaction whichever session of Postgres is free (transaction mode)'
        : 'gives each connection a session of Postgres (session mode)'
    )
  ]
}
