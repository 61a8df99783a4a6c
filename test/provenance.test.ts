/** Who stated an edge or put an asset into its domain: source, actor, time and load, over GraphQL. */
import t from 'tap'
import type { JsonObject } from '../shared/model/changes.ts'
import { query } from '../shared/db/query.ts'
import { limits } from '../shared/limits.ts'
import { dataset, edge, entity } from './support/load-bench.ts'
import { withServer } from './support/server.ts'

const ndjson = { 'content-type': 'application/x-ndjson' }
const fields =
  'upstreamUrn downstreamUrn statementCount statements { owner { urn } aspect list source provenance { actor at operation loadId } }'

t.test('provenance', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const send = async (source: string, ...records: unknown[]): Promise<string> =>
    (
      await server.rest({
        method: 'POST',
        url: `/loads?wait=20&source=${source}`,
        headers: ndjson,
        body: records.map((record) => JSON.stringify(record)).join('\n')
      })
    ).body.id
  const ask = async (upstream: string, downstream: string) =>
    (
      await server.graphql(
        `query ($up: String!, $down: String!) { lineageEdge(upstreamUrn: $up, downstreamUrn: $down) { ${fields} } }`,
        { up: dataset(upstream), down: dataset(downstream) }
      )
    ).body
  const began = Date.now()
  const nightly = await send(
    'nightly',
    { op: 'createDomain', id: 'sales', name: 'Sales' },
    ...['a', 'b', 'c', 'd'].map(entity),
    edge('a', 'b'),
    edge('b', 'c'),
    { op: 'setDomain', entityUrn: dataset('a'), domainUrn: 'urn:li:domain:sales' }
  )
  const weekly = await send('weekly', edge('a', 'b'))
  await server.graphql('mutation ($e: [LineageEdge]) { updateLineage(input: { edgesToAdd: $e }) }', {
    e: [{ upstreamUrn: dataset('a'), downstreamUrn: dataset('b') }]
  })

  await t.test('every source that states an edge is told, the newest first', async (t) => {
    const { lineageEdge } = (await ask('a', 'b')).data
    t.match(lineageEdge, { upstreamUrn: dataset('a'), downstreamUrn: dataset('b'), statementCount: 3 })
    t.match(lineageEdge.statements, [
      {
        source: 'manual',
        aspect: 'upstreamLineage',
        list: 'upstreams',
        owner: { urn: dataset('b') },
        provenance: { operation: 'updateLineage', loadId: null, actor: String }
      },
      { source: 'weekly', provenance: { operation: 'load', loadId: weekly } },
      { source: 'nightly', provenance: { operation: 'load', loadId: nightly } }
    ])
    for (const { provenance } of lineageEdge.statements)
      t.ok(provenance.at >= began - 5_000 && provenance.at <= Date.now() + 5_000)
  })

  await t.test(
    'an edge that nobody states is null, and a text that is no URN is refused by its name',
    async (t) => {
      t.same((await ask('c', 'd')).data, { lineageEdge: null })
      t.same((await ask('c', 'nowhere')).data, { lineageEdge: null })
      t.match(
        (await server.graphql('{ lineageEdge(upstreamUrn: "x", downstreamUrn: "y") { statementCount } }'))
          .body,
        { errors: [{ extensions: { reason: 'INVALID_URN' } }] }
      )
    }
  )

  await t.test('a graph has the provenance of all its edges, and a domain of its assignment', async (t) => {
    const { data } = (
      await server.graphql(
        `query ($urn: String!) {
      lineageGraph(input: { urn: $urn, upHops: 0, downHops: 3 }) { edges { upstreamUrn statements { source provenance { loadId } } } }
      dataset(urn: $urn) { domain { provenance { actor at operation loadId } } }
    }`,
        { urn: dataset('a') }
      )
    ).body
    t.same(
      data.lineageGraph.edges
        .map(
          (found: { upstreamUrn: string; statements: unknown[] }) =>
            `${found.upstreamUrn} ${found.statements.length}`
        )
        .sort(),
      [`${dataset('a')} 3`, `${dataset('b')} 1`]
    )
    t.match(data.dataset.domain.provenance, { operation: 'load', loadId: nightly, at: Number, actor: String })
  })

  await t.test('a domain has the attribution of its aspect, and none if the aspect has none', async (t) => {
    const ofDomain = async (urn: string) =>
      (
        await server.graphql(
          'query ($urn: String!) { dataset(urn: $urn) { domain { attribution { time actor { urn } source { urn type } sourceDetail { key value } } } } }',
          { urn }
        )
      ).body
    t.match(await ofDomain(dataset('a')), { data: { dataset: { domain: { attribution: null } } } })
    const [{ domain }] = (
      await server.rest({ url: `/openapi/v3/entity/dataset/${encodeURIComponent(dataset('a'))}/domains` })
    ).body.value.domainAssociations
    const write = (attribution: JsonObject) =>
      server.rest({
        method: 'POST',
        url: '/aspects?action=ingestProposal',
        body: {
          proposal: {
            entityType: 'dataset',
            entityUrn: dataset('a'),
            changeType: 'UPSERT',
            aspectName: 'domains',
            aspect: { json: { domains: [domain], domainAssociations: [{ domain, attribution }] } }
          }
        }
      })
    await write({
      time: 7,
      actor: 'urn:li:corpuser:ann',
      source: 'urn:li:dataHubAction:spread',
      sourceDetail: { origin: 'x' }
    })
    t.match(await ofDomain(dataset('a')), {
      data: {
        dataset: {
          domain: {
            attribution: {
              time: 7,
              actor: { urn: 'urn:li:corpuser:ann' },
              source: { urn: 'urn:li:dataHubAction:spread' },
              sourceDetail: [{ key: 'origin', value: 'x' }]
            }
          }
        }
      }
    })
    await write({ note: 'nothing that is known' })
    t.match(await ofDomain(dataset('a')), {
      data: {
        dataset: {
          domain: {
            attribution: {
              time: 0,
              actor: { urn: 'urn:li:corpuser:unknown' },
              source: null,
              sourceDetail: null
            }
          }
        }
      }
    })
  })

  await t.test('after an undo it is again the one that stated it before', async (t) => {
    const removing = await send('cleaning', {
      op: 'removeEdge',
      upstreamUrn: dataset('b'),
      downstreamUrn: dataset('c')
    })
    t.same((await ask('b', 'c')).data, { lineageEdge: null })
    await server.rest({ method: 'POST', url: `/loads/${removing}/undo?wait=20` })
    t.match((await ask('b', 'c')).data.lineageEdge, {
      statementCount: 1,
      statements: [{ source: 'nightly', provenance: { operation: 'load', loadId: nightly } }]
    })
  })

  await t.test('when an edge has many statements, the newest are listed, and all are counted', async (t) => {
    await query(
      server.db,
      "insert into statement_source (name) select 'many' || n from generate_series(1, 150) as n"
    )
    await query(
      server.db,
      `
      insert into statement (downstream_id, upstream_id, owner_id, field, source_id, record_key, position, seq, line)
      select statement.downstream_id, statement.upstream_id, statement.owner_id, statement.field, statement_source.id, statement.record_key, statement.position, 1, 1
      from (select * from statement limit 1) as statement
      cross join statement_source
      where statement_source.name like 'many%'`
    )
    const answers = await Promise.all([ask('a', 'b'), ask('b', 'c')])
    const [most] = answers
      .map(({ data }) => data.lineageEdge)
      .sort((one, other) => other.statementCount - one.statementCount)
    t.ok(most.statementCount > 150)
    t.equal(most.statements.length, limits.edgeStatementsMaxCount)
    t.not(most.statements[0].source.slice(0, 4), 'many')
  })
})
