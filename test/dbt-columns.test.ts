/** Edges between columns that loads of dbt projects state: from compiled SQL, or kept from an earlier load. */
import t from 'tap'
import { limits } from '../shared/limits.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { aspectOf, edgesOf, load } from './support/dbt-loads.ts'
import { catalog, ephemeral, manifest, node, table, type TestNode } from './support/dbt-projects.ts'
import { withServer, type RestAnswer, type TestServer } from './support/server.ts'

t.setTimeout(300_000)

/** A model with its compiled SQL, and the checksum of what was compiled. */
const model = (name: string, dependsOn: readonly string[], sql: string, more: JsonObject = {}): TestNode =>
  node(`model.shop.${name}`, dependsOn, {
    compiled_code: sql,
    checksum: { name: 'sha256', checksum: sql },
    relation_name: `"shop"."public"."${name}"`,
    ...more
  })

const raw = (name: string): string => `source.shop.raw.${name}`

/** The same project as `dbt test` writes it. */
const withoutSql = (nodes: readonly TestNode[]): TestNode[] =>
  nodes.map((each) => ({ ...each, compiled_code: null }))

/** As `orders.id > report.id`, of tables in `shop.public`. */
async function columnEdges({ db }: TestServer, source = 'dbt:shop'): Promise<string[]> {
  return (await edgesOf(db, source))
    .filter((each) => each.includes('schemaField'))
    .map((each) =>
      each.replaceAll(
        /urn:li:schemaField:\(urn:li:dataset:\([^,]*,shop\.public\.([^,]*),PROD\),([^)]*)\)/gi,
        '$1.$2'
      )
    )
}

const warningsIn = ({ body }: RestAnswer): string[] => [...(body.warnings?.messages ?? [])]

const isDone = { status: 200, body: { state: 'done', counts: { rejected: 0 } } }

t.test('the columns of a model are made from those that its SQL names', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const send = (nodes: readonly TestNode[], more: JsonObject[] = []): Promise<RestAnswer> =>
    load(server, [manifest(nodes), ...more], '&force=true')

  await t.test('renamed, calculated, counted, over CTEs', async (t) => {
    const answer = await send([
      node(raw('orders')),
      node(raw('customers')),
      model(
        'report',
        [raw('orders'), raw('customers')],
        `with o as (select id as order_id, buyer, price * amount as total from "shop"."public"."orders")
         select o.order_id, c.name, sum(o.total) as total, count(*) as n
         from o join "shop"."public"."customers" c on c.id = o.buyer group by 1, 2`
      )
    ])
    t.match(answer, isDone)
    t.notHas(answer.body, { warnings: {} })
    t.strictSame(await columnEdges(server), [
      'customers.name > report.name',
      'orders.amount > report.total',
      'orders.id > report.order_id',
      'orders.price > report.total'
    ])
  })

  await t.test('as compiled_sql in manifests of old versions', async (t) => {
    const { compiled_code: sql = null, ...old } = model(
      'report',
      [raw('orders')],
      'select a from shop.public.orders'
    )
    t.match(
      await send([node(raw('orders')), { ...old, unique_id: old.unique_id, compiled_sql: sql }]),
      isDone
    )
    t.strictSame(await columnEdges(server), ['orders.a > report.a'])
  })

  await t.test('whatever the case of names, spelled as the catalog spells them', async (t) => {
    const nodes = [
      node(raw('Orders'), [], { relation_name: '"shop"."public"."Orders"' }),
      model(
        'report',
        [raw('Orders')],
        'SELECT ORDERS.ID, O2.Total AS Sum_Of FROM SHOP.PUBLIC.ORDERS JOIN shop.Public.orders AS o2 USING (id)'
      )
    ]
    const columns = catalog({
      [raw('Orders')]: [
        ['Id', 'int'],
        ['TOTAL', 'int']
      ],
      'model.shop.report': [
        ['ID', 'int'],
        ['sum_of', 'int']
      ]
    })
    t.match(await send(nodes, [columns]), isDone)
    t.strictSame(await columnEdges(server), ['Orders.Id > report.ID', 'Orders.TOTAL > report.sum_of'])
  })

  await t.test('a column without a name has that of the catalog, or else none', async (t) => {
    const nodes = [
      node(raw('orders')),
      model('nameless', [raw('orders')], 'select id, total + 1 from shop.public.orders')
    ]
    const columns = catalog({
      'model.shop.nameless': [
        ['id', 'int'],
        ['?column?', 'int']
      ]
    })
    t.match(await send(nodes), isDone)
    t.strictSame(await columnEdges(server), ['orders.id > nameless.id'])
    t.match(await send(nodes, [columns]), isDone)
    t.strictSame(await columnEdges(server), ['orders.id > nameless.id', 'orders.total > nameless.?column?'])
  })

  await t.test('an ephemeral model is read where dbt writes it into the SQL of another', async (t) => {
    const nodes = [
      node(raw('orders')),
      model('stg', [raw('orders')], 'select id as key from shop.public.orders', ephemeral),
      model(
        'report',
        ['model.shop.stg'],
        'with __dbt__cte__stg as (\nselect id as key from shop.public.orders\n) select key as order_key from __dbt__cte__stg'
      )
    ]
    t.match(await send(nodes), isDone)
    t.strictSame(await columnEdges(server), ['orders.id > report.order_key'])
  })

  await t.test('an incremental model is not made from itself', async (t) => {
    const sql =
      'select id, at from shop.public.orders where at > (select max(at) from "shop"."public"."grown") union all select id, at from "shop"."public"."grown"'
    t.match(await send([node(raw('orders')), model('grown', [raw('orders')], sql)]), isDone)
    t.strictSame(await columnEdges(server), ['orders.at > grown.at', 'orders.id > grown.id'])
  })

  await t.test('a table that is not in the project has no edges', async (t) => {
    const sql = 'select a, b from shop.public.orders join other.public.things using (id)'
    const columns = catalog({
      [raw('orders')]: [
        ['id', 'int'],
        ['a', 'int']
      ]
    })
    t.match(await send([node(raw('orders')), model('report', [raw('orders')], sql)], [columns]), isDone)
    t.strictSame(await columnEdges(server), ['orders.a > report.a'])
  })

  await t.test('of a wide table all are loaded, although they are more than a record may have', async (t) => {
    const names = Array.from({ length: 4_000 }, (_, at) => `a_column_with_a_rather_long_name_${at}`)
    const columns = catalog({ [raw('orders')]: names.map((name) => [name, 'int'] as const) })
    const nodes = [node(raw('orders')), model('report', [raw('orders')], 'select * from shop.public.orders')]
    const answer = await send(nodes, [columns])
    t.match(answer, isDone)
    t.equal((await columnEdges(server)).length, names.length)
    t.match(
      await send(nodes, [columns]),
      { body: { counts: { applied: 0, rejected: 0 } } },
      'and again nothing'
    )
  })
})

