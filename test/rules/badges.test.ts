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
