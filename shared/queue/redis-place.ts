/** Reads where Redis is, for all clients of it: one server, one that Redis Sentinel names, or a Redis Cluster. */
import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis'
import type { Config } from '../platform/config.ts'
import { steadyCluster } from './steady-cluster.ts'

export type RedisPlace = Pick<
  Config,
  | 'redisTlsVerify'
  | 'redisSentinels'
  | 'redisSentinelUsername'
  | 'redisSentinelPassword'
  | 'redisClusterNodes'
> & { redisUrl: string }

/** How a client connects and how long it waits: the options of ioredis for one server, which a cluster takes too. */
export type RedisUse = Pick<
  RedisOptions,
  | 'commandTimeout'
  | 'connectTimeout'
  | 'enableOfflineQueue'
  | 'keepAlive'
  | 'lazyConnect'
  | 'maxRetriesPerRequest'
  | 'retryStrategy'
  | 'sentinelRetryStrategy'
  | 'socketTimeout'
>

/** Either has the same commands. */
export type AnyRedis = Redis | Cluster

const defaultPort = 6_379
/** In a cluster a command that met a dead or changing node is sent again after this time. */
const resendAfterMs = 100
/** Of a command that may take any time: then its error is reported, and whoever sent it decides. */
const resendsMaxCount = 16
/** A node that does not say within this time who serves what is passed over. */
const whoServesTimeoutMs = 2_000

/**
 * Options for connecting. With Sentinel, the host of the URL is the name of the primary; Sentinel is asked for its
 * address at each connection. A connection on which a former primary refuses a write is replaced.
 */
export function redisOptions(place: RedisPlace) {
  const { redisUrl, redisSentinels } = place
  const tls = tlsOf(place)
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
    ...userOf(url),
    ...named('sentinelUsername', place.redisSentinelUsername),
    ...named('sentinelPassword', place.redisSentinelPassword),
    db: Number(url.pathname.slice(1) || '0')
  }
}

/**
 * The nodes to begin with, and the options of a cluster. A managed cluster has one address, which is that of the URL;
 * with several, a process starts while one of the nodes is away.
 */
export function clusterOptions(place: RedisPlace, use: RedisUse) {
  const { lazyConnect, enableOfflineQueue, retryStrategy, sentinelRetryStrategy: _, ...ofNode } = use
  const tls = tlsOf(place)
  const url = new URL(place.redisUrl)
  const first = { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || defaultPort) }
  return {
    nodes: [first, ...(place.redisClusterNodes ?? [])],
    options: {
      ...(lazyConnect === undefined ? {} : { lazyConnect }),
      ...(enableOfflineQueue === undefined ? {} : { enableOfflineQueue }),
      ...(retryStrategy ? { clusterRetryStrategy: (times: number) => retryStrategy(times) } : {}),
      maxRedirections:
        use.commandTimeout === undefined ? resendsMaxCount : Math.ceil(use.commandTimeout / resendAfterMs),
      retryDelayOnFailover: resendAfterMs,
      retryDelayOnClusterDown: resendAfterMs,
      retryDelayOnTryAgain: resendAfterMs,
      slotsRefreshTimeout: whoServesTimeoutMs,
      // A certificate names a host, not the address that the host has now.
      dnsLookup: (host, found) => found(null, host),
      redisOptions: { ...ofNode, ...(tls === null ? {} : { tls }), ...userOf(url) }
    } satisfies ClusterOptions
  }
}

/** A client of ioredis. */
export function connectRedis(place: RedisPlace, use: RedisUse): AnyRedis {
  if (place.redisClusterNodes !== null) {
    const { nodes, options } = clusterOptions(place, use)
    return steadyCluster(new Cluster(nodes, options))
  }
  const options = redisOptions(place)
  return 'url' in options ? new Redis(options.url, { ...options, ...use }) : new Redis({ ...options, ...use })
}

const tlsOf = ({ redisUrl, redisTlsVerify }: RedisPlace): { rejectUnauthorized: boolean } | null =>
  redisUrl.startsWith('rediss:') ? { rejectUnauthorized: redisTlsVerify } : null

const userOf = (url: URL) => ({
  ...named('username', decodeURIComponent(url.username)),
  ...named('password', decodeURIComponent(url.password))
})

/** Safe: the computed key is Name. */
const named = <Name extends string>(name: Name, value: string | null): { [Key in Name]?: string } =>
  (value === null || value === '' ? {} : { [name]: value }) as { [Key in Name]?: string }
