/**
 * Refuses requests that a page of another site makes a browser send. The session cookie is SameSite=Strict,
 * and writes need x-csrf-token; this check also protects against pages of another host of the same site.
 */
import type { FastifyRequest } from 'fastify'
import { CatalogError } from '../../shared/errors.ts'

/** Throws FORBIDDEN. A client that is not a browser sends none of these headers and passes. */
export function requireSameOrigin(request: FastifyRequest): void {
  if (!isSameOrigin(request))
    throw new CatalogError('FORBIDDEN', 'A page of another site may not use this session')
}

function isSameOrigin(request: FastifyRequest): boolean {
  const { headers, method } = request
  const site = headers['sec-fetch-site']
  const reads = method === 'GET' || method === 'HEAD'
  // Browsers always send it over https, and pages cannot change it. `none`: the person typed the address.
  if (site !== undefined)
    return site === 'same-origin' || site === 'none' || (reads && headers['sec-fetch-mode'] === 'navigate')
  const { origin } = headers
  return origin === undefined || hostsOf(request).includes(hostOf(origin))
}

/**
 * The host names that the browser may have used: a proxy may replace Host, and then forwards the original.
 */
function hostsOf({ headers }: FastifyRequest): (string | null)[] {
  const forwarded = headers['x-forwarded-host']
  return [headers.host, typeof forwarded === 'string' ? forwarded.split(',')[0]?.trim() : undefined]
    .filter((host) => host !== undefined)
    .map((host) => host.toLowerCase())
}

/** Null for `Origin: null`, which a sandboxed page sends. */
const hostOf = (origin: string): string | null =>
  URL.canParse(origin) ? new URL(origin).host.toLowerCase() : null