t.test('select * gives the columns that are known of its tables', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const star = (from: string): string => `select * from "shop"."public"."${from}"`
  const twoColumns = [
    ['id', 'int'],
    ['total', 'int']
  ] as const

  await t.test('those that the SQL of earlier models implies, in any order of the file', async (t) => {
    const nodes = [
      model('third', ['model.shop.second'], star('second')),
      model('second', ['model.shop.first'], star('first')),
      model('first', [raw('orders')], 'select id, price as total from shop.public.orders'),
      node(raw('orders'))
    ]
    const answer = await load(server, manifest(nodes))
    t.match(answer, isDone)
    t.strictSame(warningsIn(answer), [])
    const edges = [
      'first.id > second.id',
      'first.total > second.total',
      'orders.id > first.id',
      'orders.price > first.total',
      'second.id > third.id',
      'second.total > third.total'
    ]
    t.strictSame(await columnEdges(server), edges)
    t.notOk(await aspectOf(server.db, table('first'), 'schemaMetadata'), 'what SQL implies is not written')
    t.match(
      await load(server, manifest(nodes)),
      { body: { counts: { applied: 0, unchanged: 4 } } },
      'unchanged'
    )
  })

  await t.test('those of a catalog that an earlier load had', async (t) => {
    const nodes = [node(raw('sums')), model('copy', [raw('sums')], star('sums'))]
    const send = (documents: JsonObject[]): Promise<RestAnswer> =>
      load(server, documents, '&source=dbt:nightly')
    t.match(await send([manifest(nodes), catalog({ [raw('sums')]: twoColumns })]), isDone)
    const edges = ['sums.id > copy.id', 'sums.total > copy.total']
    t.strictSame(await columnEdges(server, 'dbt:nightly'), edges)
    const next = await send([manifest(nodes)])
    t.match(next, isDone)
    t.strictSame(warningsIn(next), [])
    t.strictSame(await columnEdges(server, 'dbt:nightly'), edges)
  })

  await t.test('those that a manifest describes, and it says that there may be others', async (t) => {
    const described = { columns: { id: { name: 'id' } } }
    const nodes = [
      node(raw('described'), [], described),
      model('all_of_it', [raw('described')], star('described')),
      model('more_of_it', [raw('described')], 'select id, more from shop.public.described')
    ]
    const answer = await load(server, manifest(nodes), '&source=dbt:described')
    t.match(answer, isDone)
    t.strictSame(await columnEdges(server, 'dbt:described'), [
      'described.id > all_of_it.id',
      'described.id > more_of_it.id',
      'described.more > more_of_it.more'
    ])
    t.strictSame(warningsIn(answer), [
      'Read in part: the SQL of 1 model.',
      'model.shop.all_of_it, line 1: The columns of shop.public.described are not known'
    ])
  })

  await t.test('all of a model with a contract', async (t) => {
    const contract = {
      columns: { id: { name: 'id', data_type: 'int' } },
      config: { enabled: true, materialized: 'table', contract: { enforced: true } }
    }
    const nodes = [
      node('model.shop.agreed', [], { ...contract, compiled_code: 'select * from elsewhere' }),
      model('of_agreed', ['model.shop.agreed'], star('agreed'))
    ]
    const answer = await load(server, manifest(nodes), '&source=dbt:agreed')
    t.strictSame(await columnEdges(server, 'dbt:agreed'), ['agreed.id > of_agreed.id'])
    t.strictSame(
      warningsIn(answer).filter((each) => each.includes('of_agreed')),
      []
    )
  })

  await t.test('of a snapshot also those that dbt adds', async (t) => {
    const history = (config: JsonObject): TestNode[] => [
      node(raw('clients')),
      node('snapshot.shop.history', [raw('clients')], {
        compiled_code: '\n    select id, name from shop.public.clients\n',
        relation_name: '"shop"."public"."history"',
        config: { enabled: true, materialized: 'snapshot', ...config }
      }),
      model('past', ['snapshot.shop.history'], star('history'))
    ]
    const names = async (config: JsonObject): Promise<string[]> => {
      t.match(await load(server, manifest(history(config)), '&source=dbt:history&force=true'), isDone)
      return (await columnEdges(server, 'dbt:history')).map((each) => each.replace(/.* > /, ''))
    }
    const own = ['history.id', 'history.name']
    t.same((await names({})).sort(), [
      ...own,
      'past.dbt_scd_id',
      'past.dbt_updated_at',
      'past.dbt_valid_from',
      'past.dbt_valid_to',
      'past.id',
      'past.name'
    ])
    const renamed = { snapshot_meta_column_names: { dbt_valid_to: 'until' }, hard_deletes: 'new_record' }
    t.same((await names(renamed)).sort(), [
      ...own,
      'past.dbt_is_deleted',
      'past.dbt_scd_id',
      'past.dbt_updated_at',
      'past.dbt_valid_from',
      'past.id',
      'past.name',
      'past.until'
    ])
  })
})

