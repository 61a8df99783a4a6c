/** P3: once one API process has acknowledged a write, every API process shows it. */
import t from 'tap'
import { buildServer } from '../api/server.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { connectTestDatabase } from './support/database.ts'
import { withServer, type TestServer } from './support/server.ts'

const rounds = 30
const writers = 4

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`

/** A second API with its own pool on the database of the first, with the first one's token. */
async function secondServer(
  t: Parameters<typeof withServer>[0],
  first: TestServer
): Promise<TestServer['graphql']> {
  const db = connectTestDatabase(first.databaseUrl)
  const config = readConfig({ DATABASE_URL: first.databaseUrl, LOG_LEVEL: 'silent' })
  const app = await buildServer(
    {
      db,
      lineage: { db, memory: null },
      queue: { nudge: async () => true, depth: async () => 0, close: async () => {} },
      config,
      log: createLog(config)
    },
    { isStopping: false }
  )
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  return async (query, variables = {}) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/graphql',
      headers: { authorization: `Bearer ${first.token}` },
      payload: { query, variables }
    })
    return { status: answer.statusCode, body: answer.json(), text: answer.body, headers: answer.headers }
  }
}

t.test('P3: a write that one API process has acknowledged is seen by the next read of another', async (t) => {
  const first = await withServer(t)
  const read = await secondServer(t, first)
  const propose = async (urn: string) => {
    const { status } = await first.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: 'dataset',
          entityUrn: urn,
          changeType: 'UPSERT',
          aspectName: 'datasetProperties',
          aspect: { json: { name: 'a table' } }
        }
      }
    })
    t.equal(status, 200)
  }
  await first.graphql('mutation { createDomain(input: { id: "one", name: "One" }) }')
  let stale = 0
  let compared = 0

  async function writeAndRead(writer: number): Promise<void> {
    const upstreamUrn = dataset(`up_${writer}`)
    const downstreamUrn = dataset(`down_${writer}`)
    await propose(upstreamUrn)
    await propose(downstreamUrn)
    for (let round = 0; round < rounds; round += 1) {
      const isAdded = round % 2 === 0
      const edges = { [isAdded ? 'edgesToAdd' : 'edgesToRemove']: [{ upstreamUrn, downstreamUrn }] }
      const written = await first.graphql(
        'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
        { input: edges }
      )
      if (written.body?.data?.updateLineage !== true) throw new Error(written.text)
      const walked = await read(
        'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { total } }',
        { input: { urn: upstreamUrn, direction: 'DOWNSTREAM', query: '*' } }
      )
      const set = await first.graphql(
        isAdded
          ? `mutation { setDomain(entityUrn: ${JSON.stringify(upstreamUrn)}, domainUrn: "urn:li:domain:one") }`
          : `mutation { unsetDomain(entityUrn: ${JSON.stringify(upstreamUrn)}) }`
      )
      if (set.status !== 200 || set.body?.errors) throw new Error(set.text)
      const shown = await read('query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }', {
        urn: upstreamUrn
      })
      compared += 2
      if (walked.body.data.scrollAcrossLineage.total !== (isAdded ? 1 : 0)) stale += 1
      if ((shown.body.data.dataset.domain?.domain.urn ?? null) !== (isAdded ? 'urn:li:domain:one' : null))
        stale += 1
    }
  }

  await Promise.all(Array.from({ length: writers }, (_, writer) => writeAndRead(writer)))
  t.equal(compared, rounds * writers * 2)
  t.equal(stale, 0)
})
