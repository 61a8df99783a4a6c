/** The checks of the web UI: each is shown by a test that exists, or says why not. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { checks } from '../browser/checks.ts'

t.test('the checks are numbered from 1 to 60', async (t) => {
  t.strictSame(
    checks.map(({ check }) => check),
    Array.from({ length: 60 }, (_, index) => index + 1)
  )
})

t.test('each check names tests that exist, or says why there is none', async (t) => {
  for (const each of checks) {
    if ('not' in each) {
      t.ok(each.not.length > 0, `${each.check}`)
      continue
    }
    t.ok(each.tests.length > 0, `${each.check}`)
    for (const test of each.tests) {
      const [, file = '', name = ''] = /^(\S+\.test\.ts): ([^]+)$/.exec(test) ?? []
      const source = readFileSync(packagePath(`test/${file}`), 'utf8').replaceAll(/t\.test\(\s+/g, 't.test(')
      t.ok(
        source.includes(`t.test('${name}'`) || source.includes(`t.test(\`${name}\``),
        `${each.check}: ${test}`
      )
    }
  }
})
