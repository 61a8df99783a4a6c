/** Loads of a dbt project that was loaded before: what stays, what goes, and what they wait for. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { query } from '../shared/db/query.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { storedProjects } from '../shared/catalog/loads/stored-projects.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { aspectOf, done, edgesOf, load } from './support/dbt-loads.ts'
import { catalog, manifest, node, table } from './support/dbt-projects.ts'
import { endedOrBlocked } from './support/paused-tx.ts'
import { withFolder } from './support/program.ts'
import { runCommand as run } from './support/run-command.ts'
import { withServer, type RestAnswer } from './support/server.ts'

t.setTimeout(300_000)

t.test('what is unknown stays, and what the project took away goes', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const { db } = server
  const star = { compiled_code: 'select * from "shop"."public"."orders"' }
  const passing = (more: JsonObject = {}) => [
    node('model.shop.orders'),
    node('model.shop.copy', ['model.shop.orders'], { ...star, ...more }),
    node('model.shop.sum', ['model.shop.orders'])
  ]
  const columns = [
    ['id', 'int'],
    ['total', 'int'],
    ['at', 'date']
  ] as const
  const columnEdges = async (): Promise<number> =>
    (await edgesOf(db, 'dbt:shop')).filter((each) => each.includes('schemaField')).length

  await t.test('column edges stay when the manifest comes without its catalog', async (t) => {
    const whole = catalog({ 'model.shop.orders': columns, 'model.shop.copy': columns })
    t.match(await load(server, [manifest(passing()), whole]), done({ received: 3 }))
    t.equal(await columnEdges(), 3)
    t.match(await load(server, manifest(passing())), done({ received: 3 }), 'it is not refused')
    t.equal(await columnEdges(), 3)
    t.match(await load(server, manifest(passing()), '&force=true'), done({ received: 3 }), 'nor with force')
    t.equal(await columnEdges(), 3)
    const half = catalog({ 'model.shop.orders': columns })
    t.match(await load(server, [manifest(passing()), half]), done({ received: 3 }))
    t.equal(await columnEdges(), 3, 'a catalog without the columns of one of the two')
    t.match((await load(server, manifest(passing()), '&dryRun=true')).body, { state: 'done' })
    t.match(await load(server, [manifest(passing()), whole], '&source=dbt:shop-dev'), { status: 200 })
    t.match(await load(server, manifest(passing()), '&source=dbt:shop-dev'), { status: 200 })
    t.equal((await edgesOf(db, 'dbt:shop-dev')).filter((each) => each.includes('schemaField')).length, 3)

    const fewer = catalog({
      'model.shop.orders': columns.slice(0, 2),
      'model.shop.copy': columns.slice(0, 2)
    })
    t.match(await load(server, [manifest(passing()), fewer]), done({ received: 3 }))
    t.equal(await columnEdges(), 2, 'a catalog says which are gone')
    const other = { compiled_code: 'select id from "shop"."public"."orders"' }
    t.match(await load(server, manifest(passing(other)), '&force=true'), done({ received: 3 }))
    t.equal(await columnEdges(), 1, 'a model that no longer takes all columns has those that it takes')
  })

  const described = (more: JsonObject = {}): JsonObject => manifest([node('model.shop.kept', [], more)])
  const urn = table('kept')
  const all = {
    description: 'From dbt',
    tags: ['daily', 'pii'],
    meta: { tier: 1, owner: 'ann', labels: ['a', 'b'] },
    version: 2,
    columns: {
      id: { name: 'id', description: 'The key', tags: ['key'] },
      total: { name: 'total', description: 'The sum' }
    }
  }
  const tagsOf = async (): Promise<string[]> => {
    const found = (await aspectOf(db, urn, 'globalTags')) as { tags: { tag: string }[] } | undefined
    return (found?.tags ?? []).map(({ tag }) => tag.replace('urn:li:tag:', '')).sort()
  }
  const proposeTag = (tag: string): Promise<RestAnswer> =>
    server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: 'dataset',
          entityUrn: urn,
          changeType: 'PATCH',
          aspectName: 'globalTags',
          aspect: {
            json: [{ op: 'add', path: `/tags/urn:li:tag:${tag}`, value: { tag: `urn:li:tag:${tag}` } }]
          }
        }
      }
    })

  await t.test('meta, versions, tags of columns are kept', async (t) => {
    t.match(await load(server, described(all), '&source=dbt:kept'), { body: { counts: { rejected: 0 } } })
    t.match(await aspectOf(db, urn, 'datasetProperties'), {
      description: 'From dbt',
      customProperties: { 'dbt_meta.tier': '1', 'dbt_meta.labels': '["a","b"]', dbt_version: '2' }
    })
    t.match(await aspectOf(db, urn, 'schemaMetadata'), {
      fields: [
        { fieldPath: 'id', description: 'The key', globalTags: { tags: [{ tag: 'urn:li:tag:key' }] } },
        { fieldPath: 'total', description: 'The sum' }
      ]
    })
    t.match((await load(server, described(all), '&source=dbt:kept')).body, { counts: { unchanged: 1 } })
  })

  await t.test('what the project no longer has is taken away', async (t) => {
    const less = { tags: ['daily'], columns: { id: { name: 'id' } } }
    t.match((await load(server, described(less), '&source=dbt:kept')).body, { counts: { applied: 1 } })
    t.same(await tagsOf(), ['daily'])
    const properties = (await aspectOf(db, urn, 'datasetProperties')) as JsonObject
    t.notHas(properties, { description: '' })
    t.notMatch(properties, { customProperties: { 'dbt_meta.tier': String } })
    t.notMatch(await aspectOf(db, urn, 'schemaMetadata'), { fields: [{ description: String }] })
    t.notMatch(await aspectOf(db, urn, 'schemaMetadata'), { fields: [{ globalTags: {} }] })
    t.match(await aspectOf(db, urn, 'schemaMetadata'), {
      fields: [{ fieldPath: 'id' }, { fieldPath: 'total' }]
    })
  })

  await t.test('what a person wrote stays', async (t) => {
    await proposeTag('pii')
    await load(server, described(all), '&source=dbt:kept')
    await proposeTag('mine')
    await server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: 'dataset',
          entityUrn: urn,
          changeType: 'PATCH',
          aspectName: 'datasetProperties',
          aspect: { json: [{ op: 'add', path: '/description', value: 'From Ann' }] }
        }
      }
    })
    await load(server, described(), '&source=dbt:kept')
    t.same(await tagsOf(), ['mine', 'pii'])
    t.match(await aspectOf(db, urn, 'datasetProperties'), { description: 'From Ann' })
  })

  await t.test('an exposure loses what the project no longer says of it', async (t) => {
    const seen = (more: JsonObject): JsonObject =>
      manifest([node('model.shop.orders'), node('exposure.shop.board', ['model.shop.orders'], more)])
    const board = 'urn:li:dashboard:(dbt,exposure.shop.board)'
    const full = { description: 'Weekly', tags: ['exec'], maturity: 'high' }
    t.match((await load(server, seen(full), '&source=dbt:board')).body, { counts: { rejected: 0 } })
    t.match(await aspectOf(db, board, 'dashboardInfo'), { description: 'Weekly' })
    t.match((await load(server, seen({}), '&source=dbt:board')).body, { counts: { rejected: 0, applied: 1 } })
    t.match(await aspectOf(db, board, 'dashboardInfo'), { description: '' })
    t.notMatch(await aspectOf(db, board, 'dashboardInfo'), { customProperties: { dbt_maturity: 'high' } })
    t.strictSame(await aspectOf(db, board, 'globalTags'), { tags: [] })
  })

  await t.test('owners go only where a load takes owners from the project', async (t) => {
    const owned = (owner: string[]): JsonObject =>
      manifest([node('model.shop.owned', [], { meta: { owner } })])
    const owners = async (): Promise<string[]> => {
      const found = (await aspectOf(db, table('owned'), 'ownership')) as { owners: { owner: string }[] }
      return found.owners.map(({ owner }) => owner.replace('urn:li:corpuser:', '')).sort()
    }
    await load(server, owned(['ann', 'bob']), '&source=dbt:owned&owners=true')
    await load(server, owned([]), '&source=dbt:owned')
    t.same(await owners(), ['ann', 'bob'])
    await load(server, owned(['bob']), '&source=dbt:owned&owners=true')
    t.same(await owners(), ['bob'])
  })

  const propose = (of: string, aspectName: string, operations: readonly JsonObject[]): Promise<RestAnswer> =>
    server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: 'dataset',
          entityUrn: of,
          changeType: 'PATCH',
          aspectName,
          aspect: { json: [...operations] }
        }
      }
    })

  await t.test('of the properties only those go that a load writes', async (t) => {
    const props = async (): Promise<string[]> => {
      const found = (await aspectOf(db, table('props'), 'datasetProperties')) as {
        customProperties: JsonObject
      }
      return Object.keys(found.customProperties).sort()
    }
    const own = (more: JsonObject): JsonObject => manifest([node('model.shop.props', [], more)])
    const full = {
      config: { enabled: true, materialized: 'table', meta: { tier: 1 } },
      original_file_path: 'models/props.sql',
      version: 1,
      latest_version: 2
    }
    await load(server, own(full), '&source=dbt:props')
    const persons = ['dbt_team', 'dbt_cloud_job', 'dbt_metadata', 'dbt_', 'dbt_meta', 'team']
    await propose(
      table('props'),
      'datasetProperties',
      persons.map((name) => ({ op: 'add', path: `/customProperties/${name}`, value: 'of a person' }))
    )
    await load(server, own({ config: {}, package_name: null }), '&source=dbt:props')
    t.same(await props(), [...persons, 'dbt_unique_id'].sort())
  })

  await t.test('tags of columns go whatever their names are', async (t) => {
    const own = (tags: JsonObject): JsonObject =>
      manifest([
        node('model.shop.tagged', [], {
          columns: Object.fromEntries(
            ['a', 'b', 'c', 'd'].map((name) => [name, { name, tags: tags[name] ?? [] }])
          )
        })
      ])
    const tagged = async (): Promise<string[]> => {
      const { fields } = (await aspectOf(db, table('tagged'), 'schemaMetadata')) as {
        fields: { fieldPath: string; globalTags?: JsonObject }[]
      }
      return fields.flatMap(({ fieldPath, globalTags }) => (globalTags ? [fieldPath] : []))
    }
    const names = { a: ['pii (strict)'], b: ['plain', 'x,y'], c: ['(', ')'], d: ['urn:li:tag:z', 'é'] }
    await load(server, own(names), '&source=dbt:tagged')
    t.same(await tagged(), ['a', 'b', 'c', 'd'])
    await propose(table('tagged'), 'schemaMetadata', [])
    await load(server, own({ d: names.d }), '&source=dbt:tagged')
    t.same(await tagged(), ['d'])
    await load(server, own({}), '&source=dbt:tagged')
    t.same(await tagged(), [])
  })

  await t.test('an owner of another type is another statement', async (t) => {
    const own = (owner: string[]): JsonObject => manifest([node('model.shop.typed', [], { meta: { owner } })])
    const owners = async (): Promise<string[]> => {
      const found = (await aspectOf(db, table('typed'), 'ownership')) as {
        owners: { owner: string; type: string }[]
      }
      return found.owners.map(({ owner, type }) => `${owner.replace('urn:li:corpuser:', '')} ${type}`).sort()
    }
    const addOwner = (name: string, type: string): Promise<RestAnswer> => {
      const owner = `urn:li:corpuser:${name}`
      return propose(table('typed'), 'ownership', [
        { op: 'add', path: `/owners/${owner}/${type}`, value: { owner, type } }
      ])
    }
    await addOwner('ann', 'TECHNICAL_OWNER')
    await addOwner('bob', 'DATAOWNER')
    await load(server, own(['ann', 'bob', 'cy']), '&source=dbt:typed&owners=true')
    await addOwner('cy', 'BUSINESS_OWNER')
    t.same(await owners(), [
      'ann DATAOWNER',
      'ann TECHNICAL_OWNER',
      'bob DATAOWNER',
      'cy BUSINESS_OWNER',
      'cy DATAOWNER'
    ])
    await load(server, own([]), '&source=dbt:typed&owners=true')
    t.same(await owners(), ['ann TECHNICAL_OWNER', 'bob DATAOWNER', 'cy BUSINESS_OWNER'])
  })

  await t.test('of what is stored, only what is compared is read', async (t) => {
    const columns = {
      id: { name: 'id', description: 'The key', tags: ['key'], data_type: 'int' },
      at: { name: 'at', data_type: 'date' }
    }
    const plain = { at: { name: 'at', data_type: 'date' } }
    const project = manifest([
      node('model.shop.kept_columns', [], { columns }),
      node('model.shop.plain_columns', [], { columns: plain, description: 'Plain' })
    ])
    await load(server, project, '&source=dbt:read')
    const [kept, bare] = [toUrn(table('kept_columns')), toUrn(table('plain_columns'))]
    t.match(await aspectOf(db, bare, 'schemaMetadata'), { fields: [{ fieldPath: 'at' }] })
    const stored = await storedProjects(db, null).aspects([kept, bare, toUrn(table('unknown'))])
    t.same([...stored.keys()].sort(), [kept, bare].sort())
    t.strictSame(stored.get(kept)?.schemaMetadata, {
      fields: [
        {
          fieldPath: 'id',
          description: 'The key',
          globalTags: { tags: [{ tag: 'urn:li:tag:key' }] }
        },
        { fieldPath: 'at' }
      ]
    })
    t.match(stored.get(bare), { datasetProperties: { description: 'Plain' } })
    t.notOk(stored.get(bare)?.schemaMetadata)
  })

  await t.test('what another project wrote since stays', async (t) => {
    const own = (project: string, more: JsonObject): JsonObject =>
      manifest([node(`model.${project}.shared`, [], more)], { project_name: project })
    await load(server, own('p', { description: 'P', tags: ['p'] }))
    await load(server, own('q', { description: 'Q', tags: ['q'] }))
    await load(server, own('p', {}))
    t.match(await aspectOf(db, table('shared'), 'datasetProperties'), { description: 'Q' })
  })
})

t.test('a project waits for an earlier load of it', async (t) => {
  const server = await withServer(t)
  const { db } = server
  const star = { compiled_code: 'select * from "shop"."public"."orders"' }
  const project = manifest([node('model.shop.orders'), node('model.shop.copy', ['model.shop.orders'], star)])
  const send = (
    parameters = '',
    documents: JsonObject | readonly JsonObject[] = project
  ): Promise<RestAnswer> => load(server, documents, parameters, 0)
  const stateOf = async (): Promise<string[]> =>
    (await query<{ state: string }>(db, 'select state from load order by created_at')).map(
      ({ state }) => state
    )
  const refused = {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { code: 'UNAVAILABLE', message: /earlier load of dbt:shop .*send it again/ }
  }
  const first = await send()
  t.match(first, { status: 202, body: { state: 'accepted' } })

  await t.test('and is refused until then, whatever it says of its columns', async (t) => {
    const whole = catalog({ 'model.shop.orders': [['id', 'int']], 'model.shop.copy': [['id', 'int']] })
    t.match(await send(), refused)
    t.match(await send('', [project, whole]), refused)
    t.match(await send('&mode=merge'), refused)
    t.match(await send('&dryRun=true'), refused)
    t.match(
      await send('&source=dbt:shop', manifest([node('model.other.a')], { project_name: 'other' })),
      refused
    )
    t.same(await stateOf(), ['accepted'], 'nothing was stored')
  })

  await t.test('not for a load of another source, nor where it has no assets', async (t) => {
    t.match(await send('&source=dbt:elsewhere'), { status: 202 })
    t.match(await send('', manifest([])), { status: 400, body: { message: /no records/ } })
  })

  await t.test('and of several at once only one is taken', async (t) => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => send('&source=dbt:atonce')))
    t.same(
      answers.map(({ status }) => status).sort((one, other) => one - other),
      [202, 503, 503, 503, 503, 503]
    )
  })

  await t.test('even of two that begin in the same moment', async (t) => {
    const [one, other] = [storedProjects(db, 'dbt:two'), storedProjects(db, 'dbt:two')]
    await Promise.all([one.settled('dbt:shop'), other.settled('dbt:shop')])
    const refused: Promise<unknown>[] = []
    await inTransaction(db, async (tx) => {
      await one.stillSettled(tx)
      await query(tx, "update load set source = 'dbt:two' where source = 'dbt:atonce'")
      const second = inTransaction(db, (later) => other.stillSettled(later))
      refused.push(t.rejects(second, { code: 'UNAVAILABLE' }))
      await endedOrBlocked(db, second)
    })
    await Promise.all(refused)
  })

  await t.test('even if that began and ended while the project was read', async (t) => {
    const source = 'dbt:between'
    const projects = storedProjects(db, source)
    const begin = (): Promise<void> => inTransaction(db, (tx) => projects.stillSettled(tx))
    await begin()
    await projects.settled('dbt:shop')
    await begin()
    const { body } = await send(`&source=${source}`)
    await server.rest({ method: 'POST', url: `/loads/${body.id}/cancel` })
    await t.rejects(begin(), { code: 'UNAVAILABLE', message: /earlier load of dbt:between/ })
    await projects.settled('dbt:shop')
    await begin()
  })

  await t.test('which the command line does by itself', async (t) => {
    const folder = withFolder(t)
    const path = join(folder, 'manifest.json')
    writeFileSync(path, JSON.stringify(project))
    const env = { TRIBUTARY_URL: server.url, TRIBUTARY_TOKEN: server.token }
    const given = await run(['load', path, '--no-wait', '--retry-for', '0'], { env })
    t.match(given, { code: 4, err: [/earlier load of dbt:shop/] })
    const cancel = `/loads/${first.body.id}/cancel`
    const patient = await run(['load', path, '--no-wait', '--retry-for', '60'], {
      env,
      onError: () => void server.rest({ method: 'POST', url: cancel })
    })
    t.match(patient, { code: 0, err: [/earlier load of dbt:shop .* Sending it again in \d+ s/] })
  })

  await t.test('but not for one that failed', async (t) => {
    t.match(await send(), refused)
    await query(db, "update load set state = 'failed', error = 'as told' where state = 'accepted'", [])
    t.match(await send(), { status: 202 })
  })
})