t.test('SQL is read in the dialect of the adapter', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const cases: [adapter: string, relation: string, sql: string, column: string][] = [
    ['bigquery', '`shop`.`public`.`orders`', 'select * except(b) from `shop.public.orders`', 'a'],
    [
      'snowflake',
      'SHOP.PUBLIC.orders',
      'select $1:x::int as a from shop.public.ORDERS qualify row_number() over (order by a) = 1',
      'A'
    ],
    ['spark', 'public.orders', 'select /*+ BROADCAST(o) */ `a` from public.orders o', 'a'],
    ['sqlserver', '"shop"."public"."orders"', 'select top 3 [a] from [shop].[public].[orders]', 'a'],
    ['duckdb', '"shop"."public"."orders"', 'from shop.public.orders select a', 'a'],
    ['nobody_knows', '"shop"."public"."orders"', 'select a from shop.public.orders', 'a']
  ]
  for (const [adapter, relation, sql, column] of cases) {
    const place = relation.startsWith('public') ? { database: null } : {}
    const nodes = [
      node(raw('orders'), [], { relation_name: relation, ...place }),
      model('report', [raw('orders')], sql, { relation_name: relation.replace('orders', 'report'), ...place })
    ]
    const columns = catalog({
      [raw('orders')]: [
        [column, 'int'],
        ['b', 'int']
      ]
    })
    const answer = await load(
      server,
      [manifest(nodes, { adapter_type: adapter }), columns],
      `&source=dbt:${adapter}`
    )
    t.match(answer, isDone, adapter)
    const edges = (await edgesOf(server.db, `dbt:${adapter}`)).filter((each) => each.includes('schemaField'))
    t.ok(
      edges.some(
        (each) => each.includes(`orders,PROD),${column}) > `) && each.endsWith(`report,PROD),${column})`)
      ),
      `${adapter}: ${edges.join('; ')} ${warningsIn(answer).join('; ')}`
    )
  }
})

