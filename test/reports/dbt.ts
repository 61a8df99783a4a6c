/** Trials of reports about dbt projects. */
import { deepEqual, equal } from 'node:assert/strict'
import type { JsonObject } from '../../shared/model/changes.ts'
import { catalog, ephemeral, manifest, node, type TestNode } from '../support/dbt-projects.ts'
import type { Trial } from './trial.ts'
import type { World } from './world.ts'

/** A project of its own for a trial: the names of its package and its schema have the tag. */
const projectOf = (world: World) => {
  const { tag } = world
  const idOf = (id: string): string => id.replace('.', `.${tag}.`)
  const of = (id: string, dependsOn: readonly string[] = [], more: JsonObject = {}): TestNode =>
    node(idOf(id), dependsOn.map(idOf), { schema: tag, ...more })
  const table = (name: string): string =>
    `urn:li:dataset:(urn:li:dataPlatform:postgres,shop.${tag}.${name},PROD)`
  const short = (names: readonly string[]): string[] =>
    names.map((name) => name.replace('shop.', '').replace(`${tag}.`, '')).sort()
  const load = (documents: readonly JsonObject[], parameters = '') =>
    world.load(documents.map((each) => JSON.stringify(each)).join('\n'), `&format=dbt${parameters}`)
  return {
    idOf,
    of,
    table,
    load,
    manifest: (nodes: readonly TestNode[]) => manifest(nodes, { project_name: tag }),
    upstream: async (name: string) => short(await world.upstream(table(name))),
    reached: async (name: string) => short(await world.reached(table(name)))
  }
}

