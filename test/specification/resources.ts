/** Sections 2.2 to 2.6: domains, their association with assets, edges, search results and the upstream lineage aspect. */
import type { Test } from 'tap'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import type { CatalogClient } from '../support/catalog-client.ts'
import { valueAt } from '../support/json-answer.ts'
import { columnUrn, datasetUrn, row, type SpecificationRow } from './row.ts'

const domainQuery =
  'query ($urn: String!) { domain(urn: $urn) { urn properties { name description } parentDomains { domains { urn } } } }'

/** Writes an upstreamLineage aspect on a new dataset and returns what is read back. */
const upstreamLineage = async (
  t: Test,
  catalog: CatalogClient,
  name: string,
  value: (upstream: string, owner: string) => JsonObject
): Promise<{ upstream: string; owner: string; aspect: JsonValue | undefined }> => {
  const [upstream, owner] = [datasetUrn(`s26.${name}_up`), datasetUrn(`s26.${name}`)]
  await catalog.make(upstream, owner)
  const written = await catalog.propose(owner, 'upstreamLineage', value(upstream, owner))
  t.equal(written.status, 200, 'written')
  const { json } = await catalog.readAspect(owner, 'upstreamLineage')
  return { upstream, owner, aspect: valueAt(json, 'aspect.com\\.linkedin\\.dataset\\.UpstreamLineage') }
}

const oneUpstream = (dataset: string, more: JsonObject = {}): JsonObject => ({
  upstreams: [{ dataset, type: 'TRANSFORMED', ...more }]
})

const oneRecord = (upstream: string, owner: string, more: JsonObject = {}): JsonObject => ({
  upstreams: [{ dataset: upstream, type: 'TRANSFORMED' }],
  fineGrainedLineages: [
    {
      upstreamType: 'FIELD_SET',
      upstreams: [columnUrn(upstream, 'a'), columnUrn(upstream, 'b')],
      downstreamType: 'FIELD',
      downstreams: [columnUrn(owner, 'c')],
      ...more
    }
  ]
})

