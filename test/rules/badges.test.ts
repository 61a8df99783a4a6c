/** The README's badges say what CI runs. To draw them again: WRITE_DOCS=1 npm test -- test/rules/badges.test.ts */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { badges, drawBadge } from '../support/badges.ts'

const folder = packagePath('docs/images/badges')

t.test('every badge is drawn from the files that decide what CI runs', async (t) => {
  if (process.env.WRITE_DOCS === '1') {
    mkdirSync(folder, { recursive: true })
    for (const badge of badges()) writeFileSync(`${folder}/${badge.file}`, drawBadge(badge))
  }
  t.same(
    readdirSync(folder).sort(),
    badges()
      .map(({ file }) => file)
      .sort()
  )
  for (const badge of badges())
    t.equal(readFileSync(`${folder}/${badge.file}`, 'utf8'), drawBadge(badge), badge.file)
})

t.test('the README shows each badge, and says the same to who cannot see it', async (t) => {
  const readme = readFileSync(packagePath('README.md'), 'utf8')
  for (const { file, label, value } of badges())
    t.ok(readme.includes(`![${label} ${value}](docs/images/badges/${file})`), `${label} ${value}`)
})

t.test('docs/compatibility.md says of each what the badge says', async (t) => {
  const page = readFileSync(packagePath('docs/compatibility.md'), 'utf8')
  const tested = new Map(
    [...page.matchAll(/^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$/gm)].map(([, what = '', inCi = '']) => [
      what,
      inCi
    ])
  )
  const rowOf: { [file: string]: string } = {
    'node.svg': 'Node.js',
    'postgres.svg': 'PostgreSQL',
    'datahub.svg': "DataHub's clients",
    'openlineage.svg': "OpenLineage's clients"
  }
  for (const { file, value } of badges().filter((badge) => badge.file in rowOf)) {
    const said = tested.get(rowOf[file] ?? '') ?? ''
    t.strictSame(
      value.split(/, | and /).filter((version) => !said.includes(version)),
      [],
      `${rowOf[file]}: ${said}`
    )
  }
  const client = badges().find(({ file }) => file === 'datahub.svg')?.value ?? ''
  t.ok(readFileSync(packagePath('docs/comparison.md'), 'utf8').includes(client), 'the comparison, too')
})
