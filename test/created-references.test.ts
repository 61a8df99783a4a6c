/**
 * Where missing assets are created, `platform:name[@ENV]` is the whole name of a dataset: the text alone decides
 * which one, so the order of lines, the cutting into chunks and other loads never change what a load means.
 */
import t from 'tap'
import { limits } from '../shared/limits.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { printCells } from '../shared/formats/csv-cells.ts'
import { nearPlatforms } from '../shared/urn/platforms.ts'
import { casesOf, fc } from './support/fast-check.ts'
import { loadBenchOn, rejectsOf } from './support/load-bench.ts'
import { withDatabase } from './support/database.ts'
import { catalogState } from './support/catalog-state.ts'
import { withServer, type TestServer } from './support/server.ts'

const dataset = (platform: string, name: string, env = 'PROD'): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},${env})`
const lines = (...records: readonly JsonObject[]): string =>
  records.map((record) => JSON.stringify(record)).join('\n')
const [csv, ndjson] = ['text/csv', 'application/x-ndjson']
const create = { 'x-missing-references': 'create' }

function loader(server: TestServer, token?: string) {
  return async (
    body: string,
    {
      type = csv,
      query = '',
      headers = {}
    }: { type?: string; query?: string; headers?: Record<string, string> } = {}
  ) => {
    const all = { 'content-type': type, ...headers, ...(token ? { authorization: `Bearer ${token}` } : {}) }
    let { status, body: answer } = await server.rest({
      method: 'POST',
      url: `/loads?wait=25${query}`,
      headers: all,
      body
    })
    while (['receiving', 'accepted', 'applying'].includes(answer.state))
      ({ status, body: answer } = await server.rest({ url: `/loads/${answer.id}?wait=25` }))
    const rejects: JsonObject[] = answer.id
      ? (await server.rest({ url: `/loads/${answer.id}/rejects` })).text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : []
    return { status, answer, rejects, counts: answer.counts }
  }
}

const upstreamsIn = async (server: Pick<TestServer, 'db'>, word: string): Promise<string[]> =>
  (await catalogState(server.db)).edges
    .filter((edge) => edge.includes(word))
    .map((edge) => edge.split(' (urn:li:')[0] ?? '')
    .sort()

t.test('a name makes a new dataset', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const load = loader(server)

  t.test('in CSV, NDJSON and by header, whatever ends with it', async (t) => {
    t.match(
      await load('upstream,downstream\nhive:shop.orders,"hive:shop.revenue"\nhive:orders,hive:shop.revenue', {
        headers: create
      }),
      { counts: { received: 2, applied: 2, rejected: 0 } }
    )
    t.match(
      await load(
        lines(
          { upstreamUrn: 'hive:orders@DEV', downstreamUrn: 'hive:shop.revenue' },
          { upstream: 'kafka:orders', downstream: dataset('hive', 'shop.revenue') }
        ),
        { type: ndjson, query: '&missingReferences=create' }
      ),
      { counts: { applied: 2, rejected: 0 } }
    )
    t.strictSame(
      await upstreamsIn(server, 'revenue'),
      [
        dataset('hive', 'orders', 'DEV'),
        dataset('hive', 'orders'),
        dataset('hive', 'shop.orders'),
        dataset('kafka', 'orders')
      ].map((urn) => `${urn} > ${dataset('hive', 'shop.revenue')}`)
    )
  })

  t.test('for upsertEntity, which creates by itself', async (t) => {
    t.match(
      await load(
        lines(
          { op: 'upsertEntity', urn: 'postgres:crm.people', name: 'People' },
          { op: 'upsertEntity', urn: 'postgres:people@dev' },
          { op: 'upsertEntity', urn: 'people' },
          { op: 'upsertEntity', urn: 'postgras:people' }
        ),
        { type: ndjson }
      ),
      {
        counts: { applied: 2, rejected: 2 },
        rejects: [
          { line: 3, code: 'INVALID_URN', field: 'urn', message: /does not name its platform/ },
          { line: 4, code: 'INVALID_URN', field: 'urn', message: /did you mean postgres\?/ }
        ]
      }
    )
    const { present } = await catalogState(server.db)
    t.ok(present.includes(dataset('postgres', 'crm.people')))
    t.ok(present.includes(dataset('postgres', 'people', 'DEV')))
  })

  t.test('for columns, domains of assets, and edges that are removed', async (t) => {
    await load(lines({ op: 'createDomain', id: 'fin', name: 'Finance' }), { type: ndjson })
    t.match(
      await load('upstream,upstream_column,downstream,downstream_column\nhive:c.a,id,hive:c.b,a_id', {
        headers: create
      }),
      { counts: { applied: 1 } }
    )
    t.strictSame(await upstreamsIn(server, 'c.a'), [
      `urn:li:schemaField:(${dataset('hive', 'c.a')},id) > urn:li:schemaField:(${dataset('hive', 'c.b')},a_id)`
    ])
    t.match(await load('resource,domain\nhive:c.a,Finance\nhive:c.new,domain:Finance', { headers: create }), {
      counts: { applied: 2 }
    })
    t.strictSame(
      (await catalogState(server.db)).associations.map((text) => text.trim()),
      [`${dataset('hive', 'c.a')} in urn:li:domain:fin`, `${dataset('hive', 'c.new')} in urn:li:domain:fin`]
    )
    for (const more of [{}, { op: 'removeEdge' }])
      t.match(
        await load(lines({ ...more, upstreamUrn: 'hive:r.a', downstreamUrn: 'hive:r.b' }), {
          type: ndjson,
          headers: create
        }),
        { counts: { applied: 1 } }
      )
    t.strictSame(await upstreamsIn(server, 'r.a'), [])
  })

  t.test('spelt as the connectors of the platform spell it', async (t) => {
    const spelt: readonly [string, string][] = [
      ['Snowflake:DB.Schema.Orders', dataset('snowflake', 'db.schema.orders')],
      ['redshift:Dev.Public.T', dataset('redshift', 'dev.public.t')],
      ['postgresql:Shop.Orders', dataset('postgres', 'Shop.Orders')],
      ['sqlserver:DB.dbo.Orders', dataset('mssql', 'DB.dbo.Orders')],
      ['s3://bucket/a/b/', dataset('s3', 'bucket/a/b')],
      ['s3a://bucket/a', dataset('s3', 'bucket/a')],
      ['gs:bucket/a@sandbox', dataset('gcs', 'bucket/a', 'SANDBOX')],
      ['kafka:a(b),c', dataset('kafka', 'a%28b%29%2Cc')],
      ['hive:cafe\u0301.t', dataset('hive', 'caf\u00e9.t')],
      [' hive: padded ', dataset('hive', 'padded')],
      ['kafka:with:colon', dataset('kafka', 'with:colon')],
      ['kafka:me@example.com', dataset('kafka', 'me@example.com')]
    ]
    const { rejects } = await load(
      `upstream,downstream\n${spelt.map(([name]) => printCells([name, 'hive:spelt.end'])).join('\n')}`,
      { headers: create }
    )
    t.strictSame(rejects, [])
    t.strictSame(
      await upstreamsIn(server, 'spelt.end'),
      spelt.map(([, urn]) => `${urn} > ${dataset('hive', 'spelt.end')}`).toSorted()
    )
  })

  t.test(
    'unless the text cannot be one: the reject names line, field and what is wrong, and shows the row as sent',
    async (t) => {
      const wrong: readonly [string, string, RegExp][] = [
        ['orders', 'INVALID_URN', /"orders" does not name its platform/],
        ['shop.orders@PROD', 'INVALID_URN', /does not name its platform/],
        ['snowflak:db.s.t', 'INVALID_URN', /not a known platform.*did you mean snowflake\?/],
        ['big-query:p.d.t', 'INVALID_URN', /did you mean bigquery\?/],
        ['acme:t', 'INVALID_URN', /"acme".*A new platform begins with a URN/],
        ['airflow:dag.task', 'INVALID_URN', /jobs.*are named by their URNs/],
        ['domain:Finance', 'INVALID_URN', /not a known platform/],
        ['hive:orders@PRDO', 'INVALID_URN', /@PRDO, which is not an environment \(DEV, /],
        ['hive:', 'INVALID_URN', /does not name its platform/],
        ['postgres://db.host:5432/shop.public.orders', 'INVALID_URN', /the address of a server/],
        ['hive:a\u200bb', 'INVALID_CHARACTER', /U\+200B at character 7/],
        ['hive:a\u00a0b', 'INVALID_CHARACTER', /U\+00A0 at character 7/],
        ['hive:a\u0007b', 'INVALID_CHARACTER', /U\+0007 at character 7/],
        [`hive:${'x'.repeat(limits.urnMaxBytes)}`, 'LIMIT_EXCEEDED', /bytes; at most 1024/]
      ]
      const rows = wrong.map(([name]) => printCells(['hive:fine', name]))
      const { rejects, counts } = await load(`upstream,Downstream\n${rows.join('\n')}`, { headers: create })
      t.match(counts, { received: wrong.length, rejected: wrong.length })
      for (const [index, [name, code, message]] of wrong.entries())
        t.match(
          rejects[index],
          { line: index + 2, code, field: 'Downstream', message, record: rows[index] },
          name
        )
      t.match(
        await load(lines({ upstreamUrn: 'hive:a\nb', downstreamUrn: 'hive:c' }), {
          type: ndjson,
          headers: create
        }),
        { rejects: [{ line: 1, code: 'INVALID_CHARACTER', field: 'upstreamUrn', message: /U\+000A/ }] }
      )
    }
  )

  t.test('on any platform that the catalog has, and on no other', async (t) => {
    const body = `upstream,downstream\nacme:one,acme:two\n"${dataset('acme', 'zero')}",hive:fine`
    t.match(await load(body, { headers: create }), { counts: { applied: 1, rejected: 1 } })
    t.match(
      await load(body, { headers: create }),
      { counts: { applied: 1, unchanged: 1, rejected: 0 } },
      'a placeholder on it is enough'
    )
    t.match(await load('upstream,downstream\nACME:one,Acme:two', { headers: create }), {
      counts: { unchanged: 1 }
    })
    await load(
      lines({
        entityType: 'dataPlatform',
        entityUrn: 'urn:li:dataPlatform:Own_One',
        changeType: 'UPSERT',
        aspectName: 'dataPlatformInfo',
        aspect: { json: { name: 'Own_One', type: 'OTHERS', datasetNameDelimiter: '.' } }
      }),
      { type: ndjson }
    )
    t.match(await load('upstream,downstream\nOwn_One:a,Own_One:b', { headers: create }), {
      counts: { applied: 1 }
    })
    t.strictSame(await upstreamsIn(server, 'Own_One'), [
      `${dataset('Own_One', 'a')} > ${dataset('Own_One', 'b')}`
    ])
  })

  t.test('is counted by a dry run, which creates nothing', async (t) => {
    const dry = await load('upstream,downstream\nhive:dry.a,hive:dry.b\nhive:dry.a,hive:shop.orders', {
      headers: create,
      query: '&dryRun=true'
    })
    t.match(dry.answer, {
      counts: { applied: 2 },
      report: { edges: { added: 2 }, entities: { placeholders: 2 } }
    })
    t.strictSame(await upstreamsIn(server, 'dry.a'), [])
  })

  t.test('in a load that is atomic, a snapshot, or sent again', async (t) => {
    const rows = (...pairs: readonly [string, string][]): string =>
      ['upstream,downstream', ...pairs.map((pair) => pair.join(','))].join('\n')
    t.match(
      await load(rows(['hive:at.a', 'hive:at.b'], ['hive:at.a', 'nothing']), {
        headers: create,
        query: '&atomic=true'
      }),
      {
        answer: { state: 'failed' }
      }
    )
    t.strictSame(await upstreamsIn(server, 'at.a'), [])
    const snapshot = { headers: create, query: '&mode=snapshot&source=names&force=true' }
    await load(rows(['hive:sn.a', 'hive:sn.c'], ['hive:sn.b', 'hive:sn.c']), snapshot)
    t.match(await load(rows(['hive:sn.b', 'hive:sn.c'], ['hive:sn.d', 'hive:sn.c']), snapshot), {
      counts: { rejected: 0 }
    })
    t.strictSame(
      await upstreamsIn(server, 'sn.c'),
      ['sn.b', 'sn.d'].map((name) => `${dataset('hive', name)} > ${dataset('hive', 'sn.c')}`)
    )
    const again = { headers: { ...create, 'idempotency-key': 'names-1' } }
    const first = await load(rows(['hive:ik.a', 'hive:ik.b']), again)
    const second = await load(rows(['hive:ik.a', 'hive:ik.b']), again)
    t.equal(second.answer.id, first.answer.id)
    t.match(await load(rows(['hive:ik.a', 'hive:ik.b']), { headers: { 'idempotency-key': 'names-1' } }), {
      answer: { code: 'IDEMPOTENCY_MISMATCH', field: 'missingReferences' }
    })
  })

  t.test('for a token limited to domains as far as a URN would', async (t) => {
    const limited = loader(
      server,
      await server.tokenWith(['write', 'read'], { domainUrn: 'urn:li:domain:fin' })
    )
    const named = await limited('upstream,downstream\nhive:li.a,hive:li.b\nhive:shop.orders,hive:c.a', {
      headers: create
    })
    const byUrn = await limited(
      `upstream,downstream\n"${dataset('hive', 'li.a')}","${dataset('hive', 'li.b')}"\n"${dataset('hive', 'shop.orders')}","${dataset('hive', 'c.a')}"`,
      { headers: create }
    )
    t.strictSame(
      named.rejects.map(({ line, code }) => ({ line, code })),
      byUrn.rejects.map(({ line, code }) => ({ line, code }))
    )
    t.match(named.rejects, [{ line: 2, code: 'FORBIDDEN' }])
  })

  t.test('not where missing assets are refused: the reject shows its URN and the way out', async (t) => {
    t.match(
      await load(
        'upstream,downstream\nsnowflake:DB.schema.table,hive:shop.revenue\nnothing,hive:shop.revenue'
      ),
      {
        counts: { rejected: 2 },
        rejects: [
          {
            line: 2,
            code: 'INVALID_URN',
            field: 'upstream',
            message:
              /such as urn:li:dataset:\(urn:li:dataPlatform:snowflake,db\.schema\.table,PROD\), .*--missing-references create/,
            record: 'snowflake:DB.schema.table,hive:shop.revenue'
          },
          { line: 3, code: 'INVALID_URN', message: /platform:name.*--missing-references create/ }
        ]
      }
    )
    const { body } = await server.graphql(
      'mutation { updateLineage(input: { edgesToAdd: [{ upstreamUrn: "hive:no.such", downstreamUrn: "hive:c.a" }], edgesToRemove: [] }) }'
    )
    t.match(body.errors[0], { message: /urn:li:dataset:\(urn:li:dataPlatform:hive,no\.such,PROD\)/ })
  })

  t.test('not in change proposals, whose clients send URNs', async (t) => {
    t.match(
      await load(
        lines({
          entityType: 'dataset',
          entityUrn: 'hive:shop.orders',
          changeType: 'UPSERT',
          aspectName: 'datasetProperties',
          aspect: { json: { description: 'x' } }
        }),
        { type: ndjson, headers: create }
      ),
      { rejects: [{ code: 'INVALID_URN', field: 'entityUrn' }] }
    )
  })
})

t.test('a server that creates missing references reads names as whole names', async (t) => {
  const server = await withServer(t, { withWorker: true, env: { MISSING_REFERENCES: 'create' } })
  const load = loader(server)
  t.match(await load('upstream,downstream\nhive:a.b,hive:b'), { counts: { applied: 1 } })
  t.match(await load('upstream,downstream\nb,hive:b', {}), { rejects: [{ code: 'INVALID_URN' }] })
  t.match(await load('upstream,downstream\nhive:x,hive:y', { query: '&missingReferences=reject' }), {
    rejects: [{ code: 'INVALID_URN' }]
  })
})

t.test('a first spreadsheet may have any number of different names', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const load = loader(server)
  const count = 5_200
  const rows = Array.from({ length: count }, (_, index) => [`shop.t${index}`, `shop.r${index}`])
  const sheet = (pairs: readonly (readonly string[])[]): string =>
    `upstream,downstream\n${pairs.map((pair) => pair.join(',')).join('\n')}`
  t.match(
    await load(sheet(rows.map((pair) => pair.map((each) => `postgres:${each}`))), { headers: create }),
    { counts: { applied: count, rejected: 0 } }
  )
  t.match(
    await load(lines(...rows.flat().map((each) => ({ op: 'upsertEntity', urn: `postgres:${each}` }))), {
      type: ndjson
    }),
    { counts: { applied: 2 * count, rejected: 0 } }
  )
  t.match(await load(sheet(rows)), { counts: { unchanged: count, rejected: 0 } }, 'and may look as many up')
  const absent = rows.slice(0, 300).map(([, downstream = ''], index) => [`none ${index}`, downstream])
  t.match(
    await load(sheet([...absent, ['t1', 'r1']])),
    { counts: { unchanged: 1, rejected: 300 } },
    'a row counts however many before it named nothing'
  )
})

t.test('names that are near a platform are listed, nearest first', async (t) => {
  for (const [text, near] of [
    ['snowflke', ['snowflake']],
    ['postgress', ['postgres']],
    ['post', ['postgres']],
    ['bo', []],
    ['oss3', ['oss']],
    ['bq', []],
    ['x', []],
    ['mysq', ['mysql', 'mssql']]
  ] as const)
    t.strictSame(nearPlatforms(text), near, text)
})

type Name = { text: string; urn: string | null }

/** What each text means, written out by hand. `%` stands for the marker of a run. */
const names: readonly Name[] = [
  { text: 'hive:orders%', urn: dataset('hive', 'orders%') },
  { text: 'hive:shop.orders%', urn: dataset('hive', 'shop.orders%') },
  { text: 'HIVE:shop.orders%', urn: dataset('hive', 'shop.orders%') },
  { text: 'hive:Shop.Orders%', urn: dataset('hive', 'Shop.Orders%') },
  { text: 'hive:orders%@DEV', urn: dataset('hive', 'orders%', 'DEV') },
  { text: 'hive:shop.orders%@dev', urn: dataset('hive', 'shop.orders%', 'DEV') },
  { text: 'hive:orders%@PROD', urn: dataset('hive', 'orders%') },
  { text: 'snowflake:DB.Orders%', urn: dataset('snowflake', 'db.orders%') },
  { text: 'postgresql:orders%', urn: dataset('postgres', 'orders%') },
  { text: 'kafka:a,b%', urn: dataset('kafka', 'a%2Cb%') },
  { text: dataset('hive', 'orders%'), urn: dataset('hive', 'orders%') },
  { text: dataset('hive', 'x.shop.orders%'), urn: dataset('hive', 'x.shop.orders%') },
  { text: dataset('brandnew', 'orders%'), urn: dataset('brandnew', 'orders%') },
  { text: 'brandnewer:orders%', urn: null },
  { text: 'hvie:orders%', urn: null },
  { text: 'hive:orders%@NOPE', urn: null },
  { text: 'orders%', urn: null },
  { text: 'shop.orders%', urn: null },
  { text: 'Shown%', urn: null }
]
const domains: readonly Name[] = [
  { text: 'Finance', urn: 'urn:li:domain:fin' },
  { text: 'domain:Finance', urn: 'urn:li:domain:fin' },
  { text: 'Group/Finance', urn: null },
  { text: 'Twin', urn: null },
  { text: 'Group/Twin', urn: 'urn:li:domain:twin.1' },
  { text: 'twin.1', urn: 'urn:li:domain:twin.1' },
  { text: '1', urn: null }
]

type Line =
  | { kind: 'edge'; upstream: Name; downstream: Name }
  | { kind: 'columns'; upstream: Name; downstream: Name }
  | { kind: 'domain'; entity: Name; domain: Name }
  | { kind: 'upsert'; entity: Name }

const name = fc.constantFrom(...names)
const line: fc.Arbitrary<Line> = fc.oneof(
  fc.record({ kind: fc.constant('edge' as const), upstream: name, downstream: name }),
  fc.record({ kind: fc.constant('columns' as const), upstream: name, downstream: name }),
  fc.record({ kind: fc.constant('upsert' as const), entity: name }),
  fc.record({ kind: fc.constant('domain' as const), entity: name, domain: fc.constantFrom(...domains) })
)

const columnOf = (urn: string): string => `urn:li:schemaField:(${urn},id)`

/** One statement in the catalog; null if the line must be refused. */
function meantBy(each: Line): string | null {
  switch (each.kind) {
    case 'edge':
      return each.upstream.urn && each.downstream.urn && `${each.upstream.urn} > ${each.downstream.urn}`
    case 'columns':
      return (
        each.upstream.urn &&
        each.downstream.urn &&
        `${columnOf(each.upstream.urn)} > ${columnOf(each.downstream.urn)}`
      )
    case 'upsert':
      return each.entity.urn
    case 'domain':
      return each.entity.urn && each.domain.urn && `${each.entity.urn} in ${each.domain.urn}`
  }
}

function recordOf(each: Line): JsonObject {
  switch (each.kind) {
    case 'edge':
    case 'columns':
      return { upstreamUrn: each.upstream.text, downstreamUrn: each.downstream.text }
    case 'upsert':
      return { op: 'upsertEntity', urn: each.entity.text }
    case 'domain':
      return { op: 'setDomain', entityUrn: each.entity.text, domainUrn: each.domain.text }
  }
}

const rowOf = (each: Line): string =>
  each.kind === 'edge'
    ? printCells([each.upstream.text, '', each.downstream.text, ''])
    : each.kind === 'columns'
      ? printCells([each.upstream.text, 'id', each.downstream.text, 'id'])
      : ''

t.test(
  'the catalog after a file does not depend on the order of its lines, on chunks, or on other loads',
  async (t) => {
    const database = await withDatabase(t)
    const bench = loadBenchOn(database)
    const settle = async (shuffled: boolean): Promise<void> => {
      if (shuffled) bench.told.reverse()
      await bench.drain()
    }
    await bench.submit([
      { op: 'createDomain', id: 'fin', name: 'Finance' },
      { op: 'createDomain', id: 'group', name: 'Group' },
      { op: 'createDomain', id: 'twin.1', name: 'Twin', parentDomain: 'urn:li:domain:group' },
      { op: 'createDomain', id: 'twin.2', name: 'Twin' }
    ])
    await settle(false)

    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 14 }),
        fc.array(fc.nat(), { minLength: 14, maxLength: 14 }),
        fc.constantFrom('before', 'meanwhile', 'never'),
        async (drawn, order, described) => {
          run += 1
          const shuffled = drawn
            .map((each, index) => ({ each, rank: order[index] ?? 0 }))
            .sort((a, b) => a.rank - b.rank)
            .map(({ each }) => each)
          const half = Math.ceil(shuffled.length / 2)
          for (const [way, files] of [
            ['sent', [drawn]],
            ['shuffled', [shuffled]],
            ['halves', [shuffled.slice(0, half), shuffled.slice(half)]]
          ] as const) {
            const marker = `_${run}${way}`
            await play({ marker, files, described, isShuffled: way !== 'sent' })
          }
        }
      ),
      { numRuns: casesOf(60) }
    )

    async function play({
      marker,
      files,
      described,
      isShuffled
    }: {
      marker: string
      files: readonly (readonly Line[])[]
      described: string
      isShuffled: boolean
    }): Promise<void> {
      // A domain belongs to one asset: a second one for it would depend on the order, with URNs as well.
      const seen = new Map<string, string>()
      const kept = files.map((file) =>
        file.filter((each) => {
          if (each.kind !== 'domain' || each.entity.urn === null || each.domain.urn === null) return true
          const before = seen.get(each.entity.urn) ?? each.domain.urn
          seen.set(each.entity.urn, before)
          return before === each.domain.urn
        })
      )
      const marked = (text: string): string => text.replaceAll(/%(?!2C)/g, marker)
      const describe = () =>
        bench.submit([
          { op: 'upsertEntity', urn: marked(dataset('hive', 'shop.orders%')), name: marked('Shown%') },
          {
            op: 'upsertEntity',
            urn: marked(dataset('hive', 'shop.orders%', 'DEV')),
            name: marked('orders%')
          },
          { op: 'upsertEntity', urn: marked(dataset('kafka', 'orders%')), name: marked('shop.orders%') }
        ])
      if (described === 'before') {
        await describe()
        await settle(false)
      }
      const requests = kept.flatMap((file) => {
        const isOfRows = (each: Line): boolean => each.kind === 'edge' || each.kind === 'columns'
        const rows = isShuffled ? file.filter(isOfRows) : []
        const records = file.filter((each) => !rows.includes(each))
        return [
          ...(records.length > 0
            ? [
                {
                  format: 'ndjson',
                  sent: records.map((each) =>
                    marked(
                      each.kind === 'columns'
                        ? JSON.stringify({
                            upstreamUrn: each.upstream.text,
                            downstreamUrn: each.downstream.text
                          })
                        : JSON.stringify(recordOf(each))
                    )
                  ),
                  lines: records
                }
              ]
            : []),
          ...(rows.length > 0
            ? [
                {
                  format: 'csv',
                  sent: [
                    'upstream,upstream_column,downstream,downstream_column',
                    ...rows.map((each) => marked(rowOf(each)))
                  ],
                  lines: rows
                }
              ]
            : [])
        ]
      })
      const ids = await Promise.all([
        ...requests.map(({ format, sent }) =>
          bench.submit(sent, { format: format as 'csv' | 'ndjson', missingReferences: 'create' })
        ),
        ...(described === 'meanwhile' ? [describe()] : [])
      ])
      await settle(isShuffled)

      const expected = new Set<string>()
      for (const [index, { lines: sent, format }] of requests.entries()) {
        let refused = 0
        for (const each of sent) {
          const meant = meantBy(
            format === 'ndjson' && each.kind === 'columns' ? { ...each, kind: 'edge' } : each
          )
          if (meant === null) refused += 1
          else expected.add(marked(meant))
        }
        const load = await bench.load(ids[index] ?? '')
        if (load.counts.rejected !== refused) {
          const rejects = await rejectsOf(bench, load.id)
          throw new Error(`${refused} lines mean nothing, but refused were ${JSON.stringify(rejects)}`)
        }
      }
      const state = await catalogState(bench.db)
      const found = [
        ...state.edges.map((text) => text.split(' (urn:li:')[0] ?? ''),
        ...state.associations.map((text) => text.trim())
      ].filter((text) => text.includes(marker))
      const wanted = [...expected].filter((text) => text.includes(' > ') || text.includes(' in '))
      if (found.sort().join('\n') !== wanted.sort().join('\n'))
        throw new Error(`found\n${found.join('\n')}\nwanted\n${wanted.join('\n')}`)
      for (const urn of expected)
        if (!urn.includes(' ') && !state.present.includes(urn)) throw new Error(`${urn} is not described`)
    }
  }
)
