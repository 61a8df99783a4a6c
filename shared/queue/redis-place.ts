/**
 * Reads where Redis is, for all clients of it: a single server, a server that Redis Sentinel names, or a
 * Redis Cluster.
 */
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

/**
 * How a client connects and how long it waits: the options of ioredis for a single server, which a cluster
 * accepts too.
 */
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

/** The client of a single server or of a cluster. Both have the same commands. */
export type AnyRedis = Redis | Cluster

const defaultPort = 6_379
/** In a cluster, a command is sent again after this time if its node was dead or was being replaced. */
const resendAfterMs = 100
/**
 * How often a command without a deadline is sent again. Then its error is reported, and its sender decides.
 */
const resendsMaxCount = 16
/** A node is skipped if it does not report within this time which node serves which slots. */
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
    // Redis before 7 puts the word behind the name of the script, and the queue writes only by scripts.
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
 * The nodes to begin with, and the options of a cluster. A managed cluster has one address, that of the URL;
 * with several, a process can start while one of the nodes is away.
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
      // A certificate contains the name of a host, not its present address.
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
