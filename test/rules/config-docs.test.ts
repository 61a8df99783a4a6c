/**
 * docs/configuration.md and .env.example match config.ts. To rewrite both: WRITE_DOCS=1 npm test --
 * test/rules/config-docs.test.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { settings } from '../../shared/platform/config.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { configTable, envExample } from '../support/config-table.ts'

const docsFile = packagePath('docs/configuration.md')
const exampleFile = packagePath('.env.example')
const section = /(?<=\n## Keys\n\n)[^]*?(?=\n## )/

if (process.env.WRITE_DOCS === '1') {
  writeFileSync(
    docsFile,
    readFileSync(docsFile, 'utf8').replace(section, () => `${configTable()}\n`)
  )
  writeFileSync(exampleFile, envExample())
}

t.test('docs/configuration.md lists every key by subject, with its default, unit and meaning', async (t) => {
  const page = section.exec(readFileSync(docsFile, 'utf8'))?.[0].trim() ?? ''
  t.equal(page, configTable())
  const keysIn = [...page.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm)]
  t.strictSame(
    keysIn.map(([, key = '']) => key).sort(),
    Object.values(settings)
      .map(({ key }) => key)
      .sort(),
    'each key once'
  )
  /** A default that depends on other keys is where a reader looks for it. */
  for (const [key, shown] of [
    ['HOST', /127\.0\.0\.1.*0\.0\.0\.0/],
    ['PORT', /^`8080`$/],
    ['OIDC_AUDIENCE', /^`OIDC_CLIENT_ID`$/],
    ['OTEL_SERVICE_NAME', /`tributary-api`/],
    ['TRIBUTARY_TOKEN', /`token`/],
    ['DATABASE_URL', /^none$/]
  ] as const)
    t.match(keysIn.find(([, name]) => name === key)?.[2], shown, key)
})

t.test('.env.example lists every key with its default', async (t) => {
  t.equal(readFileSync(exampleFile, 'utf8'), envExample())
})

t.test('docs/how-to/deploy.md says of every key which process reads it', async (t) => {
  const page = readFileSync(packagePath('docs/how-to/deploy.md'), 'utf8')
  const [, section = ''] = page.split('## Which process reads what')
  const named = new Set(
    [...(section.split('\n## ')[0] ?? '').matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, key = '']) => key)
  )
  t.strictSame(
    [...named].sort(),
    Object.values(settings)
      .map(({ key }) => key)
      .sort()
  )
})
