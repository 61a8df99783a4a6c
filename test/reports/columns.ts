/** Trials of reports about lineage between columns. */
import { deepEqual, equal } from 'node:assert/strict'
import type { JsonObject } from '../../shared/model/changes.ts'
import type { Trial } from './trial.ts'
import type { World } from './world.ts'

/** Columns are followed and returned. */
const columnsOnly: JsonObject = { foldColumns: false }

const schemaOf = (...names: string[]): JsonObject => ({
  schemaName: 'public',
  platform: 'urn:li:dataPlatform:hive',
  version: 0,
  hash: '',
  platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
  fields: names.map((fieldPath) => ({
    fieldPath,
    nullable: true,
    nativeDataType: 'int',
    type: { type: { 'com.linkedin.schema.NumberType': {} } }
  }))
})

const record = (upstreams: readonly string[], downstreams: readonly string[], more: JsonObject = {}) => ({
  upstreamType: 'FIELD_SET',
  upstreams: [...upstreams],
  downstreamType: downstreams.length > 1 ? 'FIELD_SET' : 'FIELD',
  downstreams: [...downstreams],
  confidenceScore: 1,
  ...more
})

const describe = async (world: World, name: string, ...columns: string[]): Promise<void> =>
  world.propose(world.table(name), 'schemaMetadata', schemaOf(...columns))