t.test('edges between columns stay where the SQL was not read, unless it has changed', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const nodes = [
    node(raw('orders')),
    model('kept', [raw('orders')], 'select id from shop.public.orders'),
    model('changed', [raw('orders')], 'select id from shop.public.orders')
  ]
  const all = ['orders.id > changed.id', 'orders.id > kept.id']
  const noSql = (count: string): string =>
    `The manifest has no compiled SQL of ${count}, so nothing new is known of their columns: dbt compile, run, build and docs generate write it.`

  await t.test('a manifest without compiled SQL says so', async (t) => {
    const answer = await load(server, manifest(withoutSql(nodes)), '&source=dbt:first')
    t.match(answer, isDone)
    t.strictSame(warningsIn(answer), [noSql('2 models')])
  })

  await t.test('and keeps what an earlier load of the source stated', async (t) => {
    t.match(await load(server, manifest(nodes)), isDone)
    t.strictSame(await columnEdges(server), all)
    for (const parameters of ['', '&force=true']) {
      const answer = await load(server, manifest(withoutSql(nodes)), parameters)
      t.match(answer, { body: { state: 'done', counts: { applied: 0, unchanged: 3 } } })
      t.strictSame(warningsIn(answer), [
        noSql('2 models'),
        'Kept of 2 models whose SQL was not read: the edges between columns that an earlier load stated.'
      ])
      t.strictSame(await columnEdges(server), all)
    }
  })

  await t.test('but not of a model whose checksum has changed', async (t) => {
    const [orders, kept, changed] = withoutSql(nodes)
    if (!orders || !kept || !changed) throw new Error('three nodes')
    const next = [orders, kept, { ...changed, checksum: { name: 'sha256', checksum: 'another' } }]
    const answer = await load(server, manifest(next), '&force=true')
    t.match(answer, isDone)
    t.strictSame(warningsIn(answer), [
      noSql('2 models'),
      'Kept of 1 model whose SQL was not read: the edges between columns that an earlier load stated.',
      'Not kept of 1 model whose SQL was not read and has changed: the edges between columns that an earlier load stated.'
    ])
    t.strictSame(await columnEdges(server), ['orders.id > kept.id'])
    t.match(await load(server, manifest(nodes)), isDone)
    t.strictSame(await columnEdges(server), all, 'until its SQL is there again')
  })

  await t.test('nor from a table on which the model no longer depends', async (t) => {
    const moved = withoutSql(nodes).map((each) =>
      each.unique_id === 'model.shop.kept' ? { ...each, depends_on: { macros: [], nodes: [] } } : each
    )
    t.match(await load(server, manifest(moved), '&force=true'), isDone)
    t.strictSame(await columnEdges(server), ['orders.id > changed.id'])
  })

  await t.test('SQL that cannot be read keeps them too, and the load says where it failed', async (t) => {
    const broken = (checksum: string): JsonObject => ({
      compiled_code: 'select id,\n  from from\n(shop.public.orders',
      checksum: { name: 'sha256', checksum }
    })
    const project = (checksum: string): JsonObject =>
      manifest([
        node(raw('orders')),
        model('kept', [raw('orders')], 'select id from shop.public.orders', broken(checksum))
      ])
    t.match(await load(server, manifest(nodes)), isDone)
    const answer = await load(server, project('select id from shop.public.orders'), '&force=true')
    t.match(answer, isDone)
    t.match(warningsIn(answer), [
      'Kept of 1 model whose SQL was not read: the edges between columns that an earlier load stated.',
      'Not read: the SQL of 1 model.',
      /^model\.shop\.kept, line [23]: \S/
    ])
    t.strictSame(await columnEdges(server), ['orders.id > kept.id'])
    t.match(await load(server, project('other'), '&force=true'), isDone)
    t.strictSame(await columnEdges(server), [])
    t.ok((await edgesOf(server.db)).includes(`${table('orders')} > ${table('kept')}`), 'tables have theirs')
  })
})

t.test('what cannot be read of a project is counted, and the rest is loaded', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const long = `select id /* ${'x'.repeat(limits.sqlMaxBytes)} */ from shop.public.orders`
  const bad = Array.from({ length: 30 }, (_, at) => model(`bad_${at}`, [raw('orders')], 'select ((('))
  const answer = await load(
    server,
    manifest([
      node(raw('orders')),
      model('good', [raw('orders')], 'select id from shop.public.orders'),
      model('long', [raw('orders')], long, { checksum: null }),
      model('python', [raw('orders')], 'def model(dbt, session): ...', { language: 'python' }),
      model('nothing', [], 'drop table x'),
      ...bad
    ])
  )
  t.match(answer, isDone)
  const warnings = warningsIn(answer)
  t.strictSame(warnings.slice(0, 3), [
    'Not read: 1 model in another language than SQL.',
    'Not read: the SQL of 32 models.',
    'model.shop.long: its SQL has more than 1048576 bytes (sqlMaxBytes).'
  ])
  t.ok(warnings.includes('model.shop.nothing: its SQL has no query'))
  t.match(warnings.at(-1), /^model\.shop\.bad_\d+, line 1: /)
  t.equal(warnings.length, 20, 'the first sentences are shown')
  t.equal(answer.body.warnings?.count, 34, 'and all are counted')
  t.strictSame(await columnEdges(server), ['orders.id > good.id'])
})
