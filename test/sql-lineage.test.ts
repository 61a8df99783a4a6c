/** Questions about SQL, through every door: REST, GraphQL and the command line. */
import t, { type Test } from 'tap'
import { limits } from '../shared/limits.ts'
import { datasetUrn } from '../shared/urn/kinds.ts'
import { apply, create, upsert } from './support/changes.ts'
import { runCommand } from './support/run-command.ts'
import { withServer } from './support/server.ts'

const orders = datasetUrn('postgres', 'shop.public.orders')

async function withOrders(t: Test) {
  const server = await withServer(t)
  const fields = ['id', 'buyer', 'amount'].map((fieldPath) => ({
    fieldPath,
    nativeDataType: 'int',
    type: { type: { 'com.linkedin.schema.NumberType': {} } }
  }))
  await apply(
    server.db,
    ...create(orders),
    upsert(orders, 'schemaMetadata', {
      schemaName: 'orders',
      platform: 'urn:li:dataPlatform:postgres',
      version: 0,
      hash: '',
      platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
      fields
    })
  )
  const ask = (body: object) => server.rest({ method: 'POST', url: '/rest/v1/sql/lineage', body })
  return { ...server, ask }
}

const place = { dialect: 'postgres', database: 'shop', schema: 'public' }

t.test('a question about SQL', async (t) => {
  const { ask, url, token, graphql } = await withOrders(t)

  t.test('names the assets, and expands * by the columns of the catalog', async (t) => {
    const { status, body } = await ask({ ...place, sql: 'create table daily as select * from Orders' })
    t.equal(status, 200)
    t.match(body, {
      statements: [
        {
          kind: 'CREATE_TABLE',
          line: 1,
          inputs: [{ name: 'shop.public.orders', urn: orders, exists: true }],
          outputs: [
            { name: 'shop.public.daily', urn: datasetUrn('postgres', 'shop.public.daily'), exists: false }
          ],
          columns: ['id', 'buyer', 'amount'].map((column) => ({
            output: 'shop.public.daily',
            column,
            upstreams: [{ table: 'shop.public.orders', column }],
            transformation: 'IDENTITY',
            certainty: 'CERTAIN'
          })),
          problems: { length: 0 }
        }
      ]
    })
  })

  t.test('takes the columns that are sent before those of the catalog', async (t) => {
    const { body } = await ask({
      ...place,
      sql: 'select * from orders',
      schemas: { 'shop.public.orders': { sent: 'int' } }
    })
    t.match(body, { statements: [{ columns: [{ output: null, column: 'sent' }] }] })
  })

  t.test('tells columns that only filter on demand', async (t) => {
    const sql = 'select id from orders where amount > 1'
    t.notMatch(await ask({ ...place, sql }), { body: { statements: [{ indirect: [] }] } })
    t.match((await ask({ ...place, sql, indirect: true })).body, {
      statements: [
        { indirect: [{ table: 'shop.public.orders', column: 'amount', transformation: 'FILTER' }] }
      ]
    })
  })

  t.test('answers SQL that cannot be read with its place, and reads the rest', async (t) => {
    const { body } = await ask({
      ...place,
      sql: 'select id from orders;\nselec id from orders;\nselect id from orders'
    })
    t.match(body, {
      statements: [
        { kind: 'SELECT', problems: { length: 0 } },
        { kind: 'UNKNOWN', line: 2, problems: [{ line: 2, code: 'NOT_READ' }] },
        { kind: 'SELECT', line: 3, problems: { length: 0 } }
      ]
    })
  })

  t.test('is refused for what is wrong with it, naming the field', async (t) => {
    const wrong: [object, string][] = [
      [{ sql: '' }, 'sql'],
      [{ dialect: 'postgres' }, 'sql'],
      [{ sql: 1 }, 'sql'],
      [{ sql: 'select 1', dialect: 'klingon' }, 'dialect'],
      [{ sql: 'select 1', schemas: { t: ['a'] } }, 'schemas.t'],
      [{ sql: 'select 1', schemas: [] }, 'schemas'],
      [{ sql: 'select 1', more: true }, 'more'],
      [{ sql: 'select 1', database: 'a\nb' }, 'database']
    ]
    for (const [body, field] of wrong)
      t.match(await ask(body), { status: 400, body: { field } }, JSON.stringify(body))
    t.match(await ask({ sql: 'x'.repeat(limits.sqlMaxBytes + 1) }), {
      status: 400,
      body: { limit: 'sqlMaxBytes' }
    })
  })

  t.test('answers over GraphQL as over REST', async (t) => {
    const { body } = await graphql(
      `
        query ($input: SqlLineageInput!) {
          sqlLineage(input: $input) {
            statements {
              kind
              inputs {
                name
                urn
                exists
              }
              outputs {
                name
              }
              columns {
                output
                column
                upstreams {
                  table
                  column
                  certainty
                }
                transformation
                certainty
              }
              indirect {
                column
                transformation
              }
              problems {
                code
              }
            }
          }
        }
      `,
      { input: { ...place, sql: 'insert into sums (s) select sum(amount) from orders where id > 0' } }
    )
    t.match(body, {
      data: {
        sqlLineage: {
          statements: [
            {
              kind: 'INSERT',
              inputs: [{ urn: orders, exists: true }],
              columns: [
                {
                  output: 'shop.public.sums',
                  column: 's',
                  upstreams: [{ table: 'shop.public.orders', column: 'amount' }],
                  transformation: 'AGGREGATION',
                  certainty: 'CERTAIN'
                }
              ],
              indirect: [{ column: 'id', transformation: 'FILTER' }]
            }
          ]
        }
      }
    })
  })

  t.test('is asked from the command line, with a file or standard input', async (t) => {
    const folder = t.testdir({
      'a.sql': 'insert into sums (s)\nselect amount from orders',
      'bad.sql': 'selec 1'
    })
    const run = (...args: string[]) =>
      runCommand(
        ['sql-lineage', ...args, '--dialect', 'postgres', '--database', 'shop', '--schema', 'public'],
        {
          env: { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token }
        }
      )
    const { code, out } = await run(`${folder}/a.sql`)
    t.equal(code, 0)
    t.strictSame(out, [
      'INSERT, line 1',
      '  writes shop.public.sums (not in the catalog)',
      '  reads  shop.public.orders',
      'shop.public.sums.s\tshop.public.orders.amount\tidentity\tcertain'
    ])
    t.match(await run(`${folder}/bad.sql`), { code: 1, err: [/1:1/] })
    t.match(await run(`${folder}/none.sql`), { code: 1, err: [/Cannot read/] })
  })
})

t.test('a statement that is too much ends, and its thread with it', async (t) => {
  const { ask, rest } = await withOrders(t)
  const deep = (depth: number): string =>
    `select a from ${'(select a from '.repeat(depth)}t${') x'.repeat(depth)}`
  const chain = (length: number): string =>
    `select ${Array.from({ length }, (_, at) => `a${at}`).join(' || ')} as c from t`
  for (const sql of [deep(5_000), chain(20_000), '('.repeat(500_000)]) {
    const { status, body } = await ask({ sql })
    t.equal(status, 200)
    t.match(
      body,
      { statements: [{ kind: 'UNKNOWN', problems: [{ code: /TOO_LARGE|NOT_READ/ }] }] },
      sql.slice(0, 40)
    )
  }
  t.match(
    (await ask({ sql: 'select a from t' })).body,
    { statements: [{ kind: 'SELECT' }] },
    'the next is read'
  )
  t.equal((await rest({ url: '/health/live' })).status, 200)
})
