/**
 * The SQL reader answers the cases of `test/sql/cases` as they say, and over all of them it is as good as it has to
 * be.
 */
import t from 'tap'
import { openSqlReader } from '../../shared/sql/read-sql.ts'
import { addScores, compareCase, noScore, type Score } from './compare.ts'
import { readAllCases, type Dialect, type SqlCase } from './read-cases.ts'

const reader = await openSqlReader()

const compare = (each: SqlCase, dialect: Dialect): ReturnType<typeof compareCase> =>
  compareCase(
    each,
    reader.read(each.sql, {
      dialect,
      schemas: each.schemas,
      ...(each.database === undefined ? {} : { database: each.database }),
      ...(each.schema === undefined ? {} : { schema: each.schema })
    })
  )

/** Parts of the suite that have a floor of their own. */
const parts = ['all', 'merge, update, insert', 'procedures'] as const
const scores: { [part in (typeof parts)[number]]: Score } = {
  all: noScore,
  'merge, update, insert': noScore,
  procedures: noScore
}
const partOf: { [kind: string]: (typeof parts)[number] } = {
  merge: 'merge, update, insert',
  'update-delete': 'merge, update, insert',
  insert: 'merge, update, insert',
  procedures: 'procedures'
}

for (const each of readAllCases())
  for (const dialect of each.dialects)
    t.test(`${each.kind}, ${dialect}: ${each.title}`, async (t) => {
      const { differences, score } = compare(each, dialect)
      const part = partOf[each.kind]
      scores.all = addScores(scores.all, score)
      if (part !== undefined) scores[part] = addScores(scores[part], score)
      if (each.notYet?.dialects.includes(dialect) === true)
        t.ok(differences.length > 0, `${each.place} is right: its line \`not yet\` can go`)
      else t.strictSame(differences, [], each.place)
    })

t.test('the floors are kept over all cases', async (t) => {
  const share = (right: number, all: number): number => right / all
  const { all, procedures } = scores
  const writes = scores['merge, update, insert']
  const certain = all.certainRight + all.certainWrong
  const floors: [what: string, share: number, least: number][] = [
    ['tables of statements', share(all.tablesRight, all.statements), 0.96],
    ['rows of columns', share(all.rowsRight, all.rows), 0.95],
    ['rows of MERGE, UPDATE and INSERT', share(writes.rowsRight, writes.rows), 0.98],
    ['rows of procedures', share(procedures.rowsRight, procedures.rows), 0.88],
    ['right edges among the certain ones', share(all.certainRight, certain), 0.995],
    ['certain edges among the right ones', share(all.certainRight, all.edgesRight), 0.85]
  ]
  for (const [what, found, least] of floors)
    t.ok(found >= least, `${what}: ${(found * 100).toFixed(1)} % of at least ${least * 100} %`)
  t.comment(JSON.stringify(scores))
})