export const dbtTrials: readonly Trial[] = [
  {
    reports: ['open-metadata/OpenMetadata 23184', 'open-metadata/OpenMetadata 18410'],
    tried: 'A model whose ref changes from one table to another between two loads of the manifest',
    answer: 'right',
    name: 'a ref that a dbt model no longer has is gone after the next load',
    run: async (world) => {
      const { of, load, manifest: project, upstream } = projectOf(world)
      const models = (from: string) =>
        project([
          of('model.old'),
          of('model.new'),
          of('model.one', ['model.new']),
          of('model.two', ['model.new']),
          of('model.three', ['model.one']),
          of('model.mart', [from])
        ])
      await load([models('model.old')])
      deepEqual(await upstream('mart'), ['old'])
      await load([models('model.new')])
      deepEqual(await upstream('mart'), ['new'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 24346', 'kestra-io/plugin-dbt 336'],
    tried: 'A seed, a snapshot and a test in one project',
    answer: 'right',
    name: 'seeds and snapshots of dbt are tables with lineage, and tests are none',
    run: async (world) => {
      const { of, load, manifest: project, upstream } = projectOf(world)
      const loaded = await load([
        project([
          of('seed.countries'),
          of('model.orders', ['seed.countries']),
          of('snapshot.orders_history', ['model.orders']),
          of('test.not_null', ['model.orders'])
        ])
      ])
      equal(loaded.counts.rejected, 0)
      deepEqual(await upstream('orders_history'), ['countries', 'orders'])
      deepEqual((await world.find({ query: `${world.tag} not_null`, types: ['DATASET'] })).names, [])
    }
  },
  {
    reports: ['datahub-project/datahub 15855'],
    tried: 'Exposures of four types with owners, a description and an address',
    answer: 'right',
    name: 'exposures of every type are dashboards downstream of what they depend on',
    run: async (world) => {
      const { of, load, manifest: project, reached } = projectOf(world)
      const types = ['dashboard', 'notebook', 'ml', 'application']
      await load(
        [
          project([
            of('model.orders'),
            ...types.map((type) =>
              of(`exposure.${type}_use`, ['model.orders'], {
                type,
                url: `https://bi.example.org/${type}`,
                description: `Used by ${type}`,
                owner: { name: 'Ann', email: 'ann@example.org' }
              })
            )
          ])
        ],
        '&owners=true'
      )
      deepEqual(await reached('orders'), types.map((type) => `dashboard exposure.${type}_use`).sort())
      const urn = `urn:li:dashboard:(dbt,exposure.${world.tag}.ml_use)`
      equal((await world.aspect(urn, 'dashboardInfo')).description, 'Used by ml')
      equal((await world.aspect(urn, 'ownership')).owners.length, 1)
    }
  },
  {
    reports: ['dbt-labs/dbt-core 15233', 'PrefectHQ/prefect 19962'],
    tried: 'Two ephemeral models one behind the other, with a source and a seed in front of them',
    answer: 'right',
    name: 'ephemeral models in a row are no tables, and what is behind them comes from what is before',
    run: async (world) => {
      const { of, load, manifest: project, upstream } = projectOf(world)
      await load([
        project([
          of('source.raw.orders'),
          of('seed.rates'),
          of('model.inner', ['source.raw.orders'], ephemeral),
          of('model.outer', ['model.inner', 'seed.rates'], ephemeral),
          of('model.mart', ['model.outer'])
        ])
      ])
      deepEqual(await upstream('mart'), ['orders', 'rates'])
      deepEqual((await world.find({ query: `${world.tag} inner`, types: ['DATASET'] })).names, [])
    }
  },
  {
    reports: ['datahub-project/datahub 13249', 'b-ned/dbt-colibri 24'],
    tried: 'A project with a catalog that has the columns of one model, and a model that was never built',
    answer: 'right',
    name: 'columns of the catalog are columns of the table, and a model that is not in it keeps its lineage',
    run: async (world) => {
      const { of, load, table, idOf, manifest: project, upstream } = projectOf(world)
      await load([
        project([
          of('model.orders'),
          of('model.unbuilt', ['model.orders'], { columns: { id: { name: 'id', description: 'Key' } } })
        ]),
        catalog({
          [idOf('model.orders')]: [
            ['id', 'int'],
            ['total', 'numeric']
          ]
        })
      ])
      const columnsOf = async (name: string) =>
        (await world.aspect(table(name), 'schemaMetadata'))?.fields.map(
          ({ fieldPath }: { fieldPath: string }) => fieldPath
        )
      deepEqual(await columnsOf('orders'), ['id', 'total'])
      deepEqual(await upstream('unbuilt'), ['orders'])
    }
  },
  {
    reports: ['datahub-project/datahub 18823'],
    tried:
      'A project with its catalog, then the same manifest alone and without compiled SQL, as a test leaves it',
    answer: 'mended',
    name: 'a manifest without a catalog and without SQL keeps the column edges that are still true',
    run: async (world) => {
      const { of, load, table, idOf, manifest: project } = projectOf(world)
      const models = (compiled: boolean) =>
        project([
          of('model.orders'),
          of('snapshot.history', ['model.orders'], {
            raw_code: "select * from {{ ref('orders') }}",
            ...(compiled ? { compiled_code: `select * from "shop"."${world.tag}"."orders"` } : {})
          })
        ])
      const columns = [
        ['id', 'int'],
        ['total', 'numeric']
      ] as const
      await load([
        models(true),
        catalog({ [idOf('model.orders')]: columns, [idOf('snapshot.history')]: columns })
      ])
      const edges = () =>
        world.reached(`urn:li:schemaField:(${table('orders')},total)`, { foldColumns: false })
      equal((await edges()).length, 1)
      const loaded = await load([models(false)])
      equal(loaded.state, 'done')
      equal((await edges()).length, 1)
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 30636'],
    tried: 'A model and an exposure that depend on a node which is not in the manifest',
    answer: 'mended',
    name: 'a dependency that a manifest does not have is named by the load, and the others are loaded',
    run: async (world) => {
      const { of, load, manifest: project, upstream } = projectOf(world)
      const loaded = await load([
        project([
          of('model.orders'),
          of('model.mart', ['model.orders', 'model.missing']),
          of('exposure.board', ['model.missing', 'model.mart'], { type: 'dashboard' })
        ])
      ])
      deepEqual(await upstream('mart'), ['orders'])

      const messages: readonly string[] = loaded.warnings.messages
      equal(messages.filter((each) => each.includes(`model.${world.tag}.missing`)).length, 1)
    }
  },
  {
    reports: ['dagster-io/dagster 19701', 'dagster-io/dagster 19950'],
    tried: 'Two sources that mean the same table, and a model made from each of them',
    answer: 'right',
    name: 'sources that mean the same table are one table, and what is made from either comes from it',
    run: async (world) => {
      const { of, load, manifest: project, upstream, reached } = projectOf(world)
      const loaded = await load([
        project([
          of('source.one.orders'),
          of('source.two.orders'),
          of('model.daily', ['source.one.orders']),
          of('model.weekly', ['source.two.orders'])
        ])
      ])
      equal(loaded.counts.rejected, 0)
      deepEqual(await upstream('daily'), ['orders'])
      deepEqual(await reached('orders'), ['daily', 'weekly'])
    }
  }
]
