/**
 * Who may read metrics: callers that send METRICS_TOKEN if it is set, otherwise only this machine. One rule
 * for the API and workers.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { CatalogError } from '../errors.ts'
import { isOnThisMachine, type Caller } from './same-machine.ts'

/**
 * Throws UNAUTHENTICATED if a token is configured but was not sent, and FORBIDDEN if no token is configured
 * and the caller is on another machine.
 */
export function requireScraper(caller: Caller, metricsToken: string | null): void {
  if (metricsToken !== null) {
    const [, sent = ''] = /^bearer +(\S+)\s*$/i.exec(caller.headers.authorization ?? '') ?? []
    if (!timingSafeEqual(digest(sent), digest(metricsToken)))
      throw new CatalogError(
        'UNAUTHENTICATED',
        'Send the metrics token: Authorization: Bearer <METRICS_TOKEN>'
      )
    return
  }
  if (!isOnThisMachine(caller))
    throw new CatalogError('FORBIDDEN', 'Set METRICS_TOKEN to read metrics from another machine')
}

/** Hashes the token, because the comparison needs inputs of one length. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
