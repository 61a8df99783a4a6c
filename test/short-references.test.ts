/**
 * A short reference can be used wherever a write or an export takes a URN. It names exactly one entity or is
 * refused, and is stored as its URN.
 */
import t from 'tap'
import type { JsonObject } from '../shared/model/changes.ts'
import { withServer } from './support/server.ts'

const dataset = (platform: string, name: string): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`
const [orders, customers, report] = [
  dataset('hive', 'shop.orders'),
  dataset('hive', 'shop.customers'),
  dataset('snowflake', 'bi.report')
]
const [twin, otherTwin] = [dataset('hive', 'a.twin'), dataset('kafka', 'b.twin')]
const [finance, sales] = ['urn:li:domain:finance', 'urn:li:domain:4711']

t.test('short references', async (t) => {
  const { graphql, rest } = await withServer(t, { withWorker: true })
  const load = async (format: string, body: string, query = '') => {
    const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
    let answer = await rest({
      method: 'POST',
      url: `/loads?format=${format}&wait=25${query}`,
      headers: { 'content-type': type },
      body
    })
    while (answer.status < 300 && answer.body.state !== 'done' && answer.body.state !== 'failed')
      answer = await rest({ url: `/loads/${answer.body.id}?wait=25` })
    const rejects = (await rest({ url: `/loads/${answer.body.id}/rejects` })).text
      .split('\n')
      .filter(Boolean)
      .map((line): JsonObject => JSON.parse(line))
    return { counts: answer.body.counts, rejects }
  }
  const ndjson = (...records: JsonObject[]) =>
    load('ndjson', records.map((record) => JSON.stringify(record)).join('\n'))
  const mutate = async (query: string, variables: JsonObject = {}) => (await graphql(query, variables)).body
  const upstreamsOf = async (urn: string): Promise<string[]> =>
    (
      await graphql(
        'query ($urn: String!) { dataset(urn: $urn) { lineage(input: { direction: UPSTREAM }) { relationships { entity { urn } } } } }',
        { urn }
      )
    ).body.data.dataset.lineage.relationships.map(({ entity }: { entity: { urn: string } }) => entity.urn)
  const domainOf = async (urn: string): Promise<string | undefined> =>
    (await graphql('query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }', { urn }))
      .body.data.dataset.domain?.domain.urn

  t.match(
    await ndjson(
      { op: 'createDomain', id: 'finance', name: 'Finance' },
      { op: 'createDomain', id: '4711', name: 'Sales & Service' },
      ...[orders, customers, report, twin, otherTwin].map((urn) => ({ op: 'upsertEntity', urn })),
      { op: 'upsertEntity', urn: dataset('hive', 'Finance') }
    ),
    { counts: { rejected: 0 } }
  )

  t.test('name the ends of an edge and the domain of an asset in a load of NDJSON', async (t) => {
    t.strictSame(
      await ndjson(
        { upstreamUrn: 'shop.orders', downstreamUrn: 'snowflake:bi.report' },
        { upstream: 'customers@PROD', downstream: report },
        { op: 'setDomain', entityUrn: 'shop.orders', domainUrn: 'Sales & Service' },
        { op: 'setDomain', entityUrn: 'report', domainUrn: 'Finance' },
        { op: 'createDomain', id: 'below', name: 'Below', parentDomain: 'domain:Finance' }
      ).then(({ rejects }) => rejects),
      []
    )
    t.strictSame((await upstreamsOf(report)).toSorted(), [customers, orders])
    t.equal(await domainOf(orders), sales)
    t.equal(await domainOf(report), finance, 'not the dataset of that name')
    t.equal(
      (await mutate('{ domain(urn: "urn:li:domain:below") { parentDomains { domains { urn } } } }')).data
        .domain.parentDomains.domains[0].urn,
      finance
    )
  })

  t.test('name a domain by its path if several have its name', async (t) => {
    t.strictSame(
      (
        await ndjson(
          { op: 'createDomain', id: 'twin-1', name: 'Twin', parentDomain: 'Finance' },
          { op: 'createDomain', id: 'twin-2', name: 'Twin', parentDomain: sales }
        )
      ).rejects,
      []
    )
    t.match((await ndjson({ op: 'setDomain', entityUrn: 'customers', domainUrn: 'Twin' })).rejects, [
      { line: 1, code: 'INVALID_URN', message: /domainUrn.*may mean 2 entities/ }
    ])
    t.strictSame((await load('csv', 'resource,domain\ncustomers,Finance/Twin')).rejects, [])
    t.equal(await domainOf(customers), 'urn:li:domain:twin-1')
    t.equal(
      (await mutate('mutation { setDomain(entityUrn: "customers", domainUrn: "Sales & Service / Twin") }'))
        .data?.setDomain,
      true
    )
    t.equal(await domainOf(customers), 'urn:li:domain:twin-2')
    t.match((await rest({ url: '/domains/export?domain=domain:Finance/Nothing' })).body, {
      code: 'INVALID_URN',
      field: 'domain'
    })
  })

  t.test('find the dataset of a platform among a thousand of its name', async (t) => {
    const crowd = Array.from({ length: 1_000 }, (_, number) => dataset('kafka', `s${number}.crowd`))
    const wanted = dataset('hive', 'late.crowd')
    await ndjson(...[...crowd, wanted].map((urn) => ({ op: 'upsertEntity', urn })))
    t.strictSame(
      (await load('csv', 'upstream,downstream\nhive:crowd@PROD,s0.crowd\nhive:crowd,s1.crowd')).rejects,
      []
    )
    for (const urn of crowd.slice(0, 2)) t.strictSame(await upstreamsOf(urn), [wanted])
    t.match((await load('csv', 'upstream,downstream\ncrowd,s0.crowd\nhive:crowd@DEV,s0.crowd')).rejects, [
      { line: 2, message: /may mean very many entities/ },
      { line: 3, message: /Nothing is called "hive:crowd@DEV"/ }
    ])
  })

  t.test('may be in cells of a CSV, also next to a column', async (t) => {
    t.strictSame(
      (await load('csv', `Upstream,Downstream\n"orders","customers"\n${`"${orders}"`},"bi.report"`)).rejects,
      []
    )
    t.strictSame(await upstreamsOf(customers), [orders])
    t.strictSame(
      (
        await load(
          'csv',
          'upstream,upstream_column,downstream,downstream_column\norders,id,customers,order_id'
        )
      ).rejects,
      []
    )
    t.strictSame((await load('csv', 'resource,domain\ncustomers,Finance')).rejects, [])
    t.equal(await domainOf(customers), finance)
  })

  t.test('work in a load that is atomic or a snapshot', async (t) => {
    for (const query of ['&atomic=true', '&mode=snapshot&source=test'])
      t.strictSame(
        (
          await load(
            'ndjson',
            JSON.stringify({ upstreamUrn: 'orders', downstreamUrn: 'hive:shop.customers' }),
            query
          )
        ).rejects,
        [],
        query
      )
  })

  t.test(
    'that mean no entity or several are rejects that name the field and the candidates, and the record is kept as sent',
    async (t) => {
      const { counts, rejects } = await ndjson(
        { upstreamUrn: 'orders', downstreamUrn: 'twin' },
        { upstreamUrn: 'orders', downstreamUrn: 'no such thing' },
        { op: 'setDomain', entityUrn: 'orders', domainUrn: 'bi.report' },
        { upstreamUrn: 'urn:li:dataset:x', downstreamUrn: 'orders' },
        { upstreamUrn: '', downstreamUrn: 'orders' },
        { upstreamUrn: 'orders', downstreamUrn: 'customers' }
      )
      t.match(counts, { received: 6, rejected: 5 })
      t.match(rejects, [
        {
          line: 1,
          code: 'INVALID_URN',
          message: /downstreamUrn.*may mean 2 entities.*a\.twin/,
          record: JSON.stringify({ upstreamUrn: 'orders', downstreamUrn: 'twin' })
        },
        {
          line: 2,
          code: 'INVALID_URN',
          message:
            /downstreamUrn must be a URN such as .*, or the name of an entity: Nothing is called "no such thing"/
        },
        { line: 3, code: 'INVALID_URN', message: /domainUrn/ },
        { line: 4, code: 'INVALID_URN' },
        { line: 5, code: 'INVALID_URN' }
      ])
    }
  )

  t.test('stand in the arguments of mutations', async (t) => {
    t.equal(
      (
        await mutate(
          'mutation { updateLineage(input: { edgesToAdd: [{ upstreamUrn: "customers", downstreamUrn: "a.twin" }], edgesToRemove: [] }) }'
        )
      ).data?.updateLineage,
      true
    )
    t.strictSame(await upstreamsOf(twin), [customers])
    t.equal(
      (await mutate('mutation { setDomain(entityUrn: "a.twin", domainUrn: "Finance") }')).data?.setDomain,
      true
    )
    t.equal(await domainOf(twin), finance)
    t.equal(
      (
        await mutate(
          'mutation { batchSetDomain(input: { domainUrn: "Sales & Service", resources: [{ resourceUrn: "a.twin" }, { resourceUrn: "b.twin" }] }) }'
        )
      ).data?.batchSetDomain,
      true
    )
    t.equal(await domainOf(otherTwin), sales)
    t.equal((await mutate('mutation { unsetDomain(entityUrn: "a.twin") }')).data?.unsetDomain, true)
    t.equal(
      (
        await mutate(
          'mutation { moveDomain(input: { resourceUrn: "Below", parentDomain: "Sales & Service" }) }'
        )
      ).data?.moveDomain,
      true
    )
    t.equal(
      (await mutate('mutation { updateName(input: { urn: "Below", name: "Elsewhere" }) }')).data?.updateName,
      true
    )
    t.equal((await mutate('mutation { deleteDomain(urn: "Elsewhere") }')).data?.deleteDomain, true)
    const {
      errors: [fault]
    } = await mutate(
      'mutation { updateLineage(input: { edgesToAdd: [{ upstreamUrn: "twin", downstreamUrn: "orders" }], edgesToRemove: [] }) }'
    )
    t.match(fault, {
      extensions: {
        reason: 'INVALID_URN',
        field: 'input.edgesToAdd[0].upstreamUrn',
        candidates: [twin, otherTwin]
      }
    })
  })

  t.test('may be the start and the domain of an export', async (t) => {
    const byName = await rest({ url: '/lineage/export?urn=shop.orders&format=ndjson&domain=Finance' })
    t.equal(byName.status, 200)
    t.equal(
      byName.text,
      (
        await rest({
          url: `/lineage/export?urn=${encodeURIComponent(orders)}&format=ndjson&domain=${finance}`
        })
      ).text
    )
    t.match(byName.text, /bi\.report/)
    t.equal(
      (await rest({ url: '/domains/export?domain=Finance' })).text,
      (await rest({ url: `/domains/export?domain=${finance}` })).text
    )
    t.match(await rest({ url: '/lineage/export?urn=twin' }), {
      status: 400,
      body: { code: 'INVALID_URN', field: 'urn' }
    })
  })
})
