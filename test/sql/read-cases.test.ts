/** The cases of the SQL reader are many and of many dialects, and a mistake in one is told with its place. */
import t from 'tap'
import { dialectNames } from '../../shared/sql/dialects.ts'
import { readAllCases, readCases, type Dialect } from './read-cases.ts'

const head = '# postgres: a title'
const answer = '---\nselect a from t\n=>\nSELECT from t'

t.test('there are more than 420 statements, and some of every dialect', async (t) => {
  const statementsOf = new Map<Dialect, number>()
  let count = 0
  for (const { dialects, statements } of readAllCases()) {
    count += statements.length
    for (const dialect of dialects)
      statementsOf.set(dialect, (statementsOf.get(dialect) ?? 0) + statements.length)
  }
  t.ok(count > 420, `${count} statements`)
  t.strictSame([...statementsOf.keys()].sort(), [...dialectNames].sort())
  t.ok([...statementsOf.values()].filter((each) => each >= 20).length >= 12)
})

t.test('no two cases of a dialect ask the same', async (t) => {
  const places = new Map<string, string>()
  const twice: string[] = []
  for (const { dialects, sql, database, schema, schemas, place } of readAllCases())
    for (const dialect of dialects) {
      const question = JSON.stringify([dialect, sql, database, schema, schemas])
      const first = places.get(question)
      if (first !== undefined) twice.push(`${first} and ${place} in ${dialect}`)
      places.set(question, place)
    }
  t.strictSame(twice, [])
})

t.test('a case has its SQL, its schemas and what is expected of each statement', async (t) => {
  const [found] = readCases(
    [
      '// a remark',
      '# snowflake, postgres: a title: with a colon',
      'database shop',
      'schema public',
      'columns orders: id int, price decimal(10, 2), "the note" struct<a int, b array<int>>',
      '---',
      '# a comment of the SQL',
      'insert into "Copy" select id from orders;',
      '=>',
      'INSERT into "Co.py", log from orders, crm.clients',
      'Co.py.id <- orders.id, lake.raw.clients."the.id" : aggregation, by schema',
      'log.at <-',
      'filtered by orders.buyer, orders.id: JOIN',
      'problem AMBIGUOUS_COLUMN at 1:8',
      'problem NOT_READ'
    ].join('\n'),
    'kind.txt'
  )
  t.strictSame(found, {
    kind: 'kind',
    place: 'kind.txt:2',
    title: 'a title: with a colon',
    dialects: ['snowflake', 'postgres'],
    database: 'shop',
    schema: 'public',
    schemas: {
      'shop.public.orders': { id: 'int', price: 'decimal(10, 2)', 'the note': 'struct<a int, b array<int>>' }
    },
    isExactCase: false,
    sql: '# a comment of the SQL\ninsert into "Copy" select id from orders;',
    statements: [
      {
        kind: 'INSERT',
        outputs: ['shop.public.Co.py', 'shop.public.log'],
        inputs: ['shop.public.orders', 'shop.crm.clients'],
        columns: [
          {
            output: 'shop.Co.py',
            column: 'id',
            upstreams: [
              { table: 'shop.public.orders', column: 'id' },
              { table: 'lake.raw.clients', column: 'the.id' }
            ],
            transformation: 'AGGREGATION',
            certainty: 'BY_SCHEMA'
          },
          {
            output: 'shop.public.log',
            column: 'at',
            upstreams: [],
            transformation: 'IDENTITY',
            certainty: 'CERTAIN'
          }
        ],
        indirect: [
          { table: 'shop.public.orders', column: 'buyer', transformation: 'JOIN' },
          { table: 'shop.public.orders', column: 'id', transformation: 'JOIN' }
        ],
        problems: [{ code: 'AMBIGUOUS_COLUMN', line: 1, column: 8 }, { code: 'NOT_READ' }]
      }
    ]
  })
})

t.test('a column without its table is one of the single output', async (t) => {
  const [found] = readCases(
    `${head}\n---\nselect\n=>\nINSERT into a.b from c\nid <- c.id\nSELECT from c\nid <- c.id`,
    'kind.txt'
  )
  t.strictSame(
    found?.statements.map(({ columns }) => columns.map(({ output }) => output)),
    [['a.b'], [undefined]]
  )
})

t.test('names are compared exactly unless dialects fold differently', async (t) => {
  const isExact = (head: string): boolean | undefined =>
    readCases(`${head}\n${answer}`, 'kind.txt')[0]?.isExactCase
  t.equal(isExact('# postgres, mysql: a'), true)
  t.equal(isExact('# snowflake, oracle: a'), true)
  t.equal(isExact('# snowflake, postgres: a'), false)
  t.equal(isExact('# snowflake, postgres: a\nexact case'), true)
})

t.test('a mistake is told with its file and line', async (t) => {
  const mistakes: [what: string, text: string, message: string | RegExp][] = [
    ['no head', 'select 1', 'kind.txt:1: a case must begin with `# DIALECT, DIALECT: TITLE`'],
    ['an unknown dialect', `# postgres, db2: a\n${answer}`, 'kind.txt:1: db2 is not a dialect'],
    ['an unknown line of a head', `${head}\ntable t\n${answer}`, 'kind.txt:2: not a line of a head: table t'],
    [
      'columns without a list',
      `${head}\ncolumns t\n${answer}`,
      'kind.txt:2: it must be `columns TABLE: COLUMN TYPE, …`'
    ],
    ['a head without an end', `${head}\nschema a`, 'kind.txt:2: the head of a case must end with `---`'],
    ['SQL without an end', `${head}\n---\nselect 1`, 'kind.txt:3: the SQL must end with a line `=>`'],
    [
      'an answer that begins with a column',
      `${head}\n---\nselect 1\n=>\na <- t.a`,
      'kind.txt:5: an answer must begin with a kind of statement'
    ],
    ['a column of no table', `${head}\n${answer}\na <- a`, 'kind.txt:6: a needs a table'],
    [
      'a word that says nothing',
      `${head}\n${answer}\na <- t.a : certain`,
      /^kind.txt:6: certain is not one of/
    ],
    [
      'an unknown line of an answer',
      `${head}\n${answer}\nfrom t`,
      'kind.txt:6: not a line of an answer: from t'
    ]
  ]
  for (const [what, text, message] of mistakes) t.throws(() => readCases(text, 'kind.txt'), { message }, what)
})
