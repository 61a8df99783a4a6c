/**
 * The configuration: the one table of keys, and the one place that reads the environment.
 *
 * All bad keys are reported at once, and no value is ever repeated in the report: it may be a secret.
 * docs/configuration.md and .env.example list every key, and a test holds the three together.
 */
import {
  anyText,
  integer,
  oneOf,
  optional,
  setting,
  share,
  textOfAtLeast,
  url,
  yesOrNo,
  type Setting
} from './settings.ts'

export const settings = {
  databaseUrl: optional(
    'DATABASE_URL',
    url('postgres', 'postgresql'),
    'URL',
    'Postgres 14 or newer. Without it `npm start` runs an embedded one; `serve`, `work` and `migrate` demand it.'
  ),
  redisUrl: optional(
    'REDIS_URL',
    url('redis', 'rediss'),
    'URL',
    'Redis for the queue. Without it the queue lives in Postgres, in the schema `bullmq`.'
  ),
  redisTlsVerify: setting(
    'REDIS_TLS_VERIFY',
    yesOrNo,
    'false',
    'true or false',
    'Whether the certificate of a `rediss://` server is verified. Hosting platforms sign theirs themselves, so the default is no.'
  ),
  host: optional(
    'HOST',
    anyText,
    'address',
    'Address to listen on. Without it: `127.0.0.1` where no `DATABASE_URL` is given (one machine), else `0.0.0.0`.'
  ),
  port: setting(
    'PORT',
    integer(0, 65_535),
    '8080',
    'port',
    'Port of the API. Where the key is absent, `npm start` takes the next free one if it is in use.'
  ),
  workerPort: optional(
    'WORKER_PORT',
    integer(0, 65_535),
    'port',
    'Port on which a worker process serves health and metrics. Without it a worker listens on nothing.'
  ),
  metricsToken: optional(
    'METRICS_TOKEN',
    textOfAtLeast(8),
    'text',
    'Bearer token that reads `/metrics`. Without it metrics are served to the same machine only.'
  ),
  logLevel: setting(
    'LOG_LEVEL',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'level',
    'Least level that is logged.'
  ),
  dataDir: setting(
    'TRIBUTARY_DATA_DIR',
    anyText,
    '.data',
    'path',
    'Folder of the embedded database and of the file `token`; relative to where the process is started.'
  ),
  bootstrapToken: optional(
    'TRIBUTARY_BOOTSTRAP_TOKEN',
    textOfAtLeast(16),
    'text',
    'An admin token that exists from the first start, for a server that nobody has a shell on.'
  ),
  missingReferences: setting(
    'MISSING_REFERENCES',
    oneOf('reject', 'create'),
    'reject',
    'reject or create',
    'What proposals and loads do with a reference to an absent entity, unless the request says otherwise.'
  ),
  snapshotMaxRemovedShare: setting(
    'SNAPSHOT_MAX_REMOVED_SHARE',
    share,
    '0.3',
    'share',
    'Share of what a source states that a snapshot load may remove; a larger one is refused unless it says `force=true`. 1 refuses nothing.'
  ),
  databasePoolApi: setting(
    'DATABASE_POOL_API',
    integer(1, 500),
    '6',
    'connections',
    'Postgres connections of one API process. A third of them store uploads, and nothing else waits for those.'
  ),
  databasePoolWorker: setting(
    'DATABASE_POOL_WORKER',
    integer(2, 500),
    '3',
    'connections',
    'Postgres connections of one worker process: one for each chunk at work, and two for its loops. One API and four workers stay within 20.'
  ),
  statementTimeoutApiMs: setting(
    'DATABASE_TIMEOUT_API_MS',
    integer(100, 3_600_000),
    '15000',
    'milliseconds',
    'Longest SQL statement of the API; longer ones fail with DEADLINE_EXCEEDED.'
  ),
  statementTimeoutWorkerMs: setting(
    'DATABASE_TIMEOUT_WORKER_MS',
    integer(1_000, 3_600_000),
    '60000',
    'milliseconds',
    'Longest SQL statement of a worker; the chunk is tried again.'
  ),
  lineageMemoryMb: setting(
    'LINEAGE_MEMORY_MB',
    integer(0, 65_536),
    '1024',
    'megabytes',
    'What the lineage graph may take in the memory of each API process; a larger one is answered in SQL, and 0 always is. About 150 for a million assets and five million edges.'
  ),
  workerConcurrency: setting(
    'WORKER_CONCURRENCY',
    integer(1, 64),
    '2',
    'chunks',
    'Chunks that one worker process applies at the same time. With two, one is computed while Postgres works on the other.'
  ),
  shutdownSeconds: setting(
    'SHUTDOWN_SECONDS',
    integer(1, 600),
    '20',
    'seconds',
    'From SIGTERM to the end of the process: requests are answered and chunks handed back within it.'
  ),
  clientUrl: optional(
    'TRIBUTARY_URL',
    url('http', 'https'),
    'URL',
    'Server that the command line talks to. Without it `http://127.0.0.1:$PORT`.'
  ),
  clientToken: optional(
    'TRIBUTARY_TOKEN',
    anyText,
    'text',
    'Token that the command line sends. Without it the file `token` in `TRIBUTARY_DATA_DIR`.'
  )
} as const satisfies Record<string, Setting<unknown>>

type ValueOf<S> = S extends Setting<infer T> ? T : never
type Values = { readonly [Name in keyof typeof settings]: ValueOf<(typeof settings)[Name]> }

/** Every key with its value; `host` is settled. Frozen. */
export type Config = Omit<Values, 'host'> & { readonly host: string }

/** One or more keys have no usable value. `problems` says for each what is expected, without the value. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
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
  if (problems.length > 0) throw new ConfigError(problems)
  values.host ??= values.databaseUrl === null ? '127.0.0.1' : '0.0.0.0'
  // a border: the loop above has put a value for every name of the table
  return Object.freeze(values) as Config
}
