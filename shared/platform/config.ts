/**
 * The configuration: the table of keys, and the only code that reads the environment.
 *
 * All bad keys are reported at once. The report never contains a value, which may be a secret.
 * docs/configuration.md and .env.example list every key, and a test compares the three.
 */
import { conflictsOf } from './config-conflicts.ts'
import {
  addresses,
  anyText,
  integer,
  oneOf,
  optional,
  origins,
  proxies,
  setting,
  share,
  textOfAtLeast,
  url,
  webAddress,
  parseBoolean,
  type Setting
} from './settings.ts'

export const settings = {
  databaseUrl: optional(
    'DATABASE_URL',
    url('postgres', 'postgresql'),
    'URL',
    'Postgres 14 or newer. Without it `tributary up` runs an embedded one; `serve`, `work` and `migrate` require it.'
  ),
  redisUrl: optional(
    'REDIS_URL',
    url('redis', 'rediss'),
    'URL',
    'Redis for the queue. Without it the queue lives in Postgres, in the schema `bullmq`.'
  ),
  redisTlsVerify: setting(
    'REDIS_TLS_VERIFY',
    parseBoolean,
    'false',
    'true or false',
    'Whether to verify the certificate of a `rediss://` server. Hosting platforms sign their own, so the default is no.'
  ),
  redisSentinels: optional(
    'REDIS_SENTINELS',
    addresses('sentinel-1:26379,sentinel-2:26379'),
    'addresses',
    'Addresses of Redis Sentinel: `sentinel-1:26379,sentinel-2:26379`. The host of `REDIS_URL` is then the name of the primary: `redis://mymaster`.'
  ),
  redisSentinelUsername: optional('REDIS_SENTINEL_USERNAME', anyText, 'text', 'User at Redis Sentinel.'),
  redisSentinelPassword: optional(
    'REDIS_SENTINEL_PASSWORD',
    anyText,
    'text',
    'Password of Redis Sentinel. The password of the primary is in `REDIS_URL`.'
  ),
  redisClusterNodes: optional(
    'REDIS_CLUSTER_NODES',
    addresses('node-1:6379,node-2:6379'),
    'addresses',
    'Addresses of nodes of a Redis Cluster: `node-1:6379,node-2:6379`. Some are enough: they name the others. `REDIS_URL` is one of them, with the user and password of all.'
  ),
  host: optional(
    'HOST',
    anyText,
    'address',
    'Address to listen on. Default: `127.0.0.1` without a `DATABASE_URL` (one machine), otherwise `0.0.0.0`.'
  ),
  port: setting(
    'PORT',
    integer(0, 65_535),
    '8080',
    'port',
    'Port of the API. If the key is absent and the port is in use, `tributary up` takes the next free one.'
  ),
  workerPort: optional(
    'WORKER_PORT',
    integer(0, 65_535),
    'port',
    'Port on which a worker process serves health and metrics. Without it a worker does not listen.'
  ),
  metricsToken: optional(
    'METRICS_TOKEN',
    textOfAtLeast(8),
    'text',
    'Bearer token for `/metrics`. Without it only the same machine may read metrics.'
  ),
  logLevel: setting(
    'LOG_LEVEL',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'level',
    'Lowest level that is logged.'
  ),
  otlpEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    url('http', 'https'),
    'URL',
    'Receiver of traces, by OTLP over HTTP with protobuf, such as `http://collector:4318`; `/v1/traces` is added. Without it nothing is traced.'
  ),
  otlpHeaders: optional(
    'OTEL_EXPORTER_OTLP_HEADERS',
    anyText,
    'text',
    'Headers for that receiver: `name=value,other=value`, percent-encoded. Often a secret.'
  ),
  otelServiceName: optional(
    'OTEL_SERVICE_NAME',
    anyText,
    'text',
    'Name of the service in traces. Default: `tributary-api`, `tributary-worker`, or `tributary` for both in one process.'
  ),
  otelResourceAttributes: optional(
    'OTEL_RESOURCE_ATTRIBUTES',
    anyText,
    'text',
    'Attributes of every trace: `deployment.environment.name=prod,team=data`.'
  ),
  otelTracesSampler: setting(
    'OTEL_TRACES_SAMPLER',
    oneOf(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio'
    ),
    'parentbased_always_on',
    'sampler',
    'Which requests are traced. With `parentbased_` the `traceparent` of the client decides, and the rest of the name applies to requests without one.'
  ),
  otelTracesSamplerArg: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    share,
    '1',
    'share',
    'Share of requests that a `traceidratio` sampler traces.'
  ),
  dataDir: setting(
    'TRIBUTARY_DATA_DIR',
    anyText,
    '.data',
    'path',
    'Folder of the embedded database, of the file `token`, and of the addresses of running servers, relative to the working directory.'
  ),
  bootstrapToken: optional(
    'TRIBUTARY_BOOTSTRAP_TOKEN',
    textOfAtLeast(16),
    'text',
    'An admin token that exists from the first start, for servers without a shell.'
  ),
  missingReferences: setting(
    'MISSING_REFERENCES',
    oneOf('reject', 'create'),
    'reject',
    'reject or create',
    'What proposals and loads do about a reference to an absent entity, unless the request overrides it.'
  ),
  upsertReplaces: setting(
    'UPSERT_REPLACES',
    oneOf('aspect', 'proposals'),
    'aspect',
    'aspect or proposals',
    'What an UPSERT of an aspect with lineage replaces: all of its edges, or (`proposals`) only those that proposals, or the same source of loads, stated. Edges of people and other sources then stay.'
  ),
  snapshotMaxRemovedShare: setting(
    'SNAPSHOT_MAX_REMOVED_SHARE',
    share,
    '0.3',
    'share',
    'Share of what a source states that a snapshot may remove; beyond that it is refused without `force=true`. 1 refuses nothing.'
  ),
  openLineageConnections: optional(
    'OPENLINEAGE_CONNECTIONS',
    anyText,
    'path or JSON',
    "What the namespaces of OpenLineage events are: a JSON file, or the JSON itself. See openlineage.md. Without it only DataHub's rules for names apply."
  ),
  publicUrl: optional(
    'PUBLIC_URL',
    webAddress,
    'URL',
    'Address at which browsers reach this service, with the path prefix of a proxy if there is one. Needed to sign in with an identity provider.'
  ),
  corsOrigins: optional(
    'CORS_ORIGINS',
    origins,
    'origins',
    'Origins whose pages may use this service with a token from a browser: `https://app.example.com,https://other.example.com`. Without it no other origin may.'
  ),
  rateLimitPerMinute: setting(
    'RATE_LIMIT_PER_MINUTE',
    integer(0, 10_000_000),
    '0',
    'requests',
    'Requests of one token, or failed attempts to authenticate from one address, in a minute; more are refused with RATE_LIMITED. 0: any number. With `REDIS_URL` all API processes count together, otherwise each for itself.'
  ),
  trustedProxies: optional(
    'TRUSTED_PROXIES',
    proxies,
    'addresses',
    'Proxies whose `X-Forwarded-For` names the client, for the limit of attempts from one address: addresses and ranges such as `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal`, separated by commas. Without it all clients behind a proxy share its address.'
  ),
  oidcIssuer: optional(
    'OIDC_ISSUER',
    url('http', 'https'),
    'URL',
    'Issuer of an OpenID Connect provider. With it people sign in there, and its JSON Web Tokens are accepted as bearer tokens. See the guide on sign-in.'
  ),
  oidcClientId: optional(
    'OIDC_CLIENT_ID',
    anyText,
    'text',
    'Name under which the provider knows this service. Without it nobody signs in with a browser.'
  ),
  oidcClientSecret: optional(
    'OIDC_CLIENT_SECRET',
    anyText,
    'text',
    'Secret of this service at the provider. Without it the service is a public client; PKCE is used either way.'
  ),
  oidcAudience: optional(
    'OIDC_AUDIENCE',
    anyText,
    'text',
    'Audience that JSON Web Tokens must name. Default: `OIDC_CLIENT_ID`.'
  ),
  oidcRoles: optional(
    'OIDC_ROLES',
    anyText,
    'JSON',
    'Which groups have which role: `{"admin": ["platform"], "editor": ["data"], "owner": {"urn:li:domain:finance": ["finance"]}, "reader": ["*"]}`.'
  ),
  oidcScopes: setting(
    'OIDC_SCOPES',
    anyText,
    'openid profile email',
    'text',
    'Scopes to ask the provider for, `openid` among them; some providers need `groups` too.'
  ),
  oidcUserClaim: setting(
    'OIDC_USER_CLAIM',
    anyText,
    'preferred_username',
    'claim',
    'Claim that names the user. It gives only the name: rights follow from groups and the subject. If it is absent, `email` is used, then `sub`.'
  ),
  oidcGroupsClaim: setting(
    'OIDC_GROUPS_CLAIM',
    anyText,
    'groups',
    'claim',
    'Claim with the groups of the user, or the path to it, such as `realm_access.roles`.'
  ),
  oidcSessionHours: setting(
    'OIDC_SESSION_HOURS',
    integer(1, 168),
    '12',
    'hours',
    'Time after which somebody who has signed in with the provider must do so again. Changed groups count from then on.'
  ),
  oidcAbsentDays: setting(
    'OIDC_ABSENT_DAYS',
    integer(0, 3_650),
    '30',
    'days',
    'Time without a sign-in after which a person counts as gone. Access tokens that a person made do not count while the person is gone, and end when a sign-in shows that no role is left. `0` keeps them; the list of tokens and the log name them.'
  ),
  databasePoolApi: setting(
    'DATABASE_POOL_API',
    integer(1, 500),
    '6',
    'connections',
    'Postgres connections of one API process. A third of them are reserved for uploads.'
  ),
  databasePoolWorker: setting(
    'DATABASE_POOL_WORKER',
    integer(2, 500),
    '4',
    'connections',
    'Postgres connections of one worker process: one for each chunk in progress, and two for the rest, so at least WORKER_CONCURRENCY + 2. One API and three workers stay within 20.'
  ),
  statementTimeoutApiMs: setting(
    'DATABASE_TIMEOUT_API_MS',
    integer(100, 3_600_000),
    '15000',
    'milliseconds',
    'Maximum duration of an SQL statement of the API; longer ones fail with DEADLINE_EXCEEDED.'
  ),
  statementTimeoutWorkerMs: setting(
    'DATABASE_TIMEOUT_WORKER_MS',
    integer(1_000, 3_600_000),
    '60000',
    'milliseconds',
    'Maximum duration of an SQL statement of a worker; after that the chunk is tried again.'
  ),
  lineageMemoryMb: setting(
    'LINEAGE_MEMORY_MB',
    integer(0, 65_536),
    '1024',
    'megabytes',
    'Memory for the lineage graph in each API process. If the graph needs more, or this is 0, SQL answers. About 150 for a million assets and five million edges.'
  ),
  workerConcurrency: setting(
    'WORKER_CONCURRENCY',
    integer(1, 64),
    '2',
    'chunks',
    'Chunks that one worker process applies at the same time. With two, the worker computes one while Postgres works on the other.'
  ),
  shutdownSeconds: setting(
    'SHUTDOWN_SECONDS',
    integer(1, 600),
    '20',
    'seconds',
    'Time from SIGTERM to the end of the process, to finish requests and return chunks. It begins after `SHUTDOWN_DELAY_SECONDS`.'
  ),
  shutdownDelaySeconds: setting(
    'SHUTDOWN_DELAY_SECONDS',
    integer(0, 300),
    '0',
    'seconds',
    'Time for which an API process still takes requests after SIGTERM, while `/health/ready` is already 503: as long as load balancers need to notice.'
  ),
  clientUrl: optional(
    'TRIBUTARY_URL',
    url('http', 'https'),
    'URL',
    'Server for the command line. Default: the one that runs with `TRIBUTARY_DATA_DIR`, otherwise `http://127.0.0.1:$PORT`.'
  ),
  clientToken: optional(
    'TRIBUTARY_TOKEN',
    anyText,
    'text',
    'Token for the command line. Default: the file `token` in `TRIBUTARY_DATA_DIR`, only for the server that was started with it.'
  )
} as const satisfies Record<string, Setting<unknown>>

type ValueOf<S> = S extends Setting<infer T> ? T : never
type Values = { readonly [Name in keyof typeof settings]: ValueOf<(typeof settings)[Name]> }

/** Every key with its value. `host` always has a value. Frozen. */
export type Config = Omit<Values, 'host'> & { readonly host: string }

/** One or more keys have an invalid value. `problems` says for each what is expected, without the value. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Reads every key. An empty value counts as absent.
 *
 * Throws ConfigError with all bad keys at once.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, { key, parse, fallback }] of Object.entries<Setting<unknown>>(settings)) {
    const text = env[key]?.trim() || fallback
    try {
      values[name] = text === null ? null : parse(text)
    } catch (error) {
      problems.push(`${key} must be ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  problems.push(...conflictsOf(values))
  if (problems.length > 0) throw new ConfigError(problems)
  values.host ??= values.databaseUrl === null ? '127.0.0.1' : '0.0.0.0'
  // safe: the loop above has set a value for every name of the table
  return Object.freeze(values) as Config
}
