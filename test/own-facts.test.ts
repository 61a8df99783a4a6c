/**
 * Filters by environment, platform and platform instance find what names them in an aspect instead of its
 * URN: flows, jobs, containers, runs, features, and assets of connections with a platform instance.
 */
import type { JsonObject } from '../shared/model/changes.ts'
import { datasetUrn } from '../shared/urn/kinds.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import { apply, create, upsert } from './support/changes.ts'
import { onBothEngines } from './support/engines.ts'

const flow = (cluster: string): Urn => toUrn(`urn:li:dataFlow:(airflow,nightly,${cluster})`)
const jobOf = (parent: Urn, id: string): Urn => toUrn(`urn:li:dataJob:(${parent},${id})`)
const hive = 'urn:li:dataPlatform:hive'

const [table, devTable] = [datasetUrn('hive', 'own.t'), datasetUrn('hive', 'own.t', 'DEV')]
const [prodFlow, devFlow, teamFlow, plainFlow] = [flow('prod'), flow('DEV'), flow('team-a'), flow('team-b')]
const [prodJob, devJob, teamJob, plainJob] = [
  jobOf(prodFlow, 'load'),
  jobOf(devFlow, 'load'),
  jobOf(teamFlow, 'load'),
  jobOf(plainFlow, 'load')
]
const [schema, bare] = [toUrn('urn:li:container:schema'), toUrn('urn:li:container:bare')]
const [run, ownRun, loneRun] = ['of-job', 'own', 'lone'].map((id) =>
  toUrn(`urn:li:dataProcessInstance:${id}`)
) as [Urn, Urn, Urn]
const feature = toUrn('urn:li:mlFeature:(users,age)')
const instance = toUrn(`urn:li:dataPlatformInstance:(${hive},west)`)

const all = [
  table,
  devTable,
  prodFlow,
  devFlow,
  teamFlow,
  plainFlow,
  prodJob,
  devJob,
  teamJob,
  plainJob,
  schema,
  bare,
  run,
  ownRun,
  loneRun,
  feature
]
const types = ['DATASET', 'DATA_FLOW', 'DATA_JOB', 'CONTAINER', 'DATA_PROCESS_INSTANCE', 'MLFEATURE', 'CHART']

