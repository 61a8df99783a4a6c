/**
 * Who may read metrics: callers that send METRICS_TOKEN if it is set, otherwise only this machine. One rule
 * for the API and workers.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { CatalogError } from '../errors.ts'

/** The part of a request that identifies the caller. */
type Scraper = Pick<IncomingMessage, 'headers'> & { socket: Pick<IncomingMessage['socket'], 'remoteAddress'> }

/**
 * Throws UNAUTHENTICATED if a token is configured but was not sent, and FORBIDDEN if no token is configured
 * and the caller is on another machine.
 */
export function requireScraper({ headers, socket }: Scraper, metricsToken: string | null): void {
  if (metricsToken !== null) {
    const [, sent = ''] = /^bearer +(\S+)\s*$/i.exec(headers.authorization ?? '') ?? []
    if (!timingSafeEqual(digest(sent), digest(metricsToken)))
      throw new CatalogError(
        'UNAUTHENTICATED',
        'Send the metrics token: Authorization: Bearer <METRICS_TOKEN>'
      )
    return
  }
  // A proxy on this machine forwards requests of others.
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
  if (isForwarded || !isLoopback(socket.remoteAddress ?? ''))
    throw new CatalogError('FORBIDDEN', 'Set METRICS_TOKEN to read metrics from another machine')
}

const isLoopback = (address: string): boolean => address === '::1' || /^(?:::ffff:)?127\./.test(address)

/** Hashes the token, because the comparison needs inputs of one length. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
