/**
 * What an UPSERT of a lineage aspect replaces: all edges of the aspect, or, as the operator decides, only those
 * that proposals stated.
 */
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { JsonObject } from '../shared/model/changes.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import type { Urn } from '../shared/urn/urn.ts'
import { startWorker } from '../worker/start.ts'
import { addEdge, apply, create, dataset, upstream, valueOf } from './support/changes.ts'
import { withServer, type TestServer } from './support/server.ts'

const [a, b, c, d, e] = [dataset('a'), dataset('b'), dataset('c'), dataset('d'), dataset('e')]

const upstreamsOf = async (server: TestServer, urn: Urn): Promise<string[]> => {
  const value = (await valueOf(server.db, urn, 'upstreamLineage')) as {
    upstreams?: { dataset: string }[]
  } | null
  return (value?.upstreams ?? []).map((each) => each.dataset).sort()
}

const proposal = (...upstreams: Urn[]): JsonObject => ({
  entityType: 'dataset',
  entityUrn: a,
  changeType: 'UPSERT',
  aspectName: 'upstreamLineage',
  aspect: { json: { upstreams: upstreams.map((urn) => upstream(urn)) } }
})

/** A person draws b to a, a load states c to a, and a proposal states d to a. */
async function prepare(server: TestServer): Promise<void> {
  await apply(server.db, ...create(a, b, c, d, e))
  const drawn = await server.graphql(
    'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
    { input: { edgesToAdd: [{ upstreamUrn: b, downstreamUrn: a }], edgesToRemove: [] } }
  )
  if (drawn.body.data.updateLineage !== true) throw new Error(drawn.text)
  await load(server, JSON.stringify({ upstreamUrn: c, downstreamUrn: a }), 'source=nightly')
  await send(server, proposal(d))
}

async function load(server: TestServer, body: string, parameters: string): Promise<void> {
  const answer = await server.rest({
    method: 'POST',
    url: `/loads?wait=25&format=ndjson&${parameters}`,
    body,
    headers: { 'content-type': 'application/x-ndjson' }
  })
  if (answer.body.state !== 'done' || answer.body.counts.rejected > 0) throw new Error(answer.text)
}

async function send(server: TestServer, sent: JsonObject): Promise<void> {
  const { status, text } = await server.rest({
    method: 'POST',
    url: '/aspects?action=ingestProposal',
    body: { proposal: sent }
  })
  if (status !== 200) throw new Error(text)
}

t.test('the whole aspect by default', async (t) => {
  const server = await withServer(t, { withWorker: true })
  await prepare(server)
  t.strictSame(await upstreamsOf(server, a), [d], 'as the specification says')
})

t.test('only what proposals stated, in every way to send them', async (t) => {
  const server = await withServer(t, { withWorker: true, env: { UPSERT_REPLACES: 'proposals' } })
  await prepare(server)
  t.strictSame(await upstreamsOf(server, a), [b, c, d])

  await send(server, proposal(e))
  t.strictSame(await upstreamsOf(server, a), [b, c, e], 'Rest.li')

  const put = async (urns: Urn[], parameters: string): Promise<void> => {
    const { status, text } = await server.rest({
      method: 'POST',
      url: `/openapi/v3/entity/dataset?${parameters}`,
      body: [{ urn: a, upstreamLineage: { value: { upstreams: urns.map((urn) => upstream(urn)) } } }]
    })
    if (status >= 300) throw new Error(text)
  }
  await put([d], 'async=false')
  t.strictSame(await upstreamsOf(server, a), [b, c, d], 'OpenAPI v3')

  await load(server, JSON.stringify(proposal(e)), 'source=proposal-file')
  t.strictSame(await upstreamsOf(server, a), [b, c, d, e], 'a load replaces what its source stated')
  await load(server, JSON.stringify(proposal()), 'source=proposal-file')
  t.strictSame(await upstreamsOf(server, a), [b, c, d])

  await send(server, proposal())
  t.strictSame(await upstreamsOf(server, a), [b, c], 'an empty list')
  await send(server, proposal(b))
  await send(server, proposal())
  t.strictSame(await upstreamsOf(server, a), [b, c], 'an edge that both stated stays for the other')
})

t.test('a worker does what the load says, not what its own configuration says', async (t) => {
  const server = await withServer(t, { env: { UPSERT_REPLACES: 'proposals' } })
  await apply(server.db, ...create(a, b, d))
  await apply(server.db, addEdge(b, a))
  const sent = await server.rest({
    method: 'POST',
    url: '/loads?format=ndjson&source=file',
    body: JSON.stringify(proposal(d)),
    headers: { 'content-type': 'application/x-ndjson' }
  })
  t.equal(sent.status, 202, sent.text)
  const config = readConfig({ DATABASE_URL: server.databaseUrl, LOG_LEVEL: 'silent' })
  t.equal(config.upsertReplaces, 'aspect')
  const worker = startWorker(config, createLog(config))
  await worker.start()
  t.teardown(() => worker.stop())
  const stateOf = async (): Promise<string> =>
    (await server.rest({ url: `/loads/${sent.body.id}` })).body.state
  while ((await stateOf()) !== 'done') await setTimeout(100)
  t.strictSame(await upstreamsOf(server, a), [b, d])
})
