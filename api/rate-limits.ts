/**
 * Rate limits, off unless RATE_LIMIT_PER_MINUTE is set: requests of one token, and failed attempts to
 * authenticate from one address.
 *
 * The library's own hooks run with each route, after authentication has refused a request, so this file calls
 * its counters itself. A valid token is never refused because of what others at its address did, because many
 * clients may have one address. While Redis does not answer, nothing is counted and nothing is refused.
 */
import fastifyRateLimit, { normalizeIP } from '@fastify/rate-limit'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CatalogError } from '../shared/errors.ts'
import type { Config } from '../shared/platform/config.ts'
import type { Log } from '../shared/platform/log.ts'
import { openRedisClient } from '../shared/queue/redis-client.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Clients of OpenLineage drop an event that is answered 429, and send it again after 503. */
    takesEvents?: boolean
  }
}

export type RateLimits = {
  /**
   * Counts a request of a known caller. Throws RATE_LIMITED; for a route that takes events OVERLOADED, which
   * makes clients send the event again.
   */
  countRequest(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Counts an attempt to authenticate, by the address that it comes from. Throws RATE_LIMITED. */
  countAttempt(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

type Counter = ReturnType<FastifyInstance['createRateLimit']>

const windowMs = 60_000
/** Tokens or addresses that one process remembers, without Redis. */
const countersMaxCount = 10_000
/** For this time after a failure Redis is not asked, so that requests do not each wait for it. */
const restMs = 1_000
/** While Redis does not answer, the log says so once in this time. */
const warnEveryMs = 60_000

/** Null if RATE_LIMIT_PER_MINUTE is 0. The connection to Redis is closed with the server. */
export async function openRateLimits(
  app: FastifyInstance,
  config: Config,
  log: Log
): Promise<RateLimits | null> {
  const { rateLimitPerMinute: maximum, redisUrl } = config
  if (maximum === 0) return null
  const redis = redisUrl === null ? null : openRedisClient({ ...config, redisUrl }, log)
  if (redis) app.addHook('onClose', async () => redis.close())
  await app.register(fastifyRateLimit, {
    global: false,
    max: maximum,
    timeWindow: windowMs,
    cache: countersMaxCount,
    nameSpace: 'tributary-rate-limit:',
    ...(redis ? { redis: redis.client } : {})
  })
  // Tokens and addresses are counted separately, so that many addresses do not displace the counts of tokens.
  const ofTokens = app.createRateLimit({
    keyGenerator: ({ actor }) => `token:${actor.tokenId ?? actor.urn}`
  })
  const isTrusted = proxyAddr.compile([...(config.trustedProxies ?? [])])
  const ofAddresses = app.createRateLimit({
    keyGenerator: ({ raw }) => `address:${normalizeIP(proxyAddr(raw, isTrusted))}`
  })
  let restsUntil = 0
  let silentUntil = 0

  async function count(
    counter: Counter,
    request: FastifyRequest,
    reply: FastifyReply,
    { whose, code }: { whose: string; code: 'RATE_LIMITED' | 'OVERLOADED' }
  ): Promise<void> {
    const found = await ask(counter, request)
    if (found === null || found.isAllowed) return
    reply.headers({
      'ratelimit-limit': String(maximum),
      'ratelimit-remaining': String(found.remaining),
      'ratelimit-reset': String(found.ttlInSeconds)
    })
    if (!found.isExceeded) return
    throw new CatalogError(
      code,
      `${maximum} ${whose} in a minute are allowed; send it again in ${found.ttlInSeconds} s`,
      { limit: 'RATE_LIMIT_PER_MINUTE', maximum, retryAfterSeconds: Math.max(1, found.ttlInSeconds) }
    )
  }

  /** The count, or null while Redis does not answer. */
  async function ask(
    counter: Counter,
    request: FastifyRequest
  ): Promise<Awaited<ReturnType<Counter>> | null> {
    if (Date.now() < restsUntil) return null
    try {
      return await counter(request)
    } catch (err) {
      const now = Date.now()
      if (now >= silentUntil) {
        log.warn({ err }, 'rate limits do not count: Redis does not answer')
        silentUntil = now + warnEveryMs
      }
      restsUntil = now + restMs
      return null
    }
  }

  return {
    countRequest: (request, reply) =>
      count(ofTokens, request, reply, {
        whose: 'requests of one token',
        code: request.routeOptions.config.takesEvents === true ? 'OVERLOADED' : 'RATE_LIMITED'
      }),
    // An event with a wrong token is better dropped than sent again and again.
    countAttempt: (request, reply) =>
      count(ofAddresses, request, reply, {
        whose: 'attempts to authenticate from one address',
        code: 'RATE_LIMITED'
      })
  }
}
