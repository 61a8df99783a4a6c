/** Reads where Redis is, for all clients of it: one server, or those that Redis Sentinel names. */
import { Redis, type RedisOptions } from 'ioredis'
import type { Config } from '../platform/config.ts'

export type RedisPlace = Pick<
  Config,
  'redisTlsVerify' | 'redisSentinels' | 'redisSentinelUsername' | 'redisSentinelPassword'
> & { redisUrl: string }

/**
 * Options for connecting. With Sentinel, the host of the URL is the name of the primary; Sentinel is asked for its
 * address at each connection. A connection on which a former primary refuses a write is replaced.
 */
export function redisOptions(place: RedisPlace) {
  const { redisUrl, redisSentinels } = place
  const tls = redisUrl.startsWith('rediss:') ? { rejectUnauthorized: place.redisTlsVerify } : null
  const common = {
    ...(tls === null ? {} : { tls }),
    // Redis before 7 puts it behind the name of the script, and the queue writes only by scripts.
    reconnectOnError: (error: Error) => error.message.includes('READONLY')
  }
  if (redisSentinels === null) return { url: redisUrl, ...common }
  const url = new URL(redisUrl)
  return {
    ...common,
    sentinels: [...redisSentinels],
    name: decodeURIComponent(url.hostname),
    ...(tls === null ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls }),
    ...named('username', decodeURIComponent(url.username)),
    ...named('password', decodeURIComponent(url.password)),
    ...named('sentinelUsername', place.redisSentinelUsername),
    ...named('sentinelPassword', place.redisSentinelPassword),
    db: Number(url.pathname.slice(1) || '0')
  }
}

/** A client of ioredis, with more options. */
export function connectRedis(place: RedisPlace, more: Omit<RedisOptions, 'replyMapping'>): Redis {
  const options = redisOptions(place)
  return 'url' in options
    ? new Redis(options.url, { ...options, ...more })
    : new Redis({ ...options, ...more })
}

/** Safe: the computed key is Name. */
const named = <Name extends string>(name: Name, value: string | null): { [Key in Name]?: string } =>
  (value === null || value === '' ? {} : { [name]: value }) as { [Key in Name]?: string }
