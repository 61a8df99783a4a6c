/** Every threat of test/abuse/table.ts is met by attacks and tests that exist, and every attack meets one. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { attackNames } from '../abuse/attacks.ts'
import { threats, type ThreatRow } from '../abuse/table.ts'

const rows = Object.entries(threats)

/** What the rows of a table name and does not exist. */
function unknownIn(table: readonly (readonly [string, ThreatRow])[]): string[] {
  return table.flatMap(([id, { attacks = [], tests = [] }]) => [
    ...attacks
      .filter((begin) => !attackNames.some((name) => name.startsWith(begin)))
      .map((begin) => `${id}: the attack ${begin}`),
    ...tests.filter((test) => !hasTest(test)).map((test) => `${id}: the test ${test}`)
  ])
}

/** Whether a file has a test of this title, or a row of this id. */
function hasTest(named: string): boolean {
  const [, file = '', title = ''] = /^(\S+): (.+)$/.exec(named) ?? []
  const row = /^B\d{3}/.test(title)
  const text = readFileSync(packagePath(row ? 'test/cases/bad-input.json' : file), 'utf8')
  return row
    ? text.includes(`"id": "${title}`)
    : text.includes(`t.test('${title}'`) || text.includes(`test(\n    '${title}'`)
}

t.test('every row names what shows that its threat is met, and all of it exists', async (t) => {
  t.strictSame(
    rows.filter(([, { attacks = [], tests = [] }]) => attacks.length + tests.length === 0).map(([id]) => id),
    []
  )
  t.strictSame(unknownIn(rows), [])
  const missing = {
    threat: 'x',
    attacks: ['no such attack'],
    tests: ['test/auth.test.ts: no such test', 'test/bad-input.test.ts: B999']
  }
  t.equal(unknownIn([['S-00', missing]]).length, 3, 'what does not exist is found')
})

t.test('the rows are numbered without a gap, and the ten of OWASP are there', async (t) => {
  const own = rows.map(([id]) => id).filter((id) => id.startsWith('S-'))
  t.strictSame(
    own,
    Array.from(own, (_, index) => `S-${String(index + 1).padStart(2, '0')}`)
  )
  t.ok(own.length >= 33)
  t.strictSame(
    rows.map(([id]) => id).filter((id) => !id.startsWith('S-')),
    Array.from({ length: 10 }, (_, index) => `API${index + 1}`)
  )
})

t.test('every attack has a name of its own, and a row names it', async (t) => {
  t.equal(new Set(attackNames).size, attackNames.length)
  const begins = rows.flatMap(([, { attacks = [] }]) => attacks)
  t.strictSame(
    attackNames.filter((name) => !begins.some((begin) => name.startsWith(begin))),
    []
  )
})
