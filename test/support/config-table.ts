/** The configuration as a table for docs/configuration.md and as .env.example, both made from the one table of keys. */
import { settings } from '../../shared/platform/config.ts'
import type { Setting } from '../../shared/platform/settings.ts'

const rows: readonly Setting<unknown>[] = Object.values(settings)

/** The subjects of the page, each with its keys by name or by how they begin. */
const subjects: readonly [subject: string, keys: readonly string[]][] = [
  ['Postgres', ['DATABASE_']],
  ['Redis, for the queue', ['REDIS_']],
  [
    'The API',
    [
      'HOST',
      'PORT',
      'PUBLIC_URL',
      'CORS_ORIGINS',
      'TRUSTED_PROXIES',
      'RATE_LIMIT_PER_MINUTE',
      'LINEAGE_MEMORY_MB',
      'TRIBUTARY_BOOTSTRAP_TOKEN'
    ]
  ],
  ['Workers', ['WORKER_']],
  ['Loads, proposals and events', ['MISSING_', 'UPSERT_', 'SNAPSHOT_', 'OPENLINEAGE_']],
  ['Signing in with an identity provider', ['OIDC_']],
  ['Logs, metrics and traces', ['LOG_LEVEL', 'METRICS_TOKEN', 'OTEL_']],
  ['Stopping', ['SHUTDOWN_']],
  ['Folder and command line', ['TRIBUTARY_DATA_DIR', 'TRIBUTARY_URL', 'TRIBUTARY_TOKEN']]
]

/** A default that depends on other keys is a sentence at the end of the meaning. */
const givenDefault = /\s*Default: (.+?)\.(?=\s|$)/

function configRow({ key, fallback, unit, meaning }: Setting<unknown>): string {
  const [, given] = givenDefault.exec(meaning) ?? []
  const shown = fallback === null ? (given ?? 'none') : `\`${fallback}\``
  return `| \`${key}\` | ${shown} | ${unit} | ${meaning.replace(givenDefault, '')} |`
}

/** A Markdown table for each subject: key, default, unit, meaning. Throws if a key is of no subject, or of two. */
export function configTable(): string {
  const subjectsOf = ({ key }: Setting<unknown>): string[] =>
    subjects
      .filter(([, keys]) => keys.some((name) => name === key || (name.endsWith('_') && key.startsWith(name))))
      .map(([subject]) => subject)
  const lost = rows.filter((row) => subjectsOf(row).length !== 1)
  if (lost.length > 0) throw new Error(`not of one subject: ${lost.map(({ key }) => key).join(', ')}`)
  return subjects
    .flatMap(([subject]) => [
      `### ${subject}`,
      '',
      '| Key | Default | Unit | Meaning |',
      '|---|---|---|---|',
      ...rows.filter((row) => subjectsOf(row)[0] === subject).map(configRow),
      ''
    ])
    .join('\n')
    .trim()
}

/** Every key with its meaning above it, commented out, so that a copy of the file changes nothing. */
export function envExample(): string {
  const head =
    '# Every key that Tributary reads, with its default. Copy to .env and pass it with `node --env-file=.env`,\n# or set the keys where your platform keeps them. An empty value counts as absent.\n'
  const entries = rows.map(
    ({ key, fallback, unit, meaning }) =>
      `# ${meaning.replaceAll('`', '')} (${unit})\n#${key}=${fallback ?? ''}\n`
  )
  return [head, ...entries].join('\n')
}
