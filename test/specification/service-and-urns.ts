/** Sections 1 and 2.1: what the service does, and the shapes of URNs. */
import { createToken } from '../../shared/catalog/access/create-token.ts'
import { catalogClient } from '../support/catalog-client.ts'
import { valueAt } from '../support/json-answer.ts'
import { columnUrn, datasetUrn, row, type SpecificationRow } from './row.ts'

const flow = 'urn:li:dataFlow:(airflow,s1_nightly,PROD)'
const job = `urn:li:dataJob:(${flow},s1_load)`

export const serviceAndUrnRows: SpecificationRow[] = [
  row('S1-assets: entities of every kind of asset are stored and read by their URNs', async (t, catalog) => {
    const kinds: [string, string, string][] = [
      ['dataset', datasetUrn('s1.assets'), 'DATASET'],
      ['dataJob', job, 'DATA_JOB'],
      ['dataFlow', flow, 'DATA_FLOW'],
      ['chart', 'urn:li:chart:(looker,s1)', 'CHART'],
      ['dashboard', 'urn:li:dashboard:(looker,s1)', 'DASHBOARD'],
      ['mlPrimaryKey', 'urn:li:mlPrimaryKey:(s1_features,id)', 'MLPRIMARY_KEY']
    ]
    await catalog.make(...kinds.map(([, urn]) => urn))
    for (const [field, urn, type] of kinds) {
      const { data } = await catalog.graphql(
        `query ($urn: String!) { ${field}(urn: $urn) { urn type exists } }`,
        { urn }
      )
      t.strictSame(data, { [field]: { urn, type, exists: true } }, field)
    }
  }),

  row(
    'S1-domains: assets are grouped into domains, and a domain may be in another one',
    async (t, catalog) => {
      const parent = await catalog.createDomain({ id: 's1-parent', name: 'S1 parent' })
      const child = await catalog.createDomain({ id: 's1-child', name: 'S1 child', parentDomain: parent })
      const asset = datasetUrn('s1.domains')
      await catalog.make(asset)
      await catalog.setDomain(asset, child)
      const { data } = await catalog.graphql(
        'query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn parentDomains { count domains { urn } } } } } }',
        { urn: asset }
      )
      t.strictSame(data, {
        dataset: {
          domain: { domain: { urn: child, parentDomains: { count: 1, domains: [{ urn: parent }] } } }
        }
      })
    }
  ),

  row(
    'S1-owners: a token limited to a domain manages what is below it, and nothing else',
    async (t, catalog, db) => {
      const own = await catalog.createDomain({ id: 's1-own', name: 'S1 own' })
      const other = await catalog.createDomain({ id: 's1-other', name: 'S1 other' })
      const [mine, theirs] = [datasetUrn('s1.mine'), datasetUrn('s1.theirs')]
      await catalog.make(mine, theirs)
      await catalog.setDomain(mine, own)
      await catalog.setDomain(theirs, other)
      const { token } = await createToken(db, { name: 's1 owner', scopes: ['write'], domainUrn: own })
      const owner = catalogClient(catalog.url, token)
      const below = await owner.createDomain({ id: 's1-below', name: 'S1 below', parentDomain: own })
      t.strictSame(
        (await owner.setDomain(mine, below)).data,
        { setDomain: true },
        'its own asset into its own subtree'
      )
      t.equal((await owner.setDomain(theirs, below)).reason, 'FORBIDDEN', 'an asset of another domain')
      t.equal((await owner.setDomain(mine, other)).reason, 'FORBIDDEN', 'into another domain')
      const outside = await owner.graphql('mutation { createDomain(input: { name: "S1 outside" }) }')
      t.equal(outside.reason, 'FORBIDDEN', 'a domain outside')
      const { data } = await catalog.graphql(
        'query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }',
        { urn: theirs }
      )
      t.strictSame(data, { dataset: { domain: { domain: { urn: other } } } }, 'nothing changed')
    }
  ),

  row(
    'S1-lineage: lineage is read both ways, between datasets, columns and other assets',
    async (t, catalog) => {
      const [a, b] = [datasetUrn('s1.a'), datasetUrn('s1.b')]
      const chart = 'urn:li:chart:(looker,s1_lineage)'
      await catalog.make(a, b, chart)
      await catalog.updateLineage([
        [a, b],
        [b, chart],
        [columnUrn(a, 'x'), columnUrn(b, 'y')]
      ])
      t.strictSame(await catalog.walk(a), [`1 ${b}`, `2 ${chart}`], 'what depends on it')
      t.strictSame(await catalog.walk(chart, 'UPSTREAM'), [`1 ${b}`, `2 ${a}`], 'what it is derived from')
      t.strictSame(await catalog.walk(columnUrn(a, 'x')), [`1 ${b}`], 'a column, folded to its asset')
    }
  ),

  row('S1-doors: what a proposal writes over REST is read over GraphQL', async (t, catalog) => {
    const urn = datasetUrn('s1.doors')
    const { status, json } = await catalog.propose(urn, 'datasetProperties', {
      description: 'through the other door'
    })
    t.equal(status, 200)
    t.strictSame(json, { value: 'success' })
    const { data } = await catalog.graphql(
      'query ($urn: String!) { dataset(urn: $urn) { properties { description } } }',
      { urn }
    )
    t.strictSame(data, { dataset: { properties: { description: 'through the other door' } } })
  }),

  row(
    'S1-exist: an operation on an absent entity fails, names it and changes nothing',
    async (t, catalog) => {
      const [here, absent] = [datasetUrn('s1.here'), datasetUrn('s1.absent')]
      await catalog.make(here)
      const added = await catalog.updateLineage([[absent, here]])
      t.strictSame(
        [added.data, added.reason, added.urn],
        [{ updateLineage: null }, 'MISSING_REFERENCE', absent]
      )
      const set = await catalog.setDomain(here, 'urn:li:domain:s1-absent')
      t.strictSame(
        [set.data, set.reason, set.urn],
        [{ setDomain: null }, 'MISSING_REFERENCE', 'urn:li:domain:s1-absent']
      )
      t.strictSame(await catalog.walk(here, 'UPSTREAM'), [])
      t.strictSame(
        (await catalog.graphql('query ($urn: String!) { entityExists(urn: $urn) }', { urn: absent })).data,
        { entityExists: false }
      )
    }
  ),

  row(
    "S2.1-domain: a domain's URN ends with the slug that was given, or with a generated UUID",
    async (t, catalog) => {
      t.equal(await catalog.createDomain({ id: 's21 slug', name: 'S2.1 slug' }), 'urn:li:domain:s21 slug')
      t.match(
        await catalog.createDomain({ name: 'S2.1 uuid' }),
        /^urn:li:domain:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
      )
    }
  ),

  row("S2.1-dataset: a dataset's URN contains platform, name and environment", async (t, catalog) => {
    const urn = 'urn:li:dataset:(urn:li:dataPlatform:snowflake,s21.shop.orders,DEV)'
    await catalog.make(urn)
    const { data } = await catalog.graphql(
      'query ($urn: String!) { dataset(urn: $urn) { urn name origin platform { urn name } } }',
      { urn }
    )
    t.strictSame(data, {
      dataset: {
        urn,
        name: 's21.shop.orders',
        origin: 'DEV',
        platform: { urn: 'urn:li:dataPlatform:snowflake', name: 'snowflake' }
      }
    })
    t.equal(
      (await catalog.graphql('{ dataset(urn: "urn:li:dataset:(urn:li:dataPlatform:snowflake,x)") { urn } }'))
        .reason,
      'INVALID_URN'
    )
  }),

  row("S2.1-schemaField: a column's URN contains its dataset and its name", async (t, catalog) => {
    const parent = datasetUrn('s21.columns')
    await catalog.make(parent)
    const urn = columnUrn(parent, 'sum(word_count)')
    const { data } = await catalog.graphql(
      'query ($urn: String!) { entity(urn: $urn) { urn type ... on SchemaFieldEntity { fieldPath parent { urn } } } }',
      { urn }
    )
    t.strictSame(data, {
      entity: { urn, type: 'SCHEMA_FIELD', fieldPath: 'sum(word_count)', parent: { urn: parent } }
    })
  }),

  row("S2.1-dataJob: a data job's URN contains its flow and its id", async (t, catalog) => {
    const urn = `urn:li:dataJob:(${flow},s21_job)`
    await catalog.make(urn)
    const { data } = await catalog.graphql(
      'query ($urn: String!) { dataJob(urn: $urn) { jobId dataFlow { urn } } }',
      { urn }
    )
    t.strictSame(data, { dataJob: { jobId: 's21_job', dataFlow: { urn: flow } } })
  }),

  row("S2.1-dataFlow: a data flow's URN contains orchestrator, id and environment", async (t, catalog) => {
    const urn = 'urn:li:dataFlow:(dagster,s21_flow,PROD)'
    await catalog.make(urn)
    const { data } = await catalog.graphql(
      'query ($urn: String!) { dataFlow(urn: $urn) { orchestrator flowId cluster } }',
      { urn }
    )
    t.strictSame(data, { dataFlow: { orchestrator: 'dagster', flowId: 's21_flow', cluster: 'PROD' } })
  }),

  row("S2.1-mlPrimaryKey: a primary key's URN contains its namespace and its name", async (t, catalog) => {
    const urn = 'urn:li:mlPrimaryKey:(s21_features,order_id)'
    await catalog.make(urn)
    const { data } = await catalog.graphql(
      'query ($urn: String!) { mlPrimaryKey(urn: $urn) { featureNamespace name } }',
      { urn }
    )
    t.strictSame(data, { mlPrimaryKey: { featureNamespace: 's21_features', name: 'order_id' } })
  }),

  row('S2.1-corpuser: a user has a URN, and is the actor of its changes', async (t, catalog, db) => {
    const { token } = await createToken(db, {
      name: 's21 actor',
      scopes: ['write'],
      actorUrn: 'urn:li:corpuser:s21'
    })
    const user = catalogClient(catalog.url, token)
    await user.createDomain({ id: 's21-by', name: 'S2.1 by a user' })
    const { json } = await catalog.readAspect('urn:li:domain:s21-by', 'domainProperties')
    t.equal(
      valueAt(json, 'aspect.com\\.linkedin\\.domain\\.DomainProperties.created.actor'),
      'urn:li:corpuser:s21'
    )
  })
]
