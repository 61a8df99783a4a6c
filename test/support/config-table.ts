/** The configuration as a table for docs/configuration.md and as .env.example, both made from the one table of keys. */
import { settings } from '../../shared/platform/config.ts'
import type { Setting } from '../../shared/platform/settings.ts'

const rows: readonly Setting<unknown>[] = Object.values(settings)

/** A Markdown table: key, default, unit, meaning. */
export function configTable(): string {
  const lines = rows.map(
    ({ key, fallback, unit, meaning }) =>
      `| \`${key}\` | ${fallback === null ? '-' : `\`${fallback}\``} | ${unit} | ${meaning} |`
  )
  return ['| Key | Default | Unit | Meaning |', '|---|---|---|---|', ...lines].join('\n')
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