export const resourceRows: SpecificationRow[] = [
  row('S2.2-urn: creation returns the URN that reads return', async (t, catalog) => {
    const urn = await catalog.createDomain({ name: 'S2.2 urn' })
    t.strictSame(
      (await catalog.graphql('query ($urn: String!) { domain(urn: $urn) { urn type } }', { urn })).data,
      { domain: { urn, type: 'DOMAIN' } }
    )
  }),

  row('S2.2-name: the display name is properties.name', async (t, catalog) => {
    const urn = await catalog.createDomain({ name: '  S2.2 Näme  ' })
    t.equal(
      valueAt((await catalog.graphql(domainQuery, { urn })).data, 'domain.properties.name'),
      'S2.2 Näme'
    )
  }),

  row('S2.2-description: the description is free text, and optional', async (t, catalog) => {
    const described = await catalog.createDomain({ name: 'S2.2 described', description: 'Lines\nof *text*' })
    const bare = await catalog.createDomain({ name: 'S2.2 bare' })
    t.equal(
      valueAt((await catalog.graphql(domainQuery, { urn: described })).data, 'domain.properties.description'),
      'Lines\nof *text*'
    )
    t.equal(
      valueAt((await catalog.graphql(domainQuery, { urn: bare })).data, 'domain.properties.description'),
      null
    )
  }),

  row('S2.2-parentDomain: parentDomain makes the new domain a child, and is optional', async (t, catalog) => {
    const parent = await catalog.createDomain({ name: 'S2.2 parent' })
    const child = await catalog.createDomain({ name: 'S2.2 child', parentDomain: parent })
    t.strictSame(
      valueAt((await catalog.graphql(domainQuery, { urn: child })).data, 'domain.parentDomains.domains'),
      [{ urn: parent }]
    )
    t.strictSame(
      valueAt((await catalog.graphql(domainQuery, { urn: parent })).data, 'domain.parentDomains.domains'),
      []
    )
    const { data } = await catalog.graphql(
      'query ($input: ListDomainsInput!) { listDomains(input: $input) { total domains { urn } } }',
      { input: { parentDomain: parent } }
    )
    t.strictSame(data, { listDomains: { total: 1, domains: [{ urn: child }] } })
  }),

  row(
    'S2.2-proposal: the aspect domainProperties contains name, description and parentDomain',
    async (t, catalog) => {
      const parent = await catalog.createDomain({ id: 's22-proposal-parent', name: 'S2.2 proposal parent' })
      await catalog.createDomain({
        id: 's22-proposal',
        name: 'S2.2 proposal',
        description: 'text',
        parentDomain: parent
      })
      const { json } = await catalog.readAspect('urn:li:domain:s22-proposal', 'domainProperties')
      const aspect = valueAt(json, 'aspect.com\\.linkedin\\.domain\\.DomainProperties')
      t.strictSame(
        [valueAt(aspect, 'name'), valueAt(aspect, 'description'), valueAt(aspect, 'parentDomain')],
        ['S2.2 proposal', 'text', parent]
      )
    }
  ),

  row('S2.3-associatedUrn: the association names the asset that carries it', async (t, catalog) => {
    const asset = datasetUrn('s23.associated')
    await catalog.make(asset)
    await catalog.setDomain(asset, await catalog.createDomain({ name: 'S2.3 associated' }))
    t.strictSame(
      (
        await catalog.graphql('query ($urn: String!) { dataset(urn: $urn) { domain { associatedUrn } } }', {
          urn: asset
        })
      ).data,
      { dataset: { domain: { associatedUrn: asset } } }
    )
  }),

  row('S2.3-domainUrn: the association names the domain', async (t, catalog) => {
    const asset = 'urn:li:chart:(looker,s23_domain)'
    const domain = await catalog.createDomain({ name: 'S2.3 urn' })
    await catalog.make(asset)
    await catalog.setDomain(asset, domain)
    t.strictSame(
      (
        await catalog.graphql('query ($urn: String!) { chart(urn: $urn) { domain { domain { urn } } } }', {
          urn: asset
        })
      ).data,
      { chart: { domain: { domain: { urn: domain } } } }
    )
  }),

  row("S2.3-domainName: the association shows the domain's name", async (t, catalog) => {
    const asset = datasetUrn('s23.name')
    await catalog.make(asset)
    await catalog.setDomain(asset, await catalog.createDomain({ name: 'S2.3 the name' }))
    t.strictSame(
      (
        await catalog.graphql(
          'query ($urn: String!) { dataset(urn: $urn) { domain { domain { properties { name } } } } }',
          { urn: asset }
        )
      ).data,
      { dataset: { domain: { domain: { properties: { name: 'S2.3 the name' } } } } }
    )
  }),

  row('S2.3-aspect: the association is the aspect domains', async (t, catalog) => {
    const asset = datasetUrn('s23.aspect')
    const domain = await catalog.createDomain({ name: 'S2.3 aspect' })
    await catalog.make(asset)
    const written = await catalog.propose(asset, 'domains', { domains: [domain] })
    t.equal(written.status, 200)
    t.equal(
      valueAt(
        (
          await catalog.graphql(
            'query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }',
            { urn: asset }
          )
        ).data,
        'dataset.domain.domain.urn'
      ),
      domain
    )
  }),

  row('S2.4-downstreamUrn: the downstream is the asset that depends', async (t, catalog) => {
    const [up, down] = [datasetUrn('s24.down_of'), datasetUrn('s24.down')]
    await catalog.make(up, down)
    await catalog.updateLineage([[up, down]])
    t.strictSame(await catalog.walk(up, 'DOWNSTREAM'), [`1 ${down}`])
    t.strictSame(await catalog.walk(down, 'DOWNSTREAM'), [])
  }),

  row('S2.4-upstreamUrn: the upstream is the asset it is derived from', async (t, catalog) => {
    const [up, down] = [datasetUrn('s24.up'), datasetUrn('s24.up_of')]
    await catalog.make(up, down)
    await catalog.updateLineage([[up, down]])
    t.strictSame(await catalog.walk(down, 'UPSTREAM'), [`1 ${up}`])
    t.strictSame(await catalog.walk(up, 'UPSTREAM'), [])
  }),

  row('S2.5-degree: degree is the smallest number of hops', async (t, catalog) => {
    const [a, b, c, d] = [datasetUrn('s25.a'), datasetUrn('s25.b'), datasetUrn('s25.c'), datasetUrn('s25.d')]
    await catalog.make(a, b, c, d)
    await catalog.updateLineage([
      [a, b],
      [b, c],
      [c, d],
      [a, c]
    ])
    t.strictSame(await catalog.walk(a), [`1 ${b}`, `1 ${c}`, `2 ${d}`])
    t.strictSame(await catalog.walk(d, 'UPSTREAM'), [`1 ${c}`, `2 ${a}`, `2 ${b}`].sort())
  }),

  row('S2.5-urn: a result names the entity that is reached', async (t, catalog) => {
    const [a, b] = [datasetUrn('s25.urn_a'), datasetUrn('s25.urn_b')]
    await catalog.make(a, b)
    await catalog.updateLineage([[a, b]])
    t.equal(
      valueAt(
        (await catalog.scroll({ urn: a, direction: 'DOWNSTREAM' })).data,
        'scrollAcrossLineage.searchResults.0.entity.urn'
      ),
      b
    )
  }),

  row('S2.5-type: a result has its type, including DATA_JOB and MLPRIMARY_KEY', async (t, catalog) => {
    const start = datasetUrn('s25.types')
    const ends = [
      'urn:li:dataJob:(urn:li:dataFlow:(airflow,s25,PROD),job)',
      'urn:li:mlPrimaryKey:(s25,key)',
      'urn:li:chart:(looker,s25)',
      'urn:li:dashboard:(looker,s25)'
    ]
    await catalog.make(start, ...ends)
    await catalog.updateLineage(ends.map((end): [string, string] => [start, end]))
    const { data } = await catalog.scroll({ urn: start, direction: 'DOWNSTREAM' })
    const results = valueAt(data, 'scrollAcrossLineage.searchResults')
    t.strictSame(
      Array.isArray(results)
        ? results.map((result) => String(valueAt(result, 'entity.type'))).sort()
        : results,
      ['CHART', 'DASHBOARD', 'DATA_JOB', 'MLPRIMARY_KEY']
    )
  }),

  row(
    'S2.6-upstreams: upstreams is the list of dataset lineage, in the order written',
    async (t, catalog) => {
      const second = datasetUrn('s26.second')
      await catalog.make(second)
      const { aspect, owner, upstream } = await upstreamLineage(t, catalog, 'upstreams', (up) => ({
        upstreams: [
          { dataset: second, type: 'COPY' },
          { dataset: up, type: 'VIEW' }
        ]
      }))
      const list = valueAt(aspect, 'upstreams')
      t.strictSame(Array.isArray(list) ? list.map((entry) => valueAt(entry, 'dataset') ?? null) : list, [
        second,
        upstream
      ])
      t.strictSame(
        await catalog.walk(owner, 'UPSTREAM'),
        [`1 ${second}`, `1 ${upstream}`].sort(),
        'the same edges are walked'
      )
    }
  ),

  row(
    'S2.6-dataset: upstreams[].dataset is the upstream dataset, and nothing but a dataset',
    async (t, catalog) => {
      const { aspect, upstream, owner } = await upstreamLineage(t, catalog, 'dataset', (up) =>
        oneUpstream(up)
      )
      t.equal(valueAt(aspect, 'upstreams.0.dataset'), upstream)
      const refused = await catalog.propose(
        owner,
        'upstreamLineage',
        oneUpstream('urn:li:chart:(looker,s26)')
      )
      t.strictSame([refused.status, valueAt(refused.json, 'code')], [422, 'VALIDATION_FAILED'])
    }
  ),

  row('S2.6-type: upstreams[].type is TRANSFORMED, COPY or VIEW', async (t, catalog) => {
    for (const type of ['TRANSFORMED', 'COPY', 'VIEW']) {
      const { aspect } = await upstreamLineage(t, catalog, `type_${type}`, (up) => oneUpstream(up, { type }))
      t.equal(valueAt(aspect, 'upstreams.0.type'), type)
    }
    const owner = datasetUrn('s26.type_bad')
    await catalog.make(owner)
    const refused = await catalog.propose(owner, 'upstreamLineage', oneUpstream(owner, { type: 'GUESSED' }))
    t.strictSame([refused.status, valueAt(refused.json, 'code')], [422, 'VALIDATION_FAILED'])
  }),

  row(
    'S2.6-auditStamp: an absent auditStamp reads back as time 0 and the unknown user, a given one as sent',
    async (t, catalog) => {
      const absent = await upstreamLineage(t, catalog, 'stamp_absent', (up) => oneUpstream(up))
      t.strictSame(valueAt(absent.aspect, 'upstreams.0.auditStamp'), {
        time: 0,
        actor: 'urn:li:corpuser:unknown'
      })
      const stamp = {
        time: 1700000000000,
        actor: 'urn:li:corpuser:jdoe',
        impersonator: 'urn:li:corpuser:admin',
        message: 'by hand'
      }
      const given = await upstreamLineage(t, catalog, 'stamp_given', (up) =>
        oneUpstream(up, { auditStamp: stamp })
      )
      t.strictSame(valueAt(given.aspect, 'upstreams.0.auditStamp'), stamp)
    }
  ),

  row(
    'S2.6-created: an absent created is absent in the read-back, which clients read as null',
    async (t, catalog) => {
      const { aspect } = await upstreamLineage(t, catalog, 'created', (up) =>
        oneUpstream(up, { created: null })
      )
      t.equal(valueAt(aspect, 'upstreams.0.created'), undefined)
      t.ok(valueAt(aspect, 'upstreams.0.dataset'), 'the upstream is there')
    }
  ),

  row('S2.6-properties: properties are absent if not given, and read back if given', async (t, catalog) => {
    const absent = await upstreamLineage(t, catalog, 'properties_absent', (up) =>
      oneUpstream(up, { properties: null })
    )
    t.strictSame(Object.keys(Object(valueAt(absent.aspect, 'upstreams.0'))).sort(), [
      'auditStamp',
      'dataset',
      'type'
    ])
    const given = await upstreamLineage(t, catalog, 'properties_given', (up) =>
      oneUpstream(up, { properties: { tool: 'hand' } })
    )
    t.strictSame(valueAt(given.aspect, 'upstreams.0.properties'), { tool: 'hand' })
  }),

  row(
    'S2.6-query: the query of an upstream is absent if not given, and read back if given',
    async (t, catalog) => {
      const absent = await upstreamLineage(t, catalog, 'query_absent', (up) =>
        oneUpstream(up, { query: null })
      )
      t.equal(valueAt(absent.aspect, 'upstreams.0.query'), undefined)
      const given = await upstreamLineage(t, catalog, 'query_given', (up) =>
        oneUpstream(up, { query: 'urn:li:query:s26' })
      )
      t.equal(valueAt(given.aspect, 'upstreams.0.query'), 'urn:li:query:s26')
    }
  ),

  row('S2.6-fineGrainedLineages: column records are read back as written, and walked', async (t, catalog) => {
    const { aspect, upstream, owner } = await upstreamLineage(t, catalog, 'fine', oneRecord)
    t.strictSame(valueAt(aspect, 'fineGrainedLineages'), [
      {
        upstreamType: 'FIELD_SET',
        upstreams: [columnUrn(upstream, 'a'), columnUrn(upstream, 'b')],
        downstreamType: 'FIELD',
        downstreams: [columnUrn(owner, 'c')],
        confidenceScore: 1
      }
    ])
    const columns = { foldColumns: false }
    t.strictSame(await catalog.walk(columnUrn(owner, 'c'), 'UPSTREAM', columns), [
      `1 ${columnUrn(upstream, 'a')}`,
      `1 ${columnUrn(upstream, 'b')}`
    ])
  }),

  row('S2.6-upstreamType: upstreamType is FIELD_SET, DATASET or NONE', async (t, catalog) => {
    const { aspect } = await upstreamLineage(t, catalog, 'upstream_type', (up, owner) =>
      oneRecord(up, owner, { upstreamType: 'FIELD_SET' })
    )
    t.equal(valueAt(aspect, 'fineGrainedLineages.0.upstreamType'), 'FIELD_SET')
    const owner = datasetUrn('s26.upstream_type')
    const refused = await catalog.propose(
      owner,
      'upstreamLineage',
      oneRecord(owner, owner, { upstreamType: 'COLUMNS' })
    )
    t.strictSame([refused.status, valueAt(refused.json, 'code')], [422, 'VALIDATION_FAILED'])
  }),

  row('S2.6-fineUpstreams: the source columns of a record keep their order', async (t, catalog) => {
    const { aspect, upstream } = await upstreamLineage(t, catalog, 'fine_upstreams', (up, owner) =>
      oneRecord(up, owner, { upstreams: [columnUrn(up, 'z'), columnUrn(up, 'a')] })
    )
    t.strictSame(valueAt(aspect, 'fineGrainedLineages.0.upstreams'), [
      columnUrn(upstream, 'z'),
      columnUrn(upstream, 'a')
    ])
  }),

  row('S2.6-downstreamType: downstreamType is FIELD or FIELD_SET', async (t, catalog) => {
    const { aspect } = await upstreamLineage(t, catalog, 'downstream_type', (up, owner) =>
      oneRecord(up, owner, { downstreamType: 'FIELD_SET' })
    )
    t.equal(valueAt(aspect, 'fineGrainedLineages.0.downstreamType'), 'FIELD_SET')
    const owner = datasetUrn('s26.downstream_type')
    const refused = await catalog.propose(
      owner,
      'upstreamLineage',
      oneRecord(owner, owner, { downstreamType: 'DATASET' })
    )
    t.strictSame([refused.status, valueAt(refused.json, 'code')], [422, 'VALIDATION_FAILED'])
  }),

  row('S2.6-fineDownstreams: every target column of a record is lineage', async (t, catalog) => {
    const { aspect, upstream, owner } = await upstreamLineage(t, catalog, 'fine_downstreams', (up, own) =>
      oneRecord(up, own, {
        downstreamType: 'FIELD_SET',
        downstreams: [columnUrn(own, 'd'), columnUrn(own, 'c')]
      })
    )
    t.strictSame(valueAt(aspect, 'fineGrainedLineages.0.downstreams'), [
      columnUrn(owner, 'd'),
      columnUrn(owner, 'c')
    ])
    const columns = { foldColumns: false }
    t.strictSame((await catalog.walk(columnUrn(upstream, 'a'), 'DOWNSTREAM', columns)).sort(), [
      `1 ${columnUrn(owner, 'c')}`,
      `1 ${columnUrn(owner, 'd')}`
    ])
  }),

  row(
    'S2.6-transformOperation: transformOperation is absent if not given, and read back if given',
    async (t, catalog) => {
      const absent = await upstreamLineage(t, catalog, 'operation_absent', (up, owner) =>
        oneRecord(up, owner, { transformOperation: null })
      )
      t.equal(valueAt(absent.aspect, 'fineGrainedLineages.0.transformOperation'), undefined)
      const given = await upstreamLineage(t, catalog, 'operation_given', (up, owner) =>
        oneRecord(up, owner, { transformOperation: 'CONCAT' })
      )
      t.equal(valueAt(given.aspect, 'fineGrainedLineages.0.transformOperation'), 'CONCAT')
    }
  ),

  row(
    'S2.6-confidenceScore: confidenceScore is 1 if not given, and read back if given',
    async (t, catalog) => {
      const absent = await upstreamLineage(t, catalog, 'confidence_absent', oneRecord)
      t.equal(valueAt(absent.aspect, 'fineGrainedLineages.0.confidenceScore'), 1)
      const given = await upstreamLineage(t, catalog, 'confidence_given', (up, owner) =>
        oneRecord(up, owner, { confidenceScore: 0.5 })
      )
      t.equal(valueAt(given.aspect, 'fineGrainedLineages.0.confidenceScore'), 0.5)
    }
  ),

  row(
    'S2.6-fineQuery: the query of a column record is absent if not given, and read back if given',
    async (t, catalog) => {
      const absent = await upstreamLineage(t, catalog, 'fine_query_absent', (up, owner) =>
        oneRecord(up, owner, { query: null })
      )
      t.equal(valueAt(absent.aspect, 'fineGrainedLineages.0.query'), undefined)
      const given = await upstreamLineage(t, catalog, 'fine_query_given', (up, owner) =>
        oneRecord(up, owner, { query: 'urn:li:query:s26' })
      )
      t.equal(valueAt(given.aspect, 'fineGrainedLineages.0.query'), 'urn:li:query:s26')
    }
  ),

  row('S2.6-others: the lineage aspects of other assets are walked as well', async (t, catalog) => {
    const source = datasetUrn('s26.others')
    const [key, feature, model] = [
      'urn:li:mlPrimaryKey:(s26,key)',
      'urn:li:mlFeature:(s26,feature)',
      'urn:li:mlModel:(urn:li:dataPlatform:mlflow,s26,PROD)'
    ]
    const chart = 'urn:li:chart:(looker,s26_columns)'
    await catalog.make(source, model, chart)
    t.equal((await catalog.propose(key, 'mlPrimaryKeyProperties', { sources: [source] })).status, 200)
    t.equal((await catalog.propose(feature, 'mlFeatureProperties', { sources: [source] })).status, 200)
    t.equal((await catalog.propose(model, 'mlModelProperties', { mlFeatures: [feature] })).status, 200)
    t.strictSame(await catalog.walk(source), [`1 ${feature}`, `1 ${key}`, `2 ${model}`])
    const field = {
      schemaFieldUrn: columnUrn(source, 'a'),
      schemaField: {
        fieldPath: 'total',
        nullable: false,
        type: { type: { 'com.linkedin.schema.NumberType': {} } },
        nativeDataType: 'int'
      }
    }
    t.equal((await catalog.propose(chart, 'inputFields', { fields: [field] })).status, 200)
    t.strictSame(await catalog.walk(columnUrn(source, 'a')), [`1 ${chart}`], 'inputFields')
  }),

  row(
    'S2-gap-enumerations: values that the specification does not list are those of DataHub',
    async (t, catalog) => {
      const { data } = await catalog.graphql(
        '{ direction: __type(name: "LineageDirection") { enumValues { name } } type: __type(name: "EntityType") { enumValues { name } } }'
      )
      const names = (path: string): string[] => {
        const values = valueAt(data, path)
        return Array.isArray(values) ? values.map((value) => String(valueAt(value, 'name'))) : []
      }
      t.strictSame(names('direction.enumValues').sort(), ['DOWNSTREAM', 'UPSTREAM'])
      const known = names('type.enumValues')
      const wanted = [
        'DOMAIN',
        'DATASET',
        'DATA_JOB',
        'DATA_FLOW',
        'CHART',
        'DASHBOARD',
        'MLMODEL',
        'MLFEATURE',
        'MLPRIMARY_KEY',
        'SCHEMA_FIELD',
        'CORP_USER',
        'OTHER'
      ]
      t.strictSame(
        wanted.filter((name) => !known.includes(name)),
        []
      )
    }
  ),

  row(
    'S2-gap-limits: an error names the limit of a name, description or URN that is exceeded',
    async (t, catalog) => {
      const create = (input: JsonObject) =>
        catalog.graphql('mutation ($input: CreateDomainInput!) { createDomain(input: $input) }', { input })
      const name = await create({ name: 'x'.repeat(256) })
      t.strictSame([name.reason, valueAt(name.json, 'errors.0.extensions.maximum')], ['LIMIT_EXCEEDED', 255])
      const description = await create({ name: 'S2 limits', description: 'x'.repeat(65_537) })
      t.strictSame(
        [description.reason, valueAt(description.json, 'errors.0.extensions.maximum')],
        ['LIMIT_EXCEEDED', 65_536]
      )
      const urn = await catalog.graphql('query ($urn: String!) { dataset(urn: $urn) { urn } }', {
        urn: datasetUrn('x'.repeat(1024))
      })
      t.strictSame([urn.reason, valueAt(urn.json, 'errors.0.extensions.maximum')], ['LIMIT_EXCEEDED', 1024])
    }
  )
]
