/**
 * Statements that are cut, doubled and mixed are answered or refused with their reason; nothing throws. `SQL_MUTATIONS=100000 npm test -- test/sql/mutated.test.ts` tries more.
 */
import t from 'tap'
import { openSqlReader } from '../../shared/sql/read-sql.ts'
import { ParserBroken } from '../../shared/sql/parser.ts'
import { createRandom, type Random } from '../fuzz/random.ts'
import { seed } from '../support/fast-check.ts'
import { readAllCases } from './read-cases.ts'

const count = Number(process.env.SQL_MUTATIONS || 4_000)

t.setTimeout(900_000)

const signs: readonly [string, ...string[]] = [
  '(', ')', ',', "'", '"', ';', '--', '/*', '$$', ' select ', ' from ', ' union ', '*', '.', '`', '[', ']', ' case ', ' end ', ' begin ',
  ' as ', ' with ', '\n', '\u0000', ':', '@', '{{', '}}', '\ud800', 'é', ' merge ', ' insert into '
] // prettier-ignore

/** One to four changes of a statement: a sign put in, a part left out or doubled, another statement's end, a cut. */
function mutate(sql: string, others: readonly [string, ...string[]], random: Random): string {
  let text = sql
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(text.length + 1)
    const other = random.pick(others)
    const change = random.below(5)
    if (change === 0) text = text.slice(0, at) + random.pick(signs) + text.slice(at)
    else if (change === 1) text = text.slice(0, at) + text.slice(at + 1 + random.below(12))
    else if (change === 2) text = text.slice(0, at) + other.slice(random.below(other.length + 1))
    else if (change === 3) text = text.slice(0, at) + text.slice(random.below(at + 1), at) + text.slice(at)
    else text = text.slice(0, at)
  }
  return text.slice(0, 20_000)
}

t.test(`${count} mutated statements are answered or refused with their reason`, async (t) => {
  const reader = await openSqlReader()
  const [first, ...rest] = readAllCases()
  if (first === undefined) throw new Error('there are no cases')
  const cases = [first, ...rest] as const
  const texts = [first.sql, ...rest.map(({ sql }) => sql)] as const
  const thrown: string[] = []
  let slowest = { ms: 0, sql: '' }
  for (let index = 0; index < count; index++) {
    const random = createRandom(seed, index)
    const { sql, dialects } = random.pick(cases)
    const text = mutate(sql, texts, random)
    const begin = performance.now()
    try {
      for (const { kind, problems } of reader.read(text, {
        dialect: dialects[random.below(dialects.length)] ?? 'generic'
      }))
        if (kind === 'UNKNOWN' && problems.length === 0) thrown.push(`no reason: ${text}`)
    } catch (error) {
      // the thread of such a statement ends, and the next one is read by another
      if (!(error instanceof ParserBroken)) thrown.push(`${String(error)}: ${text}`)
    }
    const ms = performance.now() - begin
    if (ms > slowest.ms) slowest = { ms, sql: text }
  }
  t.strictSame(thrown.slice(0, 5), [])
  t.comment(`the slowest took ${slowest.ms.toFixed(0)} ms`)
})
