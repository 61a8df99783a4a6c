/** Loads of SQL files: what their statements state, what is said of those that cannot be read, and that a snapshot replaces. */
import t, { type Test } from 'tap'
import type { RestAnswer } from './support/server.ts'
import { withServer } from './support/server.ts'
import { edgesOf } from './support/dbt-loads.ts'
import { runCommand } from './support/run-command.ts'
import { datasetUrn, schemaFieldUrn } from '../shared/urn/kinds.ts'

const table = (name: string): string => datasetUrn('postgres', `shop.public.${name}`)
const column = (name: string, path: string): string =>
  schemaFieldUrn(datasetUrn('postgres', `shop.public.${name}`), path)
const edge = (from: string, into: string): string => `${from} > ${into}`

async function withLoads(t: Test) {
  const server = await withServer(t, { withWorker: true })
  const load = (sql: string, more: Record<string, string> = {}): Promise<RestAnswer> => {
    const query = new URLSearchParams({
      format: 'sql',
      dialect: 'postgres',
      database: 'shop',
      schema: 'public',
      wait: '25',
      ...more
    })
    return server.rest({
      method: 'POST',
      url: `/loads?${query.toString()}`,
      body: sql,
      headers: { 'content-type': 'application/sql' }
    })
  }
  return { ...server, load, edges: () => edgesOf(server.db) }
}

t.test('a load of SQL states the tables and the columns of each statement', async (t) => {
  const { load, edges } = await withLoads(t)
  const { body } = await load(`
    create table daily as select day, sum(amount) as total from orders group by day;
    create view latest as select total from daily where day = current_date;`)
  t.match(body, { state: 'done', format: 'sql', counts: { received: 2, rejected: 0 } })
  t.strictSame(
    await edges(),
    [
      edge(table('daily'), table('latest')),
      edge(table('orders'), table('daily')),
      edge(column('daily', 'total'), column('latest', 'total')),
      edge(column('orders', 'amount'), column('daily', 'total')),
      edge(column('orders', 'day'), column('daily', 'day'))
    ].sort()
  )
})

t.test('a statement that cannot be read is a reject with its line, and the others are loaded', async (t) => {
  const { load, rest, edges } = await withLoads(t)
  const { body } = await load(
    'insert into a (x) select y from b;\n\ninsert into c (x select d from e;\nselect 1'
  )
  t.match(body, { counts: { received: 2, rejected: 1 } })
  const rejects = await rest({ url: `/loads/${body.id}/rejects` })
  t.match(JSON.parse(rejects.text.split('\n')[0] ?? ''), { line: 3, message: /could not be read.*line 3/ })
  t.strictSame(await edges(), [edge(table('b'), table('a')), edge(column('b', 'y'), column('a', 'x'))].sort())
})

t.test('what a star hides is a warning with its line', async (t) => {
  const { load } = await withLoads(t)
  const { body } = await load('\ncreate table copy as select * from orders')
  t.match(body, {
    state: 'done',
    warnings: { count: 1, messages: [/Line 2.*columns of shop\.public\.orders are not known/] }
  })
})

t.test('a snapshot removes what the files no longer say', async (t) => {
  const { load, edges } = await withLoads(t)
  const models = { source: 'models', mode: 'snapshot', force: 'true' }
  await load('insert into a (x) select y from b; insert into c (z) select y from b', models)
  await load('insert into a (x) select y from b', models)
  t.strictSame(await edges(), [edge(table('b'), table('a')), edge(column('b', 'y'), column('a', 'x'))].sort())
})

t.test('files of one load are scripts of their own, and a reject names the file', async (t) => {
  const { url, token, edges } = await withLoads(t)
  const folder = t.testdir({
    models: {
      'a.sql': 'use other;\ninsert into a (x) select y from b',
      'b.sql': 'insert into c (z) select y from b;',
      'wrong.sql': '\ninsert into d (x'
    }
  })
  const { code, out, err } = await runCommand(
    [
      'load',
      `${folder}/models`,
      '--dialect',
      'tsql',
      '--database',
      'shop',
      '--schema',
      'public',
      '--source',
      'm',
      '--mode',
      'snapshot'
    ],
    { env: { TRIBUTARY_URL: url, TRIBUTARY_TOKEN: token } }
  )
  t.equal(code, 2)
  t.match([...out, ...err].join('\n'), /wrong\.sql line 2/)
  const found = (await edges()).filter((each) => !each.includes('schemaField'))
  const on = (name: string): string => datasetUrn('mssql', name)
  t.strictSame(found, [
    edge(on('other.dbo.b'), on('other.dbo.a')),
    edge(on('shop.public.b'), on('shop.public.c'))
  ])
})

t.test('options are refused where they do not fit, and a load without a dialect', async (t) => {
  const { rest } = await withLoads(t)
  const post = (query: string, body: string, type = 'application/sql') =>
    rest({ method: 'POST', url: `/loads?${query}`, body, headers: { 'content-type': type } })
  t.match(await post('format=sql', 'select 1'), { status: 400, body: { field: 'dialect' } })
  t.match(await post('format=sql&dialect=klingon', 'select 1'), { status: 400, body: { field: 'dialect' } })
  t.match(await post('format=sql&database=x', 'select 1'), { status: 400, body: { field: 'database' } })
  t.match(await post('format=ndjson&dialect=postgres', '{}', 'application/x-ndjson'), {
    status: 400,
    body: { field: 'format' }
  })
  t.match(await post('format=sql&dialect=postgres', 'select a from b'), { status: 400 }, 'nothing is written')
})
