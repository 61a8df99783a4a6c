/** Trials of reports about OpenLineage events and Marquez' reads. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { eventAt, facet } from '../support/openlineage.ts'
import type { Trial } from './trial.ts'
import type { World } from './world.ts'

const namespace = 'postgres://db:5432'
const hive = 'hive://metastore:9083'

/** A dataset of an event; `name` is short. */
const data = (world: World, name: string, facets: JsonObject = {}): JsonObject => ({
  namespace,
  name: `${world.tag}.${name}`,
  facets
})

const runIdOf = (at: number): string => `0193f2a4-8f0e-7000-8000-${String(at).padStart(12, '0')}`

let runs = 0
const newRun = (): string => runIdOf((runs += 1) + (Date.now() % 1_000_000) * 1_000)

type Run = { id?: string; job?: string; facets?: JsonObject; jobFacets?: JsonObject; jobNamespace?: string }

const jobOf = (world: World, { job = 'load', jobFacets = {}, jobNamespace }: Run): JsonObject => ({
  namespace: jobNamespace ?? world.tag,
  name: `flow.${job}`,
  facets: {
    jobType: facet({ processingType: 'BATCH', integration: 'AIRFLOW', jobType: 'TASK' }),
    ...jobFacets
  }
})

const event = (
  world: World,
  seconds: number,
  eventType: string,
  content: JsonObject,
  run: Run = {}
): JsonObject =>
  eventAt(seconds, {
    eventType,
    run: { runId: run.id ?? newRun(), facets: run.facets ?? {} },
    job: jobOf(world, run),
    ...content
  })

const table = (world: World, name: string): string => world.table(name, 'postgres')
const column = (world: World, name: string, field: string): string =>
  `urn:li:schemaField:(${table(world, name)},${field})`

const jobUrn = (world: World, job = 'load'): string =>
  `urn:li:dataJob:(urn:li:dataFlow:(airflow,flow,${world.tag}),flow.${job})`

const columnLineage = (
  world: World,
  fields: { [field: string]: readonly (readonly [table: string, field: string])[] }
): JsonObject => ({
  columnLineage: facet({
    fields: Object.fromEntries(
      Object.entries(fields).map(([field, inputs]) => [
        field,
        {
          inputFields: inputs.map(([name, from]) => ({
            namespace,
            name: `${world.tag}.${name}`,
            field: from,
            transformations: [{ type: 'DIRECT', subtype: 'IDENTITY' }]
          }))
        }
      ])
    )
  })
})

const schema = (...names: string[]): JsonObject => ({
  schema: facet({ fields: names.map((name) => ({ name, type: 'int' })) })
})

/** A GET of Marquez' API; throws if it is not answered. */
async function marquez(world: World, path: string, parameters: { [name: string]: string } = {}) {
  const query = new URLSearchParams(parameters).toString()
  const { status, body, text } = await world.ask({
    url: `/api/v1/${path}${query === '' ? '' : `?${query}`}`
  })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body
}

const withoutJobs = (names: readonly string[]): string[] => names.filter((name) => !name.startsWith('job '))

