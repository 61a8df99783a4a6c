/** Sections 4.3, 4.4, 5, 7 and 8: proposals over REST, lineage of other assets, authentication, errors and limits. */
import { createToken } from '../../shared/catalog/access/create-token.ts'
import { query } from '../../shared/db/query.ts'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { catalogClient, type CatalogClient } from '../support/catalog-client.ts'
import { isJsonObject, valueAt } from '../support/json-answer.ts'
import { sendRaw } from '../support/raw-request.ts'
import { columnUrn, datasetUrn, row, type SpecificationRow } from './row.ts'

const flow = 'urn:li:dataFlow:(airflow,s44,PROD)'

const aspectOf = async (
  catalog: CatalogClient,
  urn: string,
  aspectName: string
): Promise<[string, JsonValue]> => {
  const { json } = await catalog.readAspect(urn, aspectName)
  const aspect = valueAt(json, 'aspect')
  const [entry] = isJsonObject(aspect) ? Object.entries(aspect) : []
  return entry ? [entry[0], entry[1]] : ['absent', null]
}

export const proposalRows: SpecificationRow[] = [
  row('S4.3-entityType: entityType must be the type of the URN', async (t, catalog) => {
    const right = await catalog.propose(
      'urn:li:domain:s43-type',
      'domainProperties',
      { name: 'S4.3 type' },
      { entityType: 'domain' }
    )
    t.equal(right.status, 200)
    const wrong = await catalog.propose(
      'urn:li:domain:s43-type-wrong',
      'domainProperties',
      { name: 'S4.3 type wrong' },
      { entityType: 'dataset' }
    )
    t.equal(wrong.status, 400)
    t.strictSame((await catalog.graphql('{ entityExists(urn: "urn:li:domain:s43-type-wrong") }')).data, {
      entityExists: false
    })
  }),

  row('S4.3-entityUrn: entityUrn is the entity that receives the aspect', async (t, catalog) => {
    const urn = datasetUrn('s43.urn')
    t.equal((await catalog.propose(urn, 'datasetProperties', { description: 'of s43.urn' })).status, 200)
    t.equal(valueAt((await aspectOf(catalog, urn, 'datasetProperties'))[1], 'description'), 'of s43.urn')
    const none = await catalog.propose(
      's43.urn',
      'datasetProperties',
      { description: 'x' },
      { entityType: 'dataset' }
    )
    t.strictSame([none.status, valueAt(none.json, 'code')], [400, 'INVALID_URN'])
  }),

  row('S4.3-changeType: UPSERT creates or replaces the aspect as a whole', async (t, catalog) => {
    const urn = datasetUrn('s43.change')
    const [a, b] = [datasetUrn('s43.change_a'), datasetUrn('s43.change_b')]
    await catalog.make(urn, a, b)
    await catalog.propose(urn, 'upstreamLineage', {
      upstreams: [
        { dataset: a, type: 'COPY' },
        { dataset: b, type: 'COPY' }
      ]
    })
    t.strictSame((await catalog.walk(urn, 'UPSTREAM')).sort(), [`1 ${a}`, `1 ${b}`], 'created')
    await catalog.propose(urn, 'upstreamLineage', { upstreams: [{ dataset: b, type: 'COPY' }] })
    t.strictSame(await catalog.walk(urn, 'UPSTREAM'), [`1 ${b}`], 'replaced')
    await catalog.propose(urn, 'datasetProperties', { description: 'first', qualifiedName: 'x' })
    await catalog.propose(urn, 'datasetProperties', { description: 'second' })
    const [, value] = await aspectOf(catalog, urn, 'datasetProperties')
    t.strictSame([valueAt(value, 'description'), valueAt(value, 'qualifiedName')], ['second', undefined])
    const unknown = await catalog.propose(
      urn,
      'datasetProperties',
      { description: 'third' },
      { changeType: 'REPLACE' }
    )
    t.equal(unknown.status, 422)
  }),

  row('S4.3-aspect: aspect is a plain object, {json} or {value, contentType}', async (t, catalog) => {
    const envelopes: ((value: JsonObject) => JsonValue)[] = [
      (value) => value,
      (json) => ({ json }),
      (value) => ({ contentType: 'application/json', value: JSON.stringify(value) })
    ]
    for (const [index, envelope] of envelopes.entries()) {
      const urn = `urn:li:domain:s43-envelope-${index}`
      const { status } = await catalog.propose(
        urn,
        'domainProperties',
        {},
        { aspect: envelope({ name: `S4.3 envelope ${index}` }) }
      )
      t.equal(status, 200)
      t.equal(
        valueAt((await aspectOf(catalog, urn, 'domainProperties'))[1], 'name'),
        `S4.3 envelope ${index}`
      )
    }
  }),

  row('S4.3-createDomain: UPSERT of domainProperties creates a domain', async (t, catalog) => {
    await catalog.propose('urn:li:domain:s43-parent', 'domainProperties', { name: 'S4.3 parent' })
    const { status } = await catalog.propose('urn:li:domain:s43-child', 'domainProperties', {
      name: 'S4.3 child',
      description: 'text',
      parentDomain: 'urn:li:domain:s43-parent'
    })
    t.equal(status, 200)
    const { data } = await catalog.graphql(
      '{ domain(urn: "urn:li:domain:s43-child") { properties { name description } parentDomains { domains { urn } } } }'
    )
    t.strictSame(data, {
      domain: {
        properties: { name: 'S4.3 child', description: 'text' },
        parentDomains: { domains: [{ urn: 'urn:li:domain:s43-parent' }] }
      }
    })
  }),

  row('S4.3-datasetLineage: a list of upstreams is the lineage of a dataset', async (t, catalog) => {
    const [up, down] = [datasetUrn('s43.lineage_up'), datasetUrn('s43.lineage')]
    await catalog.make(up, down)
    await catalog.propose(down, 'upstreamLineage', { upstreams: [{ dataset: up, type: 'TRANSFORMED' }] })
    t.strictSame(await catalog.walk(up), [`1 ${down}`])
  }),

  row('S4.3-columnLineage: column lineage may be written without dataset lineage', async (t, catalog) => {
    const [up, down] = [datasetUrn('s43.columns_up'), datasetUrn('s43.columns')]
    await catalog.make(up, down)
    const fineGrainedLineages = [
      {
        upstreamType: 'FIELD_SET',
        upstreams: [columnUrn(up, 'a')],
        downstreamType: 'FIELD',
        downstreams: [columnUrn(down, 'b')]
      }
    ]
    for (const aspect of [{ upstreams: [], fineGrainedLineages }, { fineGrainedLineages }]) {
      const { status } = await catalog.propose(down, 'upstreamLineage', aspect)
      t.equal(status, 200)
      t.strictSame(await catalog.walk(columnUrn(up, 'a')), [`1 ${down}`], 'the column is lineage')
      t.strictSame(await catalog.walk(up), [], 'the dataset is not')
      const [, value] = await aspectOf(catalog, down, 'upstreamLineage')
      t.strictSame(valueAt(value, 'upstreams'), [])
    }
    const { status } = await catalog.propose(down, 'upstreamLineage', { upstream: [] })
    t.equal(status, 422, 'a misspelled list does not empty the aspect')
    t.strictSame(await catalog.walk(columnUrn(up, 'a')), [`1 ${down}`])
  }),

  row('S4.3-readDomains: the aspect domains of a dataset is read back', async (t, catalog) => {
    const urn = datasetUrn('s43.domains')
    const domain = await catalog.createDomain({ name: 'S4.3 domains' })
    await catalog.make(urn)
    t.equal((await catalog.readAspect(urn, 'domains')).status, 404, 'never written')
    await catalog.setDomain(urn, domain)
    const [className, value] = await aspectOf(catalog, urn, 'domains')
    t.strictSame([className, valueAt(value, 'domains')], ['com.linkedin.domain.Domains', [domain]])
  }),

  row(
    'S4.3-readLineage: the upstream lineage of a dataset is read back, whoever wrote it',
    async (t, catalog) => {
      const [up, down] = [datasetUrn('s43.read_up'), datasetUrn('s43.read')]
      await catalog.make(up, down)
      await catalog.updateLineage([[up, down]])
      const [className, value] = await aspectOf(catalog, down, 'upstreamLineage')
      t.strictSame(
        [className, valueAt(value, 'upstreams.0.dataset'), valueAt(value, 'upstreams.0.type')],
        ['com.linkedin.dataset.UpstreamLineage', up, 'TRANSFORMED']
      )
      await catalog.updateLineage([], [[up, down]])
      t.strictSame(valueAt((await aspectOf(catalog, down, 'upstreamLineage'))[1], 'upstreams'), [], 'emptied')
    }
  ),

  row(
    'S4.3-gap-paths: proposals are sent to /aspects, one or many, and aspects are read from /aspects/{urn}',
    async (t, catalog) => {
      const [first, second] = [datasetUrn('s43.path_1'), datasetUrn('s43.path_2')]
      const proposal = (entityUrn: string): JsonObject => ({
        entityType: 'dataset',
        entityUrn,
        changeType: 'UPSERT',
        aspectName: 'datasetProperties',
        aspect: { json: { description: entityUrn } }
      })
      for (const path of ['/aspects?action=ingestProposal', '/aspects/?action=ingestProposal']) {
        const { status, json } = await catalog.send('POST', path, { proposal: proposal(first) })
        t.strictSame([status, json], [200, { value: 'success' }], path)
      }
      const { status, json } = await catalog.send('POST', '/aspects?action=ingestProposalBatch', {
        proposals: [proposal(first), proposal(second)]
      })
      t.strictSame([status, json], [200, { value: 'success' }])
      const answer = await catalog.send('GET', `/aspects/${second}?aspect=datasetProperties`)
      t.equal(
        valueAt(answer.json, 'aspect.com\\.linkedin\\.dataset\\.DatasetProperties.description'),
        second,
        'the URN may be raw in the path'
      )
    }
  ),

  row(
    'S4.4-jobFlow: a data job is part of its data flow, which can be read and is not a hop',
    async (t, catalog) => {
      const job = `urn:li:dataJob:(${flow},of_flow)`
      await catalog.make(flow, job)
      t.strictSame((await catalog.updateLineage([[flow, job]])).data, { updateLineage: true })
      t.strictSame(
        (
          await catalog.graphql('query ($urn: String!) { dataJob(urn: $urn) { dataFlow { urn } } }', {
            urn: job
          })
        ).data,
        { dataJob: { dataFlow: { urn: flow } } }
      )
      t.strictSame([...(await catalog.walk(job, 'UPSTREAM')), ...(await catalog.walk(flow))], [])
    }
  ),

  row('S4.4-jobDataset: a data job reads and writes datasets', async (t, catalog) => {
    const job = `urn:li:dataJob:(${flow},of_datasets)`
    const [input, output] = [datasetUrn('s44.input'), datasetUrn('s44.output')]
    await catalog.make(flow, job, input, output)
    t.equal(
      (await catalog.propose(job, 'dataJobInputOutput', { inputDatasets: [input], outputDatasets: [output] }))
        .status,
      200
    )
    t.strictSame(await catalog.walk(input), [`1 ${job}`, `2 ${output}`])
    t.strictSame(await catalog.walk(output, 'UPSTREAM'), [`1 ${job}`, `2 ${input}`])
  }),

  row('S4.4-chartDashboard: a chart is upstream of the dashboard it is on', async (t, catalog) => {
    const [chart, dashboard] = ['urn:li:chart:(looker,s44_on)', 'urn:li:dashboard:(looker,s44)']
    await catalog.make(chart, dashboard)
    t.equal(
      (await catalog.propose(dashboard, 'dashboardInfo', { title: 'S4.4', description: '', charts: [chart] }))
        .status,
      200
    )
    t.strictSame(await catalog.walk(chart), [`1 ${dashboard}`])
  }),

  row('S4.4-chartDataset: a chart is downstream of the datasets it shows', async (t, catalog) => {
    const [chart, dataset] = ['urn:li:chart:(looker,s44_shows)', datasetUrn('s44.shown')]
    await catalog.make(chart, dataset)
    t.equal(
      (
        await catalog.propose(chart, 'chartInfo', {
          title: 'S4.4',
          description: '',
          inputs: [{ string: dataset }]
        })
      ).status,
      200
    )
    t.strictSame(await catalog.walk(dataset), [`1 ${chart}`])
  }),

  row('S4.4-datasetAspect: the lineage of a dataset is its aspect upstreamLineage', async (t, catalog) => {
    const [up, down] = [datasetUrn('s44.aspect_up'), datasetUrn('s44.aspect')]
    await catalog.make(up, down)
    await catalog.updateLineage([[up, down]])
    const [className, value] = await aspectOf(catalog, down, 'upstreamLineage')
    t.strictSame(
      [className, valueAt(value, 'upstreams.0.dataset')],
      ['com.linkedin.dataset.UpstreamLineage', up]
    )
  }),

  row('S4.4-jobAspect: the lineage of a data job is its aspect dataJobInputOutput', async (t, catalog) => {
    const job = `urn:li:dataJob:(${flow},aspect)`
    const [input, output] = [datasetUrn('s44.job_in'), datasetUrn('s44.job_out')]
    await catalog.make(job, input, output)
    await catalog.updateLineage([
      [input, job],
      [job, output]
    ])
    const [className, value] = await aspectOf(catalog, job, 'dataJobInputOutput')
    t.strictSame(
      [
        className,
        valueAt(value, 'inputDatasetEdges.0.destinationUrn'),
        valueAt(value, 'outputDatasetEdges.0.destinationUrn')
      ],
      ['com.linkedin.datajob.DataJobInputOutput', input, output]
    )
  }),

  row('S4.4-dashboardAspect: the lineage of a dashboard is its aspect dashboardInfo', async (t, catalog) => {
    const [chart, dashboard] = ['urn:li:chart:(looker,s44_aspect)', 'urn:li:dashboard:(looker,s44_aspect)']
    await catalog.make(chart, dashboard)
    await catalog.updateLineage([[chart, dashboard]])
    const [className, value] = await aspectOf(catalog, dashboard, 'dashboardInfo')
    t.strictSame(
      [className, valueAt(value, 'chartEdges.0.destinationUrn')],
      ['com.linkedin.dashboard.DashboardInfo', chart]
    )
  }),

  row('S4.4-flowAspect: a data flow is described by its aspect dataFlowInfo', async (t, catalog) => {
    const urn = 'urn:li:dataFlow:(airflow,s44_aspect,PROD)'
    t.equal((await catalog.propose(urn, 'dataFlowInfo', { name: 'S4.4 flow', project: 'shop' })).status, 200)
    const [className, value] = await aspectOf(catalog, urn, 'dataFlowInfo')
    t.strictSame(
      [className, value],
      ['com.linkedin.datajob.DataFlowInfo', { customProperties: {}, name: 'S4.4 flow', project: 'shop' }]
    )
  }),

  row(
    'S4.4-columns: a walk from an asset returns no columns, a walk from columns returns them on request',
    async (t, catalog) => {
      const [up, down] = [datasetUrn('s44.columns_up'), datasetUrn('s44.columns')]
      await catalog.make(up, down)
      await catalog.updateLineage([
        [up, down],
        [columnUrn(up, 'a'), columnUrn(down, 'b')]
      ])
      t.strictSame(await catalog.walk(up), [`1 ${down}`])
      t.strictSame(await catalog.walk(columnUrn(up, 'a')), [`1 ${down}`], 'folded')
      const asked = { foldColumns: false }
      t.strictSame(await catalog.walk(columnUrn(up, 'a'), 'DOWNSTREAM', asked), [`1 ${columnUrn(down, 'b')}`])
    }
  )
]