export const columnTrials: readonly Trial[] = [
  {
    reports: ['datahub-project/datahub 18636'],
    tried: 'A column edge that is read, removed, read, added again and read',
    answer: 'right',
    name: 'a read after the removal of a column edge does not have it, whatever was read before',
    run: async (world) => {
      const { table, column } = world
      await world.draw([[table('a'), table('b')]])
      const edge: [string, string] = [column('a', 'amount'), column('b', 'total')]
      for (const _ of [1, 2, 3]) {
        await world.update({ add: [edge] })
        deepEqual(await world.reached(edge[0], columnsOnly), ['b#total'])
        await world.update({ remove: [edge] })
        deepEqual(await world.reached(edge[0], columnsOnly), [])
      }
    }
  },
  {
    reports: ['datahub-project/datahub 19087'],
    tried: 'One hop of a column over OpenAPI and over GraphQL',
    answer: 'right',
    name: 'the scroll of lineage over OpenAPI has the edges of a column that GraphQL has',
    run: async (world) => {
      const { table, column, ask } = world
      await world.draw([
        [table('a'), table('b')],
        [column('a', 'email'), column('b', 'domain')]
      ])
      const { body } = await ask({
        method: 'POST',
        url: '/openapi/v3/lineage/scroll?direction=DOWNSTREAM&count=50',
        body: { urns: [column('a', 'email')] }
      })
      deepEqual(
        body.results.map((each: JsonObject) => JSON.stringify(each).includes(column('b', 'domain'))),
        [true]
      )
      deepEqual(await world.reached(column('a', 'email'), columnsOnly), ['b#domain'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 23809'],
    tried:
      'A column with four hops of columns behind it, downstream from the first and upstream from the last',
    answer: 'right',
    name: 'the columns that a column reaches are those of every hop, in both directions',
    run: async (world) => {
      const { table, column } = world
      const names = ['a', 'b', 'c', 'd', 'e']
      for (const [at, name] of names.entries()) {
        const next = names[at + 1]
        if (next === undefined) continue
        await world.draw([
          [table(name), table(next)],
          [column(name, 'id'), column(next, 'id')]
        ])
      }
      deepEqual(await world.reached(column('a', 'id'), columnsOnly), ['b#id', 'c#id', 'd#id', 'e#id'])
      deepEqual(await world.upstream(column('e', 'id'), columnsOnly), ['a#id', 'b#id', 'c#id', 'd#id'])
      deepEqual(await world.reached(table('a'), { columns: true, ...columnsOnly }), [
        'b#id',
        'c#id',
        'd#id',
        'e#id'
      ])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 14810'],
    tried: 'A column edge drawn by a person, between two snapshots of a source that knows other columns',
    answer: 'right',
    name: 'a snapshot of a source keeps the column edges that a person has drawn',
    run: async (world) => {
      const { table, column } = world
      const snapshot = `&source=${world.tag}&mode=snapshot`
      const known: [string, string][] = [
        [table('view_base'), table('view')],
        [column('view_base', 'id'), column('view', 'id')]
      ]
      await world.draw(known, snapshot)
      await world.update({ add: [[column('view_base', 'name'), column('view', 'label')]] })
      await world.draw(known, snapshot)
      deepEqual(await world.reached(column('view_base', 'name'), columnsOnly), ['view#label'])
      deepEqual(await world.reached(column('view_base', 'id'), columnsOnly), ['view#id'])
    }
  },
  {
    reports: ['datahub-project/datahub 18544'],
    tried: 'A column record with two upstreams and two downstreams, patched afterwards at another place',
    answer: 'right',
    name: 'a column record with several downstreams gives an edge for each pair, and outlives a patch',
    run: async (world) => {
      const { table, column } = world
      await world.propose(table('b'), 'upstreamLineage', {
        upstreams: [{ dataset: table('a'), type: 'TRANSFORMED' }],
        fineGrainedLineages: [
          record([column('a', 'x'), column('a', 'y')], [column('b', 'p'), column('b', 'q')])
        ]
      })
      await world.propose(
        table('b'),
        'upstreamLineage',
        [
          {
            op: 'add',
            path: `/upstreams/${table('c')}`,
            value: { dataset: table('c'), type: 'TRANSFORMED' }
          }
        ],
        'PATCH'
      )
      deepEqual(await world.reached(column('a', 'x'), columnsOnly), ['b#p', 'b#q'])
      deepEqual(await world.upstream(column('b', 'q'), columnsOnly), ['a#x', 'a#y'])
      deepEqual(await world.upstream(table('b')), ['a', 'c'])
    }
  },
  {
    reports: ['datahub-project/datahub 11956'],
    tried: 'Column records of a job, replaced by a second version of its aspect',
    answer: 'right',
    name: 'the column records of a job are those of its last aspect, and name the job as their way',
    run: async (world) => {
      const { table, column, job } = world
      const version = (from: string) => ({
        inputDatasets: [table('a')],
        outputDatasets: [table('b')],
        fineGrainedLineages: [record([column('a', from)], [column('b', 'z')])]
      })
      await world.propose(job('etl'), 'dataJobInfo', { name: 'etl', type: { string: 'SPARK' } })
      await world.propose(job('etl'), 'dataJobInputOutput', version('old'))
      await world.propose(job('etl'), 'dataJobInputOutput', version('new'))
      deepEqual(await world.upstream(column('b', 'z'), columnsOnly), ['a#new', 'job etl'])
    }
  },
  {
    reports: ['datahub-project/datahub 12146'],
    tried: 'Patches whose path has a slash within the name of the upstream, written as ~1, and its removal',
    answer: 'right',
    name: 'a patch names an upstream whose name has slashes and tildes by its escaped path',
    run: async (world) => {
      const { table } = world
      const upstream = table('bucket/year=2026/~tmp/part', 's3')
      const path = `/upstreams/${upstream.replaceAll('~', '~0').replaceAll('/', '~1')}`
      await world.load([{ op: 'upsertEntity', urn: table('b') }])
      await world.propose(
        table('b'),
        'upstreamLineage',
        [{ op: 'add', path, value: { dataset: upstream, type: 'COPY' } }],
        'PATCH'
      )
      deepEqual(await world.upstream(table('b')), ['bucket/year=2026/~tmp/part'])
      await world.propose(table('b'), 'upstreamLineage', [{ op: 'remove', path }], 'PATCH')
      deepEqual(await world.upstream(table('b')), [])
    }
  },
  {
    reports: ['datahub-project/datahub 10515'],
    tried: 'An ingestion that sends lineage as patches beside a description, a schema and a tag',
    answer: 'right',
    name: 'aspects that arrive beside a patch of lineage are all written',
    run: async (world) => {
      const { table } = world
      await world.propose(table('b'), 'datasetProperties', { description: 'Per day', customProperties: {} })
      await describe(world, 'b', 'id', 'total')
      const proposals = [
        {
          entityType: 'dataset',
          entityUrn: table('b'),
          changeType: 'UPSERT',
          aspectName: 'globalTags',
          aspect: { json: { tags: [{ tag: 'urn:li:tag:gold' }] } }
        },
        {
          entityType: 'dataset',
          entityUrn: table('b'),
          changeType: 'PATCH',
          aspectName: 'upstreamLineage',
          aspect: {
            json: [
              {
                op: 'add',
                path: `/upstreams/${table('a')}`,
                value: { dataset: table('a'), type: 'TRANSFORMED' }
              }
            ]
          }
        }
      ]
      const loaded = await world.load(JSON.stringify(proposals), '&format=mcp&missingReferences=create')
      equal(loaded.counts.rejected, 0)
      equal((await world.aspect(table('b'), 'datasetProperties')).description, 'Per day')
      equal((await world.aspect(table('b'), 'schemaMetadata')).fields.length, 2)
      equal((await world.aspect(table('b'), 'globalTags')).tags[0].tag, 'urn:li:tag:gold')
      deepEqual(await world.upstream(table('b')), ['a'])
    }
  },
  {
    reports: ['datahub-project/datahub 14509', 'OpenLineage/OpenLineage 3315'],
    tried: 'A column record that names a column which the schema of its table does not have',
    answer: 'right',
    name: 'a column that no schema has is followed as it was stated, and is not added to the schema',
    run: async (world) => {
      const { table, column } = world
      await describe(world, 'a', 'id')
      await describe(world, 'b', 'id')
      await world.update({
        add: [
          [column('a', 'id'), column('b', 'id')],
          [column('a', 'phantom'), column('b', 'id')]
        ]
      })
      deepEqual(await world.upstream(column('b', 'id'), columnsOnly), ['a#id', 'a#phantom'])
      const { fields } = await world.aspect(table('a'), 'schemaMetadata')
      deepEqual(
        fields.map(({ fieldPath }: { fieldPath: string }) => fieldPath),
        ['id']
      )
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 24246'],
    tried:
      'Columns on two platforms and in one domain, with filters by platform, degree and domain, in lists, with a time window and in an export',
    answer: 'mended',
    name: 'filters apply to what a walk over columns returns',
    run: async (world) => {
      const { table, column } = world
      const elsewhere = table('c', 'mysql')
      await world.draw([
        [table('a'), table('b')],
        [table('b'), elsewhere],
        [column('a', 'id'), column('b', 'id')],
        [column('b', 'id'), `urn:li:schemaField:(${elsewhere},id)`]
      ])
      const domain = await world.createDomain('Sales')
      await world.setDomain(domain, table('b'))
      const filtered = (field: string, ...values: string[]): JsonObject => ({
        orFilters: [{ and: [{ field, values }] }]
      })
      for (const more of [columnsOnly, {}]) {
        const suffix = more === columnsOnly ? '#id' : ''
        const start = column('a', 'id')
        deepEqual(
          await world.reached(start, { ...more, ...filtered('platform', 'urn:li:dataPlatform:mysql') }),
          [`c${suffix}`]
        )
        deepEqual(await world.reached(start, { ...more, ...filtered('degree', '1') }), [`b${suffix}`])
        // A time window is answered in SQL, all else in memory.
        for (const window of [{}, { startTimeMillis: 1 }])
          deepEqual(await world.reached(start, { ...more, ...window, ...filtered('domains', domain) }), [
            `b${suffix}`
          ])
      }
      const exported = new URLSearchParams({
        urn: table('a'),
        columns: 'true',
        format: 'ndjson',
        domain
      }).toString()
      const { text } = await world.ask({ url: `/lineage/export?${exported}` })
      deepEqual(
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).domain),
        [domain]
      )
      await world.load([{ op: 'unsetDomain', entityUrn: table('b') }])
      await world.setDomain(domain, elsewhere)
      deepEqual(await world.reached(column('a', 'id'), { ...columnsOnly, ...filtered('domains', domain) }), [
        'c#id'
      ])
    }
  },
  {
    reports: ['datahub-project/datahub 18791'],
    tried:
      'A column whose copy under another name is an input field of a chart, and the dashboard of the chart',
    answer: 'mended',
    name: 'the impact of a column reaches the charts and dashboards that show it, and no others',
    run: async (world) => {
      const { table, column, chart, dashboard } = world
      await world.draw([
        [table('raw'), table('daily')],
        [table('daily'), chart('shown')],
        [table('daily'), chart('other')],
        [chart('shown'), dashboard('board')],
        [column('raw', 'user_id'), column('daily', 'buyer_id')]
      ])
      const schemaField = {
        fieldPath: 'buyer',
        nullable: false,
        nativeDataType: 'string',
        type: { type: { 'com.linkedin.schema.StringType': {} } }
      }
      await world.propose(chart('shown'), 'inputFields', {
        fields: [{ schemaFieldUrn: column('daily', 'buyer_id'), schemaField }]
      })
      deepEqual(await world.reached(column('raw', 'user_id')), ['chart shown', 'daily', 'dashboard board'])
    }
  },
  {
    reports: ['datahub-project/datahub 19146'],
    tried: 'Counts upstream and downstream of columns that no schema has',
    answer: 'right',
    name: 'the neighbours of a column are counted, whether a schema has it or not',
    run: async (world) => {
      const { table, column } = world
      await world.draw([
        [table('a'), table('b')],
        [table('a'), table('c')],
        [column('a', 'x'), column('b', 'y')],
        [column('a', 'x'), column('c', 'z')],
        [column('a', 'w'), column('c', 'z')]
      ])
      const total = async (urn: string, direction: string): Promise<number> => {
        const { lineageCounts } = await world.read(
          'query ($input: LineageCountsInput!) { lineageCounts(input: $input) { total } }',
          { input: { urn, direction } }
        )
        return lineageCounts.total
      }
      equal(await total(column('a', 'x'), 'DOWNSTREAM'), 2)
      equal(await total(column('c', 'z'), 'UPSTREAM'), (await world.upstream(column('c', 'z'))).length)
    }
  }
]