onBothEngines('own facts', async (t, server) => {
  await apply(server.db, ...create(...all))
  await apply(
    server.db,
    upsert(teamFlow, 'dataFlowInfo', { name: 'nightly', env: 'PROD', customProperties: {} }),
    upsert(teamJob, 'dataJobInfo', {
      name: 'load',
      type: { string: 'COMMAND' },
      env: 'PROD',
      customProperties: {}
    }),
    // Its URN decides.
    upsert(devJob, 'dataJobInfo', {
      name: 'load',
      type: { string: 'COMMAND' },
      env: 'PROD',
      customProperties: {}
    }),
    upsert(schema, 'containerProperties', { name: 'schema', env: 'PROD', customProperties: {} }),
    upsert(schema, 'dataPlatformInstance', { platform: hive, instance }),
    // Stored as sent, and no platform.
    upsert(bare, 'dataPlatformInstance', { platform: 'not a URN' }),
    upsert(loneRun, 'dataProcessInstanceRelationships', { parentTemplate: 'none', upstreamInstances: [] }),
    upsert(feature, 'dataPlatformInstance', { platform: hive }),
    upsert(ownRun, 'dataPlatformInstance', { platform: hive }),
    upsert(run, 'dataProcessInstanceProperties', {
      name: 'a run',
      created: { time: 1, actor: 'urn:li:corpuser:a' }
    }),
    upsert(run, 'dataProcessInstanceRelationships', { parentTemplate: prodJob, upstreamInstances: [] }),
    upsert(prodJob, 'dataJobInputOutput', {
      inputDatasets: [table],
      outputDatasets: [devTable],
      inputDatajobs: [devJob]
    }),
    upsert(ownRun, 'dataProcessInstanceInput', { inputs: [], inputEdges: [{ destinationUrn: table }] }),
    upsert(loneRun, 'dataProcessInstanceInput', { inputs: [], inputEdges: [{ destinationUrn: table }] })
  )

  const search = async (filter: JsonObject, more: JsonObject = {}) => {
    const { body } = await server.graphql(
      'query ($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) { total searchResults { entity { urn } } } }',
      { input: { types, query: '*', count: 100, orFilters: [{ and: [filter] }], ...more } }
    )
    const { total, searchResults } = body.data.searchAcrossEntities
    const urns = searchResults.map(({ entity }: { entity: { urn: string } }) => entity.urn).sort()
    t.equal(total, urns.length)
    return urns
  }
  const scrolled = async (filter: JsonObject) => {
    const found: string[] = []
    let scrollId: string | null = null
    do {
      const { body } = await server.graphql(
        'query ($input: ScrollAcrossEntitiesInput!) { scrollAcrossEntities(input: $input) { nextScrollId searchResults { entity { urn } } } }',
        { input: { types, query: '*', count: 2, scrollId, orFilters: [{ and: [filter] }] } }
      )
      const page = body.data.scrollAcrossEntities
      found.push(...page.searchResults.map(({ entity }: { entity: { urn: string } }) => entity.urn))
      scrollId = page.nextScrollId
    } while (scrollId !== null)
    return found.sort()
  }
  const without = (kept: readonly Urn[]): Urn[] => all.filter((urn) => !kept.includes(urn)).sort()

  const inProd = [table, prodFlow, teamFlow, prodJob, teamJob, schema].sort()
  const inDev = [devTable, devFlow, devJob].sort()
  const onHive = [table, devTable, schema, ownRun, feature].sort()
  const onAirflow = [prodFlow, devFlow, teamFlow, plainFlow, prodJob, devJob, teamJob, plainJob, run].sort()
  const rows: [filter: JsonObject, expected: readonly Urn[]][] = [
    [{ field: 'env', values: ['PROD'] }, inProd],
    [{ field: 'origin', values: ['PROD'] }, inProd],
    [{ field: 'env', values: ['DEV'] }, inDev],
    [{ field: 'env', values: ['prod'], condition: 'IEQUAL' }, inProd],
    [{ field: 'env', values: ['PROD', 'DEV'], condition: 'IN' }, [...inProd, ...inDev].sort()],
    [{ field: 'env', values: ['PROD'], negated: true }, without(inProd)],
    [{ field: 'env', values: [], condition: 'EXISTS' }, [...inProd, ...inDev].sort()],
    [{ field: 'env', values: ['team-b'] }, []],
    [{ field: 'platform', values: [hive] }, onHive],
    [{ field: 'platform', values: ['hive'] }, onHive],
    [{ field: 'platform', values: ['urn:li:dataPlatform:airflow'] }, onAirflow],
    [{ field: 'platform', values: ['air'], condition: 'START_WITH' }, onAirflow],
    [{ field: 'platform', values: [hive], negated: true }, without(onHive)],
    [{ field: 'platform', values: [], condition: 'EXISTS', negated: true }, [bare, loneRun].sort()],
    [{ field: 'platformInstance', values: [instance] }, [schema]]
  ]
  await t.test('a search finds them, and a scroll in pages of two', async (t) => {
    for (const [filter, expected] of rows) {
      t.strictSame(await search(filter), expected, JSON.stringify(filter))
      t.strictSame(await scrolled(filter), expected, `scroll ${JSON.stringify(filter)}`)
    }
  })

  await t.test('with words too', async (t) => {
    t.strictSame(
      await search({ field: 'env', values: ['PROD'] }, { query: 'load' }),
      [prodJob, teamJob].sort()
    )
    t.strictSame(await search({ field: 'platform', values: ['hive'] }, { query: 'schema' }), [schema])
    t.strictSame(await search({ field: 'platform', values: ['airflow'] }, { query: 'run' }), [run])
  })

  await t.test('a walk is filtered in the same way', async (t) => {
    const walked = async (filter: JsonObject) => {
      const { body } = await server.graphql(
        'query ($input: ScrollAcrossLineageInput) { scrollAcrossLineage(input: $input) { searchResults { entity { urn } } } }',
        { input: { urn: table, direction: 'DOWNSTREAM', count: 100, orFilters: [{ and: [filter] }] } }
      )
      return body.data.scrollAcrossLineage.searchResults
        .map(({ entity }: { entity: { urn: string } }) => entity.urn)
        .sort()
    }
    t.strictSame(await walked({ field: 'env', values: ['PROD'] }), [prodJob])
    t.strictSame(await walked({ field: 'platform', values: [hive] }), [devTable, ownRun].sort())
    t.strictSame(
      await walked({ field: 'platform', values: [hive], negated: true }),
      [prodJob, loneRun].sort()
    )
  })

  await t.test('a changed aspect changes the answer', async (t) => {
    await apply(
      server.db,
      upsert(schema, 'containerProperties', { name: 'schema', env: 'DEV', customProperties: {} }),
      upsert(loneRun, 'dataPlatformInstance', { platform: hive })
    )
    t.ok((await search({ field: 'env', values: ['DEV'] })).includes(schema))
    t.notOk((await search({ field: 'env', values: ['PROD'] })).includes(schema))
    t.ok((await search({ field: 'platform', values: ['hive'] })).includes(loneRun))
  })
})