export const ruleRows: SpecificationRow[] = [
  row('S5-r1: every request carries a bearer token', async (t, catalog) => {
    const doors: [string, string][] = [
      ['POST', '/api/graphql'],
      ['POST', '/aspects?action=ingestProposal'],
      ['GET', '/aspects/urn:li:domain:x?aspect=domainProperties'],
      ['GET', '/loads'],
      ['POST', '/loads?format=ndjson']
    ]
    for (const [method, path] of doors) {
      const { status, headers } = await sendRaw(catalog.url, {
        method,
        path,
        headers: { 'content-type': 'application/json' },
        ...(method === 'POST' ? { body: Buffer.from('{}') } : {})
      })
      t.strictSame(
        [status, headers['www-authenticate']?.startsWith('Bearer')],
        [401, true],
        `${method} ${path}`
      )
    }
  }),

  row('S5-r2: a body has the content type application/json', async (t, catalog) => {
    const send = (path: string, contentType: string) =>
      sendRaw(catalog.url, {
        method: 'POST',
        path,
        headers: { authorization: `Bearer ${catalog.token}`, 'content-type': contentType },
        body: Buffer.from('{"query":"{ __typename }"}')
      })
    t.equal((await send('/api/graphql', 'application/json')).status, 200)
    t.equal((await send('/api/graphql', 'application/x-www-form-urlencoded')).status, 415)
    t.equal((await send('/aspects?action=ingestProposal', 'text/plain')).status, 415)
  }),

  row('S5-gap-tokens: tokens have scopes and an expiry, and can be revoked', async (t, catalog, db) => {
    const { token, record } = await createToken(db, { name: 's5 reader', scopes: ['read'] })
    const reader = catalogClient(catalog.url, token)
    t.strictSame((await reader.graphql('{ __typename }')).data, { __typename: 'Query' })
    t.equal((await reader.graphql('mutation { createDomain(input: { name: "S5" }) }')).reason, 'FORBIDDEN')
    t.strictSame(
      (
        await catalog.graphql('mutation ($id: String!) { revokeAccessToken(tokenId: $id) }', {
          id: record.id
        })
      ).data,
      { revokeAccessToken: true }
    )
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    t.equal((await reader.send('POST', '/api/graphql', { query: '{ __typename }' })).status, 401, 'revoked')
    const short = await createToken(db, {
      name: 's5 short',
      scopes: ['read'],
      expiresAt: new Date(Date.now() + 60_000)
    })
    await query(
      db,
      "update access_token set expires_at = now() - interval '1 second' where name = 's5 short'"
    )
    t.equal(
      (
        await catalogClient(catalog.url, short.token).send('POST', '/api/graphql', {
          query: '{ __typename }'
        })
      ).status,
      401,
      'expired'
    )
  }),

  row(
    'S7-r1: lineage on an absent dataset fails through every door and changes nothing',
    async (t, catalog) => {
      const [here, absent] = [datasetUrn('s7.here'), datasetUrn('s7.absent')]
      await catalog.make(here)
      const mutation = await catalog.updateLineage([[absent, here]])
      t.strictSame(
        [mutation.data, mutation.reason, mutation.urn, valueAt(mutation.json, 'errors.0.extensions.type')],
        [{ updateLineage: null }, 'MISSING_REFERENCE', absent, 'BAD_REQUEST']
      )
      const removal = await catalog.updateLineage([], [[absent, here]])
      t.strictSame([removal.reason, removal.urn], ['MISSING_REFERENCE', absent])
      const upstream = await catalog.propose(here, 'upstreamLineage', {
        upstreams: [{ dataset: absent, type: 'COPY' }]
      })
      t.strictSame(
        [upstream.status, valueAt(upstream.json, 'code'), valueAt(upstream.json, 'urn')],
        [422, 'MISSING_REFERENCE', absent]
      )
      const owner = await catalog.propose(absent, 'upstreamLineage', {
        upstreams: [{ dataset: here, type: 'COPY' }]
      })
      t.strictSame([owner.status, valueAt(owner.json, 'urn')], [422, absent])
      t.strictSame(
        (await catalog.graphql('query ($urn: String!) { entityExists(urn: $urn) }', { urn: absent })).data,
        { entityExists: false }
      )
      t.strictSame(await catalog.walk(here, 'UPSTREAM'), [])
    }
  ),

  row('S7-r2: success is true, or for createDomain the URN', async (t, catalog) => {
    const urn = datasetUrn('s7.success')
    await catalog.make(urn)
    const created = await catalog.graphql('mutation { createDomain(input: { id: "s7", name: "S7" }) }')
    t.strictSame(created.data, { createDomain: 'urn:li:domain:s7' })
    t.strictSame((await catalog.setDomain(urn, 'urn:li:domain:s7')).data, { setDomain: true })
    t.strictSame(
      (await catalog.graphql('mutation ($urn: String!) { unsetDomain(entityUrn: $urn) }', { urn })).data,
      { unsetDomain: true }
    )
    t.strictSame((await catalog.updateLineage([])).data, { updateLineage: true })
  }),

  row(
    'S7-gap-errors: an error has a message, a path, a numeric code, a type, our reason and the request id',
    async (t, catalog) => {
      const { status, json } = await catalog.graphql('query ($urn: String!) { dataset(urn: $urn) { urn } }', {
        urn: datasetUrn('s7.error')
      })
      t.equal(status, 200)
      t.strictSame(valueAt(json, 'data'), { dataset: null })
      t.strictSame(valueAt(json, 'errors.0.path'), ['dataset'])
      t.match(valueAt(json, 'errors.0.extensions'), {
        code: 404,
        type: 'NOT_FOUND',
        classification: 'DataFetchingException',
        reason: 'NOT_FOUND',
        requestId: /.+/
      })
      const rest = await catalog.readAspect(datasetUrn('s7.error'), 'upstreamLineage')
      t.strictSame(
        [rest.status, valueAt(rest.json, 'status'), valueAt(rest.json, 'code')],
        [404, 404, 'NOT_FOUND']
      )
    }
  ),

  row('S8-r1: an asset belongs to at most one domain at a time, through every door', async (t, catalog) => {
    const urn = datasetUrn('s8.one')
    const [one, two] = [
      await catalog.createDomain({ name: 'S8 one' }),
      await catalog.createDomain({ name: 'S8 two' })
    ]
    await catalog.make(urn)
    await catalog.setDomain(urn, one)
    const both = await catalog.propose(urn, 'domains', { domains: [one, two] })
    t.strictSame([both.status, valueAt(both.json, 'code')], [422, 'VALIDATION_FAILED'])
    await catalog.propose(urn, 'domains', { domains: [two] })
    t.strictSame(valueAt((await aspectOf(catalog, urn, 'domains'))[1], 'domains'), [two])
    const { data } = await catalog.graphql(
      'query ($urn: String!) { domain(urn: $urn) { entities(input: {}) { total } } }',
      { urn: one }
    )
    t.strictSame(data, { domain: { entities: { total: 0 } } }, 'it has left the other one')
  }),

  row(
    'S8-gap-limits: count, edges of a call and nesting of domains have limits, which errors name',
    async (t, catalog) => {
      const urn = datasetUrn('s8.limits')
      await catalog.make(urn)
      const said = (answer: { json: JsonValue; reason: JsonValue }): JsonValue[] => [
        answer.reason,
        valueAt(answer.json, 'errors.0.extensions.limit') ?? null,
        valueAt(answer.json, 'errors.0.extensions.maximum') ?? null
      ]
      t.strictSame(said(await catalog.scroll({ urn, direction: 'DOWNSTREAM', count: 10_001 })), [
        'LIMIT_EXCEEDED',
        'pageMaxCount',
        10_000
      ])
      t.strictSame(
        said(await catalog.updateLineage(Array.from({ length: 5_001 }, (): [string, string] => [urn, urn]))),
        ['LIMIT_EXCEEDED', 'edgesPerCallMaxCount', 5_000]
      )
      let parent = await catalog.createDomain({ id: 's8-level-1', name: 'S8 level 1' })
      for (let level = 2; level <= 50; level += 1)
        parent = await catalog.createDomain({
          id: `s8-level-${level}`,
          name: `S8 level ${level}`,
          parentDomain: parent
        })
      const deeper = await catalog.graphql(
        'mutation ($input: CreateDomainInput!) { createDomain(input: $input) }',
        { input: { name: 'S8 level 51', parentDomain: parent } }
      )
      t.strictSame(said(deeper), ['LIMIT_EXCEEDED', 'domainMaxDepth', 50])
    }
  )
]
