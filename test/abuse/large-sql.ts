/** Questions about SQL that is as large and as deep as generated SQL gets, and larger. */
import type { Attack } from './attack.ts'

const list = (count: number, item: (index: number) => string, between = ','): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(between)

const statements: readonly string[] = [
  `select ${list(30_000, (index) => `column_${index} as alias_${index}`)} from wide`,
  list(600, (index) => `select a from t${index}`, ' union all '),
  `with ${list(500, (index) => `c${index} as (select a from ${index === 0 ? 't' : `c${index - 1}`})`)} select a from c499`,
  `select a from t where a in (${list(100_000, String)})`,
  `insert into t (a, b) values ${list(50_000, (index) => `(${index}, 1)`)}`,
  `select ${'('.repeat(100)}a${')'.repeat(100)} from t`,
  `select a from ${'(select a from '.repeat(100)}t${') x'.repeat(100)}`,
  `select ${list(5_000, (index) => `a${index}`, ' || ')} as c from t`,
  `select a from t where ${list(20_000, (index) => `a = ${index}`, ' or ')}`,
  '('.repeat(900_000),
  list(20_000, (index) => `insert into t select a from s${index};`, '\n')
]

export const largeSql: readonly Attack[] = [
  {
    name: 'questions about large SQL, 8 at once',
    path: '/rest/v1/sql/lineage',
    body: (request) => JSON.stringify({ sql: statements[request % statements.length], dialect: 'postgres' }),
    bodiesCount: statements.length,
    atOnce: 8,
    readsOnly: true,
    expected: [
      { status: 200, reason: null },
      { status: 200, reason: 'TOO_LARGE' },
      { status: 200, reason: 'NOT_READ' },
      { status: 503, reason: 'OVERLOADED' },
      { status: 400, reason: 'LIMIT_EXCEEDED' }
    ],
    // the tree of a megabyte in the thread, beside the process
    rssMaxMb: 1_500
  }
]