export const openLineageTrials: readonly Trial[] = [
  {
    reports: ['datahub-project/datahub 13854'],
    tried: 'START with all datasets, RUNNING with only an output, and COMPLETE with none',
    answer: 'right',
    name: 'a later event of a run that names fewer datasets takes no edge away',
    run: async (world) => {
      const id = newRun()
      await world.send(
        event(world, 1, 'START', { inputs: [data(world, 'a')], outputs: [data(world, 'b')] }, { id })
      )
      await world.send(event(world, 2, 'RUNNING', { inputs: [], outputs: [data(world, 'b')] }, { id }))
      await world.send(event(world, 3, 'COMPLETE', {}, { id }))
      deepEqual(await world.reached(table(world, 'a')), ['b', 'job flow.load'])
    }
  },
  {
    reports: ['datahub-project/datahub 15196'],
    tried: 'An event with a job and no run, with a stray type, an offset of ten hours and nanoseconds',
    answer: 'right',
    name: 'a job event declares the inputs and outputs of a job that never ran',
    run: async (world) => {
      await world.send({
        ...eventAt(0, {
          job: jobOf(world, {}),
          inputs: [data(world, 'a', schema('id'))],
          outputs: [data(world, 'b')]
        }),
        eventType: 'OTHER',
        eventTime: '2026-01-03T19:52:00.001000001+10:00'
      })
      deepEqual(await world.reached(table(world, 'a')), ['b', 'job flow.load'])
      deepEqual((await world.aspect(table(world, 'a'), 'schemaMetadata')).fields[0].fieldPath, 'id')
    }
  },
  {
    reports: ['datahub-project/datahub 19736'],
    tried: 'An event with a dataset alone, with its columns and where they come from',
    answer: 'right',
    name: 'a dataset event states columns and lineage without a job or a run',
    run: async (world) => {
      await world.send(
        eventAt(0, {
          dataset: data(world, 'b', {
            ...schema('total'),
            ...columnLineage(world, { total: [['a', 'amount']] })
          })
        })
      )
      deepEqual(await world.upstream(table(world, 'b')), ['a'])
      deepEqual(await world.upstream(column(world, 'b', 'total'), { foldColumns: false }), ['a#amount'])
    }
  },
  {
    reports: ['MarquezProject/marquez 2806', 'MarquezProject/marquez 2921'],
    tried:
      'Lineage of tables and of columns by node ids, where namespaces of job and dataset have colons and slashes',
    answer: 'right',
    name: 'a node id may have colons, slashes and ports in its namespace',
    run: async (world) => {
      const jobNamespace = `trino://${world.tag}:1337`
      await world.send(
        event(
          world,
          1,
          'COMPLETE',
          {
            inputs: [data(world, 'a')],
            outputs: [data(world, 'b', columnLineage(world, { y: [['a', 'x']] }))]
          },
          { jobNamespace }
        )
      )
      for (const nodeId of [`job:${jobNamespace}:flow.load`, `dataset:${namespace}:${world.tag}.a`]) {
        const { graph } = await marquez(world, 'lineage', { nodeId })
        equal(graph.length, 3, nodeId)
      }
      const { graph } = await marquez(world, 'column-lineage', {
        nodeId: `datasetField:${namespace}:${world.tag}.b:y`
      })
      ok(graph.some(({ id }: { id: string }) => id === `datasetField:${namespace}:${world.tag}.a:x`))
    }
  },
  {
    reports: ['MarquezProject/marquez 2866', 'MarquezProject/marquez 2984'],
    tried:
      'Jobs whose names have slashes, a plus, a space, a percent sign and an umlaut, read by path and by node id',
    answer: 'right',
    name: 'a job is read by its encoded name, whatever characters are in it',
    run: async (world) => {
      for (const job of ['my/session/step', 'a+b', 'a b', '50%', 'Käse', 'x:y#z?']) {
        await world.send(
          event(world, 1, 'COMPLETE', { inputs: [data(world, 'a')], outputs: [data(world, 'b')] }, { job })
        )
        const name = `flow.${job}`
        const read = await marquez(
          world,
          `namespaces/${encodeURIComponent(world.tag)}/jobs/${encodeURIComponent(name)}`
        )
        equal(read.name, name)
        const { graph } = await marquez(world, 'lineage', { nodeId: `job:${world.tag}:${name}`, depth: '1' })
        ok(
          graph.some(({ data: { name: found } }: { data: { name: string } }) => found === name),
          name
        )
      }
    }
  },
  {
    reports: ['MarquezProject/marquez 2775'],
    tried: 'A table with a path as its symlink and with column lineage, in the list of its namespace',
    answer: 'right',
    name: 'a dataset with a symlink and column lineage is listed, once',
    run: async (world) => {
      const path = { namespace: 's3://lake', name: `${world.tag}/b` }
      await world.send(
        event(world, 1, 'COMPLETE', {
          inputs: [data(world, 'a')],
          outputs: [
            {
              ...path,
              facets: {
                symlinks: facet({
                  identifiers: [{ namespace, name: `${world.tag}.b`, type: 'TABLE' }]
                }),
                ...columnLineage(world, { y: [['a', 'x']] })
              }
            }
          ]
        })
      )
      deepEqual(await world.reached(column(world, 'a', 'x'), { foldColumns: false }), [
        'b#y',
        'job flow.load'
      ])
      const { datasets } = await marquez(world, `namespaces/${encodeURIComponent(namespace)}/datasets`, {
        limit: '1000'
      })
      equal(datasets.filter(({ name }: { name: string }) => name === `${world.tag}.b`).length, 1)
    }
  },
  {
    reports: ['MarquezProject/marquez 2933', 'apache/airflow 46915'],
    tried: 'A run that has started, then one that failed, then a START that arrives after its FAIL',
    answer: 'right',
    name: 'the last run of a job is the one that runs, and an event out of order does not revive a failed one',
    run: async (world) => {
      const lastRun = async (): Promise<string[]> => {
        const { dataJob } = await world.read(
          'query ($urn: String!) { dataJob(urn: $urn) { lastRun { state run { urn } } } }',
          { urn: jobUrn(world) }
        )
        return [dataJob.lastRun.state, dataJob.lastRun.run.urn]
      }
      const runUrn = (id: string): string => `urn:li:dataProcessInstance:${id}`
      const inputs = { inputs: [data(world, 'a')], outputs: [data(world, 'b')] }
      const [first, second, third] = [newRun(), newRun(), newRun()]
      await world.send(event(world, 1, 'START', inputs, { id: first }))
      await world.send(event(world, 2, 'COMPLETE', inputs, { id: first }))
      await world.send(event(world, 3, 'START', inputs, { id: second }))
      deepEqual(await lastRun(), ['RUNNING', runUrn(second)])
      await world.send(event(world, 4, 'FAIL', {}, { id: second }))
      deepEqual(await lastRun(), ['FAIL', runUrn(second)])
      await world.send(event(world, 6, 'FAIL', {}, { id: third }))
      await world.send(event(world, 5, 'START', inputs, { id: third }))
      deepEqual(await lastRun(), ['FAIL', runUrn(third)])
    }
  },
  {
    reports: ['OpenLineage/OpenLineage 3529'],
    tried: 'One table three times among the inputs of an event, and the same event twice',
    answer: 'right',
    name: 'a dataset that an event names several times is one input',
    run: async (world) => {
      const sent = event(world, 1, 'COMPLETE', {
        inputs: [data(world, 'a'), data(world, 'a', schema('id')), data(world, 'a')],
        outputs: [data(world, 'b')]
      })
      await world.send(sent)
      await world.send(sent)
      const { inputDatasetEdges, inputDatasets } = await world.aspect(jobUrn(world), 'dataJobInputOutput')
      equal((inputDatasetEdges ?? inputDatasets).length, 1)
      equal((await world.walk(jobUrn(world), { direction: 'UPSTREAM' })).total, 1)
    }
  },
  {
    reports: ['OpenLineage/OpenLineage 4944'],
    tried: 'Column lineage from single files, of an event whose input is their folder',
    answer: 'right',
    name: 'columns of datasets that are not among the inputs are followed',
    run: async (world) => {
      await world.send(
        event(world, 1, 'COMPLETE', {
          inputs: [data(world, 'folder')],
          outputs: [
            data(
              world,
              'b',
              columnLineage(world, {
                id: [
                  ['folder/part-0', 'id'],
                  ['folder/part-1', 'id']
                ]
              })
            )
          ]
        })
      )
      deepEqual(await world.upstream(column(world, 'b', 'id'), { foldColumns: false }), [
        'folder/part-0#id',
        'folder/part-1#id',
        'job flow.load'
      ])
      deepEqual(withoutJobs(await world.upstream(table(world, 'b'))), ['folder'])
    }
  },
  {
    reports: ['OpenLineage/OpenLineage 3942'],
    tried: 'A merge whose target is also one of its inputs, with columns from itself',
    answer: 'right',
    name: 'a table that a job reads and writes is in the lineage of others once, and not in its own',
    run: async (world) => {
      await world.send(
        event(world, 1, 'COMPLETE', {
          inputs: [data(world, 'source'), data(world, 'target')],
          outputs: [
            data(
              world,
              'target',
              columnLineage(world, {
                id: [
                  ['source', 'id'],
                  ['target', 'id']
                ]
              })
            )
          ]
        })
      )
      deepEqual(await world.reached(table(world, 'source')), ['job flow.load', 'target'])
      deepEqual(await world.upstream(table(world, 'target')), ['job flow.load', 'source'])
      deepEqual(await world.upstream(column(world, 'target', 'id'), { foldColumns: false }), [
        'job flow.load',
        'source#id'
      ])
    }
  },
  {
    reports: ['OpenLineage/OpenLineage 4024'],
    tried: 'A Snowflake account with the suffix of its host and without it',
    answer: 'right',
    name: 'the host of an account with and without its suffix gives the same table',
    run: async ({ ask, tag }) => {
      const urns = await Promise.all(
        ['snowflake://acme-eu1', 'snowflake://acme-eu1.snowflakecomputing.com'].map(async (of) => {
          const query = new URLSearchParams({ namespace: of, name: `${tag}.public.orders` }).toString()
          return (await ask({ url: `/openlineage/resolve?${query}` })).body.urn
        })
      )
      equal(urns[0], urns[1])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 31435'],
    tried: 'Events with only inputs, with only outputs, and of tables that nothing has described',
    answer: 'right',
    name: 'an event with only inputs or only outputs joins the job with them',
    run: async (world) => {
      await world.send(event(world, 1, 'COMPLETE', { inputs: [data(world, 'a')] }, { job: 'reader' }))
      await world.send(event(world, 2, 'COMPLETE', { outputs: [data(world, 'b')] }, { job: 'writer' }))
      deepEqual(await world.reached(table(world, 'a')), ['job flow.reader'])
      deepEqual(await world.upstream(table(world, 'b')), ['job flow.writer'])
    }
  },
  {
    reports: ['apache/airflow 43776'],
    tried: 'Two tasks without datasets that name each other as upstream and downstream, and their parent run',
    answer: 'right',
    name: 'tasks without datasets are joined by their dependencies',
    run: async (world) => {
      const dependency = (job: string, runId: string): JsonValue => ({
        job: { namespace: world.tag, name: `flow.${job}` },
        run: { runId }
      })
      const [first, second] = [newRun(), newRun()]
      await world.send(
        event(
          world,
          1,
          'COMPLETE',
          {},
          {
            id: second,
            job: 'second',
            facets: { jobDependencies: facet({ upstream: [dependency('first', first)], downstream: [] }) }
          }
        )
      )
      await world.send(event(world, 0, 'COMPLETE', {}, { id: first, job: 'first' }))
      deepEqual(await world.reached(jobUrn(world, 'first')), ['job flow.second'])
    }
  },
  {
    reports: ['kestra-io/plugin-dbt 306'],
    tried: 'A run of three models whose facet pairs each output with its own input',
    answer: 'right',
    name: 'an event that pairs inputs with outputs gives these pairs, and not each with each',
    run: async (world) => {
      const at = (name: string): JsonObject => ({ namespace, name: `${world.tag}.${name}`, type: 'DATASET' })
      const names = ['x', 'y', 'z']
      await world.send(
        event(
          world,
          1,
          'COMPLETE',
          {
            inputs: names.map((name) => data(world, `raw_${name}`)),
            outputs: names.map((name) => data(world, `model_${name}`))
          },
          {
            jobFacets: {
              lineage: facet({
                entries: names.map((name) => ({ ...at(`model_${name}`), inputs: [at(`raw_${name}`)] }))
              })
            }
          }
        )
      )
      for (const name of names)
        deepEqual(withoutJobs(await world.reached(table(world, `raw_${name}`))), [`model_${name}`])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 17253'],
    tried: 'One event with two outputs, of which one has column lineage, and a second event without any',
    answer: 'right',
    name: 'column lineage of one output does not leak into another output or event',
    run: async (world) => {
      await world.send(
        event(world, 1, 'COMPLETE', {
          inputs: [data(world, 'a')],
          outputs: [
            data(world, 'b', { ...schema('y', 'z'), ...columnLineage(world, { y: [['a', 'x']] }) }),
            data(world, 'c', schema('y', 'z'))
          ]
        })
      )
      await world.send(
        event(
          world,
          2,
          'COMPLETE',
          { inputs: [data(world, 'a')], outputs: [data(world, 'd')] },
          { job: 'other' }
        )
      )
      deepEqual(withoutJobs(await world.reached(column(world, 'a', 'x'), { foldColumns: false })), ['b#y'])
    }
  },
  {
    reports: ['MarquezProject/marquez 2733'],
    tried: 'A run that read an older version of a table, sent after the run that wrote the newer one',
    answer: 'right',
    name: 'an event of an older run that arrives late does not change what a newer one says about a table',
    run: async (world) => {
      const version = (datasetVersion: string): JsonObject => ({ version: facet({ datasetVersion }) })
      await world.send(
        event(
          world,
          20,
          'COMPLETE',
          { outputs: [data(world, 'a', { ...schema('id', 'v2'), ...version('2') })] },
          { job: 'write' }
        )
      )
      await world.send(
        event(world, 10, 'COMPLETE', {
          inputs: [data(world, 'a', { ...schema('id'), ...version('1') })],
          outputs: [data(world, 'b')]
        })
      )
      deepEqual(
        (await world.aspect(table(world, 'a'), 'schemaMetadata')).fields.map(
          ({ fieldPath }: { fieldPath: string }) => fieldPath
        ),
        ['id', 'v2']
      )
      deepEqual(await world.reached(table(world, 'a')), ['b', 'job flow.load'])
    }
  },
  {
    reports: ['OpenLineage/OpenLineage 2858', 'OpenLineage/OpenLineage 2865'],
    tried: 'A run whose START has an offset of two hours and whose FAIL has none',
    answer: 'right',
    name: 'a time without an offset is in UTC, and is compared with times that have one',
    run: async (world) => {
      const id = newRun()
      const at = (eventType: string, eventTime: string): JsonObject => ({
        ...event(world, 0, eventType, { inputs: [data(world, 'a')], outputs: [data(world, 'b')] }, { id }),
        eventTime
      })
      await world.send(at('FAIL', '2026-01-02T10:00:05.391000'))
      await world.send(at('START', '2026-01-02T12:00:00.571842+02:00'))
      const { dataJob } = await world.read(
        'query ($urn: String!) { dataJob(urn: $urn) { lastRun { state startedAt endedAt } } }',
        { urn: jobUrn(world) }
      )
      deepEqual(dataJob.lastRun, {
        state: 'FAIL',
        startedAt: Date.UTC(2026, 0, 2, 10, 0, 0, 571),
        endedAt: Date.UTC(2026, 0, 2, 10, 0, 5, 391)
      })
    }
  },
  {
    reports: ['MarquezProject/marquez 3114'],
    tried:
      'Column lineage with the kind of its transformation, read as an aspect and over the API of Marquez',
    answer: 'mended',
    name: 'the kind of a transformation is kept with its column edge',
    run: async (world) => {
      await world.send(
        event(world, 1, 'COMPLETE', {
          inputs: [data(world, 'a')],
          outputs: [data(world, 'b', columnLineage(world, { y: [['a', 'x']] }))]
        })
      )
      const [record] = (await world.aspect(jobUrn(world), 'dataJobInputOutput')).fineGrainedLineages
      equal(record.transformOperation, 'DIRECT:IDENTITY')
      const nodeId = `datasetField:${namespace}:${world.tag}.b:y`
      const { graph } = await marquez(world, 'column-lineage', { nodeId })
      const node = graph.find(({ id }: { id: string }) => id === nodeId)
      deepEqual(
        node.data.inputFields.map((each: JsonObject) => each.transformationType),
        ['DIRECT:IDENTITY']
      )
      const others: { [field: string]: JsonValue } = {
        sum: [{ type: 'DIRECT', subtype: 'AGGREGATION' }],
        both: [{ type: 'INDIRECT', subtype: 'FILTER' }, { type: 'DIRECT' }],
        unknown: []
      }
      await world.send(
        event(
          world,
          2,
          'COMPLETE',
          {
            inputs: [data(world, 'a')],
            outputs: [
              data(world, 'c', {
                columnLineage: facet({
                  fields: Object.fromEntries(
                    Object.entries(others).map(([field, transformations]) => [
                      field,
                      {
                        inputFields: [{ namespace, name: `${world.tag}.a`, field: 'x', transformations }]
                      }
                    ])
                  )
                })
              })
            ]
          },
          { job: 'others' }
        )
      )
      const read = await marquez(world, 'column-lineage', { nodeId: `dataset:${namespace}:${world.tag}.c` })
      deepEqual(
        Object.keys(others).map(
          (field) =>
            read.graph.find(({ data: { field: found } }: { data: { field: string } }) => found === field).data
              .inputFields[0].transformationType
        ),
        ['DIRECT:AGGREGATION', 'DIRECT,INDIRECT:FILTER', null]
      )
    }
  },
  {
    reports: ['datahub-project/datahub 10925', 'open-metadata/OpenMetadata 28426'],
    tried:
      'Two jobs two months apart, asked for with only a begin, in a list, upstream, downstream and as a count',
    answer: 'right',
    name: 'a time window without an end lasts until now, and limits lists and counts in both directions',
    run: async (world) => {
      const days = 86_400
      const inputs = [data(world, 'a')]
      await world.send(event(world, 0, 'COMPLETE', { inputs, outputs: [data(world, 'b')] }, { job: 'old' }))
      await world.send(
        event(world, 60 * days, 'COMPLETE', { inputs, outputs: [data(world, 'c')] }, { job: 'new' })
      )
      const startTimeMillis = Date.UTC(2026, 0, 30)
      deepEqual(await world.reached(table(world, 'a'), { startTimeMillis }), ['c', 'job flow.new'])
      deepEqual(await world.upstream(table(world, 'b'), { startTimeMillis }), [])
      deepEqual(await world.upstream(table(world, 'c'), { startTimeMillis }), ['a', 'job flow.new'])
      const { lineageCounts } = await world.read(
        'query ($input: LineageCountsInput!) { lineageCounts(input: $input) { total } }',
        { input: { urn: table(world, 'a'), direction: 'DOWNSTREAM', startTimeMillis } }
      )
      equal(lineageCounts.total, 2)
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 28360', 'OpenLineage/OpenLineage 3558'],
    tried:
      'A path that names its table in some events only, and columns that name it by the path and by the table',
    answer: 'right',
    name: 'a path and its table are one dataset in events with and without the symlink, also for columns',
    run: async (world) => {
      const lake = { namespace: 's3://lake', name: `${world.tag}/t` }
      const named = { namespace: hive, name: `${world.tag}.t` }
      const symlinks = { symlinks: facet({ identifiers: [{ ...named, type: 'TABLE' }] }) }
      const writes: JsonObject[] = [
        { outputs: [lake] },
        { outputs: [{ ...lake, facets: symlinks }] },
        { inputs: [data(world, 'source')], outputs: [lake] }
      ]
      for (const [at, content] of writes.entries())
        await world.send(event(world, at, 'COMPLETE', content, { job: 'write' }))
      for (const [job, from] of Object.entries({ by_path: lake, by_table: named }))
        await world.send(
          event(
            world,
            5,
            'COMPLETE',
            {
              inputs: [{ ...lake, facets: symlinks }],
              outputs: [
                data(world, job, {
                  columnLineage: facet({ fields: { y: { inputFields: [{ ...from, field: 'x' }] } } })
                })
              ]
            },
            { job }
          )
        )
      deepEqual(await world.upstream(world.table('t')), ['job flow.write', 'source'])
      deepEqual(withoutJobs(await world.reached(world.column('t', 'x'), { foldColumns: false })), [
        'by_path#y',
        'by_table#y'
      ])
    }
  },
  {
    reports: ['OpenLineage/OpenLineage 4638'],
    tried: 'A DROP by the path of a table with an empty schema, and a later run that writes the table',
    answer: 'right',
    name: 'a DROP by a path removes its table, keeps the known columns, and a later run brings it back',
    run: async (world) => {
      const output = (facets: JsonObject): JsonObject => ({
        outputs: [
          {
            namespace: 's3://lake',
            name: `${world.tag}/__storage/t`,
            facets: {
              symlinks: facet({
                identifiers: [{ namespace: hive, name: `${world.tag}.t`, type: 'TABLE' }]
              }),
              ...facets
            }
          }
        ]
      })
      const found = async (): Promise<string[]> =>
        (await world.find({ query: world.tag, types: ['DATASET'] })).names
      const dropped = {
        schema: facet({ fields: [] }),
        lifecycleStateChange: facet({ lifecycleStateChange: 'DROP' })
      }
      await world.send(event(world, 1, 'COMPLETE', output(schema('id')), { job: 'write' }))
      await world.send(event(world, 2, 'COMPLETE', output(dropped), { job: 'drop' }))
      deepEqual(await found(), [])
      equal((await world.aspect(world.table('t'), 'schemaMetadata')).fields.length, 1)
      await world.send(event(world, 3, 'COMPLETE', output({}), { job: 'write' }))
      deepEqual(await found(), ['t'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 32577'],
    tried: 'Three instances of one mapped task at the same time, each with an input of its own',
    answer: 'right',
    name: 'instances of a mapped task are one job with the inputs of all of them',
    run: async (world) => {
      for (const at of [0, 1, 2])
        await world.send(
          event(world, 1, 'COMPLETE', {
            inputs: [data(world, `in_${at}`)],
            outputs: [data(world, 'out')]
          })
        )
      deepEqual(await world.upstream(table(world, 'out')), ['in_0', 'in_1', 'in_2', 'job flow.load'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 24736'],
    tried: 'A soft-deleted table that the same load states again, and another that a run writes again',
    answer: 'mended',
    name: 'a soft-deleted table is back when its source states it again, although nothing else has changed',
    run: async (world) => {
      const records = [{ op: 'upsertEntity', urn: table(world, 'a'), name: 'a' }]
      const found = async (): Promise<string[]> =>
        (await world.find({ query: world.tag, types: ['DATASET'] })).names
      await world.load(records)
      await world.propose(table(world, 'a'), 'status', { removed: true })
      deepEqual(await found(), [])
      await world.load(records)
      deepEqual(await found(), ['a'])
      await world.propose(table(world, 'a'), 'status', { removed: true })
      await world.send(event(world, 1, 'COMPLETE', { outputs: [data(world, 'a')] }))
      deepEqual(await found(), ['a'])
    }
  }
]
