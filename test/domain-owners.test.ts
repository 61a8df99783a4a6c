/**
 * A token limited to domains can change everything below the domains and nothing else, through every interface
 * that writes.
 */
import t, { type Test } from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import type { Change, JsonObject, JsonValue } from '../shared/model/changes.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import {
  addEdge,
  apply,
  chunkContext,
  create,
  createDomain,
  hardDelete,
  openLoad,
  record,
  setDomain,
  somebody,
  unsetDomain,
  upsert
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { casesOf, fc } from './support/fast-check.ts'
import { changedTables, createTableChecksums } from './support/table-checksums.ts'
import { withServer, type RestAnswer, type RestRequest, type TestServer } from './support/server.ts'

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const domain = (id: string): string => `urn:li:domain:${id}`

/**
 * The targets of an attempt: an asset with its domain and the domain's parent, another asset next to it, and
 * the name of a domain that does not exist.
 */
type Target = { asset: string; domain: string; parent: string; beside: string; fresh: string }

/** A way of writing. Asynchronous ones answer with a load, or create one. */
type Door = { name: string; request: (target: Target) => RestRequest; isLoad?: boolean }

const mutation = (name: string, input: (target: Target) => string): Door => ({
  name: `GraphQL ${name}`,
  request: (target) => ({
    method: 'POST',
    url: '/api/graphql',
    body: { query: `mutation { ${name}(${input(target)}) }` }
  })
})

const proposal = (
  entityUrn: string,
  aspectName: string,
  value: JsonValue,
  changeType = 'UPSERT'
): JsonObject => ({
  entityType: entityUrn.split(':')[2] ?? '',
  entityUrn,
  changeType,
  aspectName,
  ...(changeType === 'DELETE'
    ? {}
    : {
        aspect: {
          value: JSON.stringify(value),
          contentType: changeType === 'PATCH' ? 'application/json-patch+json' : 'application/json'
        }
      })
})
const restli = (name: string, made: (target: Target) => JsonObject): Door => ({
  name: `RestLi ${name}`,
  request: (target) => ({
    method: 'POST',
    url: '/aspects?action=ingestProposal',
    body: { proposal: made(target) }
  })
})
const action = (name: string, url: string, body: (target: Target) => JsonObject): Door => ({
  name: `RestLi ${name}`,
  request: (target) => ({ method: 'POST', url, body: body(target) })
})
const v3 = (
  name: string,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: (target: Target) => string,
  body?: (target: Target) => JsonValue
): Door => ({
  name: `OpenAPI v3 ${name}`,
  request: (target) => ({
    method,
    url: `/openapi/v3/entity/${path(target)}`,
    ...(body ? { body: body(target) } : {})
  })
})
const load = (name: string, query: string, contentType: string, body: (target: Target) => string): Door => ({
  name: `load ${name}`,
  isLoad: true,
  request: (target) => ({
    method: 'POST',
    url: `/loads?${query}`,
    headers: { 'content-type': contentType },
    body: body(target)
  })
})

const lines = (...records: readonly JsonObject[]): string =>
  records.map((each) => `${JSON.stringify(each)}\n`).join('')
const properties: JsonObject = { description: 'By its owner' }
const encoded = encodeURIComponent

const doors: readonly Door[] = [
  mutation('setDomain', ({ asset, domain }) => `entityUrn: "${asset}", domainUrn: "${domain}"`),
  mutation('unsetDomain', ({ asset }) => `entityUrn: "${asset}"`),
  mutation(
    'batchSetDomain',
    ({ asset, domain }) => `input: { domainUrn: "${domain}", resources: [{ resourceUrn: "${asset}" }] }`
  ),
  mutation(
    'createDomain',
    ({ domain, fresh }) => `input: { id: "${fresh}", name: "${fresh}", parentDomain: "${domain}" }`
  ),
  mutation('updateName', ({ domain }) => `input: { urn: "${domain}", name: "Renamed" }`),
  mutation(
    'updateDescription',
    ({ domain }) => `input: { resourceUrn: "${domain}", description: "Described" }`
  ),
  mutation('deleteDomain', ({ domain }) => `urn: "${domain}"`),
  mutation(
    'updateLineage',
    ({ asset, beside }) =>
      `input: { edgesToAdd: [{ upstreamUrn: "${beside}", downstreamUrn: "${asset}" }], edgesToRemove: [] }`
  ),
  {
    name: 'GraphQL submitChanges',
    isLoad: true,
    request: ({ asset, beside }) => ({
      method: 'POST',
      url: '/api/graphql',
      body: {
        query: `mutation { submitChanges(input: { edgesToAdd: [{ upstreamUrn: "${beside}", downstreamUrn: "${asset}" }] }) { id } }`
      }
    })
  },
  restli('UPSERT', ({ asset }) => proposal(asset, 'datasetProperties', properties)),
  restli('UPSERT of lineage', ({ asset, beside }) =>
    proposal(asset, 'upstreamLineage', { upstreams: [{ dataset: beside, type: 'TRANSFORMED' }] })
  ),
  restli('PATCH', ({ asset }) =>
    proposal(
      asset,
      'datasetProperties',
      [{ op: 'add', path: '/customProperties/by', value: 'owner' }],
      'PATCH'
    )
  ),
  restli('PATCH of lineage', ({ asset, beside }) =>
    proposal(
      asset,
      'upstreamLineage',
      [{ op: 'add', path: `/upstreams/${beside}`, value: { dataset: beside, type: 'TRANSFORMED' } }],
      'PATCH'
    )
  ),
  restli('UPSERT of domains', ({ asset, domain }) => proposal(asset, 'domains', { domains: [domain] })),
  restli('UPSERT of a domain', ({ domain, parent }) =>
    proposal(domain, 'domainProperties', { name: 'Proposed', parentDomain: parent })
  ),
  restli('soft deletion', ({ asset }) => proposal(asset, 'status', { removed: true })),
  restli('DELETE of an aspect', ({ asset }) => proposal(asset, 'datasetProperties', null, 'DELETE')),
  restli('DELETE of the entity', ({ asset }) => proposal(asset, 'datasetKey', null, 'DELETE')),
  action('batch', '/aspects?action=ingestProposalBatch', ({ asset }) => ({
    proposals: [proposal(asset, 'datasetProperties', properties)]
  })),
  action('snapshot', '/entities?action=ingest', ({ asset }) => ({
    entity: {
      value: {
        'com.linkedin.metadata.snapshot.DatasetSnapshot': {
          urn: asset,
          aspects: [{ 'com.linkedin.dataset.DatasetProperties': properties }]
        }
      }
    }
  })),
  action('delete', '/entities?action=delete', ({ asset }) => ({ urn: asset })),
  action('deleteReferences', '/entities?action=deleteReferences', ({ domain }) => ({
    urn: domain,
    dryRun: false
  })),
  v3(
    'POST',
    'POST',
    () => 'dataset?async=false',
    ({ asset }) => [{ urn: asset, datasetProperties: { value: properties } }]
  ),
  v3(
    'POST of an aspect',
    'POST',
    ({ asset }) => `dataset/${encoded(asset)}/datasetProperties?async=false&createIfNotExists=false`,
    () => ({ value: properties })
  ),
  v3(
    'PATCH',
    'PATCH',
    () => 'dataset?async=false',
    ({ asset }) => [
      {
        urn: asset,
        datasetProperties: { value: { patch: [{ op: 'add', path: '/customProperties/by', value: 'owner' }] } }
      }
    ]
  ),
  v3(
    'PATCH of an aspect',
    'PATCH',
    ({ asset }) => `dataset/${encoded(asset)}/datasetProperties`,
    () => ({ patch: [{ op: 'add', path: '/customProperties/by', value: 'owner' }] })
  ),
  v3(
    'generic',
    'POST',
    () => 'generic?async=false',
    ({ asset, domain, parent }) => ({
      dataset: [{ urn: asset, domains: { value: { domains: [domain] } } }],
      domain: [{ urn: domain, domainProperties: { value: { name: 'Generic', parentDomain: parent } } }]
    })
  ),
  v3('DELETE of an aspect', 'DELETE', ({ asset }) => `dataset/${encoded(asset)}/datasetProperties`),
  v3('DELETE', 'DELETE', ({ asset }) => `dataset/${encoded(asset)}`),
  {
    ...v3(
      'POST, asynchronous',
      'POST',
      () => 'dataset?async=true',
      ({ asset }) => [{ urn: asset, datasetProperties: { value: properties } }]
    ),
    isLoad: true
  },
  {
    ...action('proposal, asynchronous', '/aspects?action=ingestProposal', ({ asset }) => ({
      proposal: proposal(asset, 'datasetProperties', properties),
      async: 'true'
    })),
    isLoad: true
  },
  load('of edges', 'format=ndjson&source=job', 'application/x-ndjson', ({ asset, beside }) =>
    lines({ upstreamUrn: beside, downstreamUrn: asset })
  ),
  load(
    'of edges as CSV',
    'format=csv&source=job',
    'text/csv',
    ({ asset, beside }) => `upstream,downstream\n"${beside}","${asset}"\n`
  ),
  load(
    'of domains as CSV',
    'format=csv&source=job',
    'text/csv',
    ({ asset, domain }) => `resource,domain\n"${asset}",${domain}\n`
  ),
  load('of operations', 'format=ndjson&source=job', 'application/x-ndjson', ({ domain, fresh }) =>
    lines(
      { op: 'renameDomain', domainUrn: domain, name: 'Renamed' },
      { op: 'createDomain', id: fresh, name: fresh, parentDomain: domain }
    )
  ),
  load('of documents', 'format=ndjson&source=job', 'application/x-ndjson', ({ asset, beside }) =>
    lines(proposal(asset, 'upstreamLineage', { upstreams: [{ dataset: beside, type: 'TRANSFORMED' }] }))
  ),
  load('of proposals', 'format=mcp&source=job', 'application/json', ({ asset }) =>
    JSON.stringify([proposal(asset, 'datasetProperties', properties)])
  ),
  load(
    'that is a snapshot',
    'format=ndjson&source=job&mode=snapshot',
    'application/x-ndjson',
    ({ asset, beside }) => lines({ upstreamUrn: beside, downstreamUrn: asset })
  ),
  load(
    'that is atomic',
    'format=ndjson&source=job&atomic=true',
    'application/x-ndjson',
    ({ asset, domain }) => lines({ op: 'setDomain', entityUrn: asset, domainUrn: domain })
  )
]

/** Create `domain`, below `parent` or at the top level. */
const newProperties = ({ parent }: Target): JsonObject => ({
  name: 'Again',
  ...(parent === '' ? {} : { parentDomain: parent })
})
const creations: readonly Door[] = [
  mutation(
    'createDomain',
    ({ domain, parent }) =>
      `input: { id: "${domain.slice('urn:li:domain:'.length)}", name: "Again"${parent === '' ? '' : `, parentDomain: "${parent}"`} }`
  ),
  restli('UPSERT of a new domain', (target) =>
    proposal(target.domain, 'domainProperties', newProperties(target))
  ),
  restli('PATCH of a new domain', (target) =>
    proposal(
      target.domain,
      'domainProperties',
      Object.entries(newProperties(target)).map(([key, value]) => ({ op: 'add', path: `/${key}`, value })),
      'PATCH'
    )
  ),
  v3(
    'POST of a new domain',
    'POST',
    () => 'domain?async=false',
    (target) => [{ urn: target.domain, domainProperties: { value: newProperties(target) } }]
  ),
  load('of a new domain', 'format=ndjson&source=job', 'application/x-ndjson', ({ domain, parent }) =>
    lines({
      op: 'createDomain',
      id: domain.slice('urn:li:domain:'.length),
      name: 'Again',
      ...(parent === '' ? {} : { parentDomain: parent })
    })
  ),
  load('of an entity', 'format=ndjson&source=job', 'application/x-ndjson', ({ domain }) =>
    lines({ op: 'upsertEntity', urn: domain, name: 'Again' })
  ),
  load('of proposals for a new domain', 'format=mcp&source=job', 'application/json', (target) =>
    JSON.stringify([proposal(target.domain, 'domainProperties', newProperties(target))])
  )
]

/** Tables about loads, their records and callers; all others contain the catalog. */
const bookkeeping = new Set([
  'audit',
  'chunk',
  'load_declaration',
  'load',
  'load_journal',
  'reject',
  'statement_source',
  'access_token',
  'snapshot_statement',
  'snapshot_removal',
  'graph_change',
  'graph_horizon'
])

/** The result of all loads so far, after each has ended. */
async function untilLoadsEnd({ db }: TestServer): Promise<{ applied: number; refused: number }> {
  for (;;) {
    const {
      rows: [row]
    } = await db.raw<{ rows: { isOver: boolean; applied: number; refused: number }[] }>(`
      select
        coalesce(bool_and(state in ('done', 'failed')), true) as "isOver",
        coalesce(sum(applied), 0)::int as applied,
        (select count(*) from reject where code = 'FORBIDDEN')::int as refused
      from load`)
    if (row?.isOver) return row
    await sleep(20)
  }
}

/** The interfaces that put an asset into a domain. */
const saysADomain = / setDomain|SetDomain|of domains|atomic/
const isRefused = ({ status, body }: RestAnswer): boolean =>
  status === 403 || body?.errors?.[0]?.extensions?.reason === 'FORBIDDEN'
const isTaken = ({ status, body }: RestAnswer): boolean => status >= 200 && status < 300 && !body?.errors

/** For each interface: an asset, another next to it, and their domain, below `parent`. */
const targetsBelow = (parent: string): Target[] =>
  doors.map((_, at) => ({
    asset: dataset(`${parent}_${at}`),
    beside: dataset(`${parent}_beside_${at}`),
    domain: domain(`${parent}_${at}`),
    parent: domain(parent),
    fresh: `${parent}_fresh_${at}`
  }))

const own = targetsBelow('own')
const second = targetsBelow('second')
const third = targetsBelow('third')
const others = targetsBelow('other')

/** Creates all targets, as an administrator. */
async function fill(server: TestServer): Promise<void> {
  const body = lines(
    ...['own', 'second', 'third', 'other'].map((id) => ({ op: 'createDomain', id, name: id })),
    { op: 'createDomain', id: 'deleted', name: 'deleted', parentDomain: domain('other') },
    ...[...own, ...second, ...third, ...others].flatMap(({ asset, beside, domain: urn, parent }) => [
      { op: 'createDomain', id: urn.slice('urn:li:domain:'.length), name: urn, parentDomain: parent },
      ...[asset, beside].flatMap((each) => [
        { op: 'upsertEntity', urn: each, description: 'As it was' },
        { op: 'setDomain', entityUrn: each, domainUrn: urn }
      ])
    ])
  )
  const answer = await server.rest({
    method: 'POST',
    url: '/loads?format=ndjson&source=setup',
    headers: { 'content-type': 'application/x-ndjson' },
    body
  })
  if (answer.status !== 202) throw new Error(answer.text)
  await untilLoadsEnd(server)
}

t.test('a token limited to a domain', async (t) => {
  const server = await withServer(t, { withWorker: true })
  await fill(server)
  const token = await server.tokenWith(['write'], { domainUrn: domain('own') })
  const ofTwo = await server.tokenWith(['write'], { domainUrns: [domain('second'), domain('third')] })
  const checksums = await createTableChecksums(server.db)
  const catalogTables = async () =>
    Object.fromEntries(Object.entries(await checksums()).filter(([name]) => !bookkeeping.has(name)))

  // What a step leaves is what the next one finds: nothing else writes here.
  let found = await catalogTables()
  const changesSince = async (): Promise<string[]> => {
    const before = found
    found = await catalogTables()
    return changedTables(before, found)
  }

  for (const [at, door] of doors.entries()) {
    const [inside, outside] = [own[at], others[at]]
    const insideOfTwo = (at % 2 === 0 ? second : third)[at]
    if (!inside || !insideOfTwo || !outside) throw new Error('no target')
    t.test(`${door.name}: is refused outside`, async (t) => {
      for (const each of [token, ofTwo]) {
        const loadsBefore = await untilLoadsEnd(server)
        const answer = await server.rest({ ...door.request(outside), token: each })
        const loads = await untilLoadsEnd(server)
        if (door.isLoad)
          t.ok(
            isRefused(answer) ||
              (isTaken(answer) &&
                loads.refused > loadsBefore.refused &&
                loads.applied === loadsBefore.applied),
            answer.text
          )
        else t.ok(isRefused(answer), answer.text)
      }
      t.same(await changesSince(), [], 'nothing changed')
    })
    t.test(`${door.name}: is let in`, async (t) => {
      for (const [each, target] of [
        [token, inside],
        [ofTwo, insideOfTwo]
      ] as const) {
        const loadsBefore = await untilLoadsEnd(server)
        const answer = await server.rest({ ...door.request(target), token: each })
        const loads = await untilLoadsEnd(server)
        t.ok(isTaken(answer), answer.text)
        t.equal(loads.refused, loadsBefore.refused, 'no record refused')
        // Some of these change nothing, but they must be allowed.
        const isNews = !saysADomain.test(door.name)
        const changes = await changesSince()
        if (isNews) t.not(changes.length, 0, 'something changed')
      }
    })
  }

  t.test('may move an asset from one of its domains to another', async (t) => {
    for (const door of doors.filter(({ name }) => saysADomain.test(name) && !name.includes('unset'))) {
      const [from, to] = [second[0], third[0]]
      if (!from || !to) throw new Error('no target')
      for (const urn of [to.domain, from.domain]) {
        const loadsBefore = await untilLoadsEnd(server)
        const answer = await server.rest({ ...door.request({ ...from, domain: urn }), token: ofTwo })
        const loads = await untilLoadsEnd(server)
        t.ok(isTaken(answer) && loads.refused === loadsBefore.refused, `${door.name}: ${answer.text}`)
      }
    }
  })

  t.test('cannot move an asset out of its domains, nor one that is outside into them', async (t) => {
    const [mine, theirs] = [own[0], others[0]]
    if (!mine || !theirs) throw new Error('no target')
    const before = await catalogTables()
    for (const [asset, to] of [
      [mine.asset, theirs.domain],
      [theirs.asset, mine.domain]
    ] as const) {
      for (const door of doors.filter(({ name }) => saysADomain.test(name))) {
        const loadsBefore = await untilLoadsEnd(server)
        const answer = await server.rest({ ...door.request({ ...mine, asset, domain: to }), token })
        const loads = await untilLoadsEnd(server)
        t.ok(
          isRefused(answer) || (door.isLoad && loads.refused > loadsBefore.refused),
          `${door.name}: ${answer.text}`
        )
      }
    }
    t.same(changedTables(before, await catalogTables()), [])
  })

  t.test(
    'does not create its own domain again after it was deleted, at the top level or below',
    async (t) => {
      const urn = domain('deleted')
      const ofDeleted = await server.tokenWith(['write'], { domainUrn: urn })
      const send = async (door: Door, on: Partial<Target>) => {
        const loadsBefore = await untilLoadsEnd(server)
        const answer = await server.rest({
          ...door.request({ asset: '', beside: '', domain: urn, parent: '', fresh: '', ...on }),
          token: ofDeleted
        })
        const loads = await untilLoadsEnd(server)
        const isApplied = !door.isLoad || loads.applied > loadsBefore.applied
        return { answer, hasPassed: isTaken(answer) && isApplied }
      }
      const [deletion] = doors.filter(({ name }) => name === 'GraphQL deleteDomain')
      if (!deletion) throw new Error('no door')
      t.ok((await send(deletion, {})).hasPassed, 'it deletes it')
      const before = await catalogTables()
      for (const door of creations)
        for (const parent of ['', domain('other')]) {
          const { answer, hasPassed } = await send(door, { parent })
          t.notOk(hasPassed, `${door.name} ${parent === '' ? 'at the top level' : 'below'}: ${answer.text}`)
        }
      t.same(changedTables(before, await catalogTables()), [], 'nothing changed')

      const [aspect] = creations.filter(({ name }) => name === 'RestLi UPSERT of a new domain')
      if (!aspect) throw new Error('no door')
      await send(
        restli('UPSERT of a status', () => proposal(urn, 'status', { removed: false })),
        {}
      )
      t.notOk((await send(aspect, {})).hasPassed, 'nor after another of its aspects was written')
    }
  )

  t.test('cannot create a token that may do more', async (t) => {
    const admin = await server.tokenWith(['admin'], { domainUrn: domain('own') })
    for (const wanted of ['', ', domainUrn: "urn:li:domain:other"']) {
      const answer = await server.rest({
        method: 'POST',
        url: '/api/graphql',
        token: admin,
        body: {
          query: `mutation { createAccessToken(input: { type: PERSONAL, actorUrn: "urn:li:corpuser:x", duration: ONE_DAY, name: "more"${wanted} }) { accessToken metadata { domainUrn } } }`
        }
      })
      t.ok(
        isRefused(answer) || answer.body?.data?.createAccessToken?.metadata?.domainUrn === domain('own'),
        answer.text
      )
    }
  })
})

const flow = 'urn:li:dataFlow:(airflow,nightly,PROD)'
const dataJob = (name: string): string => `urn:li:dataJob:(${flow},${name})`
const columnOf = (asset: string): string => `urn:li:schemaField:(${asset},c)`
const modelGroup = (name: string): string => `urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,${name},PROD)`
const mlModel = (name: string): string => `urn:li:mlModel:(urn:li:dataPlatform:mlflow,${name},PROD)`

/** An aspect of an own asset that states an edge into `downstream`. */
type Stated = {
  name: string
  owner: string
  aspectName: string
  value: (downstream: string) => JsonObject
  path: (downstream: string) => string
  target?: (name: string) => string
}

const columnRecord = (downstream: string): JsonObject => ({
  upstreamType: 'FIELD_SET',
  downstreamType: 'FIELD_SET',
  upstreams: [columnOf(dataset('up'))],
  downstreams: [columnOf(downstream)]
})
const columnPath = (downstream: string): string =>
  `/fineGrainedLineages/TRANSFORM/${columnOf(downstream)}/NONE/${columnOf(dataset('up'))}`
const statedEdges: readonly Stated[] = [
  {
    name: 'a column record of a dataset',
    owner: dataset('mine'),
    aspectName: 'upstreamLineage',
    value: (downstream) => ({ upstreams: [], fineGrainedLineages: [columnRecord(downstream)] }),
    path: columnPath
  },
  {
    name: 'an output of a job',
    owner: dataJob('mine'),
    aspectName: 'dataJobInputOutput',
    value: (downstream) => ({ inputDatasets: [], outputDatasets: [downstream] }),
    path: (downstream) => `/outputDatasets/${downstream}`
  },
  {
    name: 'an output of a job, with its properties',
    owner: dataJob('mine'),
    aspectName: 'dataJobInputOutput',
    value: (downstream) => ({
      inputDatasets: [],
      outputDatasets: [],
      outputDatasetEdges: [{ destinationUrn: downstream }]
    }),
    path: (downstream) => `/outputDatasetEdges/${downstream}`
  },
  {
    name: 'the group of a model',
    owner: mlModel('mine'),
    aspectName: 'mlModelProperties',
    value: (downstream) => ({ groups: [downstream] }),
    path: (downstream) => `/groups/${downstream}`,
    target: modelGroup
  },
  {
    name: 'a column record of a job',
    owner: dataJob('mine'),
    aspectName: 'dataJobInputOutput',
    value: (downstream) => ({
      inputDatasets: [],
      outputDatasets: [],
      fineGrainedLineages: [columnRecord(downstream)]
    }),
    path: columnPath
  },
  {
    name: 'a job that a model feeds',
    owner: mlModel('mine'),
    aspectName: 'mlModelProperties',
    value: (downstream) => ({ downstreamJobs: [downstream] }),
    path: (downstream) => `/downstreamJobs/${downstream}`,
    target: dataJob
  }
]

/** The ways of sending one proposal; loads report a reject. */
const ways: readonly { name: string; request: (sent: JsonObject) => RestRequest }[] = [
  {
    name: 'RestLi',
    request: (sent) => ({ method: 'POST', url: '/aspects?action=ingestProposal', body: { proposal: sent } })
  },
  {
    name: 'RestLi, asynchronous',
    request: (sent) => ({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: { proposal: sent, async: 'true' }
    })
  },
  {
    name: 'OpenAPI v3',
    request: ({ entityType, entityUrn, aspectName, aspect, changeType }) => {
      const value: JsonValue = JSON.parse(String((aspect as JsonObject | undefined)?.value ?? 'null'))
      if (changeType === 'DELETE')
        return {
          method: 'DELETE',
          url: `/openapi/v3/entity/${String(entityType)}/${encoded(String(entityUrn))}/${String(aspectName)}`
        }
      return {
        method: changeType === 'PATCH' ? 'PATCH' : 'POST',
        url: `/openapi/v3/entity/${String(entityType)}?async=false`,
        body: [
          {
            urn: entityUrn,
            [String(aspectName)]: { value: changeType === 'PATCH' ? { patch: value } : value }
          }
        ]
      }
    }
  },
  {
    name: 'a load',
    request: (sent) => ({
      method: 'POST',
      url: '/loads?format=ndjson&source=limited',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines(sent)
    })
  },
  {
    name: 'a load of proposals',
    request: (sent) => ({ method: 'POST', url: '/loads?format=mcp&source=limited', body: [sent] })
  },
  {
    name: 'a snapshot',
    request: (sent) => ({
      method: 'POST',
      url: '/loads?format=ndjson&source=limited&mode=snapshot',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines(sent)
    })
  }
]

t.test('a token limited to a domain changes no edge into what is outside', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const names = ['mine', 'inside', 'theirs', 'up']
  const urnsOf = (name: string): string[] => [dataset(name), dataJob(name), mlModel(name), modelGroup(name)]
  const setup = await server.rest({
    method: 'POST',
    url: '/loads?format=ndjson&source=setup',
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines(
      ...['own', 'other'].map((id) => ({ op: 'createDomain', id, name: id })),
      { op: 'upsertEntity', urn: flow },
      ...names.flatMap((name) =>
        urnsOf(name).flatMap((urn) => [
          { op: 'upsertEntity', urn },
          {
            op: 'setDomain',
            entityUrn: urn,
            domainUrn: domain(name === 'mine' || name === 'inside' ? 'own' : 'other')
          }
        ])
      )
    )
  })
  t.equal(setup.status, 202)
  t.match(await untilLoadsEnd(server), { refused: 0 })
  const token = await server.tokenWith(['write'], { domainUrn: domain('own') })
  const checksums = await createTableChecksums(server.db)
  const catalogTables = async () =>
    Object.fromEntries(Object.entries(await checksums()).filter(([name]) => !bookkeeping.has(name)))

  const send = async (request: RestRequest, bearer: string | undefined) => {
    const before = await untilLoadsEnd(server)
    const answer = await server.rest({ ...request, ...(bearer === undefined ? {} : { token: bearer }) })
    const after = await untilLoadsEnd(server)
    return {
      answer,
      isRefused: isRefused(answer) || after.refused > before.refused,
      hasPassed: isTaken(answer) && after.refused === before.refused
    }
  }
  /** As the last step has left it; null after one that may change it. */
  let found: Awaited<ReturnType<typeof catalogTables>> | null = null
  const refuses = async (t: Test, request: RestRequest, name: string): Promise<void> => {
    const before = found ?? (await catalogTables())
    const { answer, isRefused: wasRefused } = await send(request, token)
    t.ok(wasRefused, `${name}: ${answer.text}`)
    found = await catalogTables()
    t.same(changedTables(before, found), [], `${name}: nothing changed`)
  }
  const passes = async (t: Test, request: RestRequest, name: string, bearer = token): Promise<void> => {
    found = null
    const { answer, hasPassed } = await send(request, bearer)
    t.ok(hasPassed, `${name}: ${answer.text}`)
  }
  const graphql = (query: string): RestRequest => ({ method: 'POST', url: '/api/graphql', body: { query } })
  const admin = ways[0]
  if (!admin) throw new Error('no way')

  for (const { name, owner, aspectName, value, path, target = dataset } of statedEdges) {
    t.test(name, async (t) => {
      const [outside, inside] = [target('theirs'), target('inside')]
      const removal: JsonValue = [{ op: 'remove', path: path(outside) }]
      const isRecord = path(outside).startsWith('/fine') || path(outside).startsWith('/outputDatasetEdges')
      const addition: JsonValue = [{ op: 'add', path: path(outside), value: isRecord ? {} : outside }]
      for (const way of ways) {
        await refuses(t, way.request(proposal(owner, aspectName, value(outside))), `${way.name} states it`)
        await refuses(t, way.request(proposal(owner, aspectName, addition, 'PATCH')), `${way.name} adds it`)
        await passes(
          t,
          way.request(proposal(owner, aspectName, value(inside))),
          `${way.name} states one into what is inside`
        )
      }
      await passes(
        t,
        admin.request(proposal(owner, aspectName, value(outside))),
        'an administrator states it',
        server.token
      )
      for (const way of ways) {
        // A load is a source of its own, and would replace the sources of the edge.
        if (!way.request({}).url.startsWith('/loads'))
          await passes(
            t,
            way.request(proposal(owner, aspectName, { ...value(outside), more: way.name })),
            `${way.name} says it again with more beside it`
          )
        await refuses(t, way.request(proposal(owner, aspectName, removal, 'PATCH')), `${way.name} removes it`)
        if (way.name !== 'a snapshot')
          await refuses(t, way.request(proposal(owner, aspectName, value(inside))), `${way.name} replaces it`)
        await refuses(
          t,
          way.request(proposal(owner, aspectName, null, 'DELETE')),
          `${way.name} deletes its aspect`
        )
      }
      await passes(
        t,
        admin.request(proposal(owner, aspectName, null, 'DELETE')),
        'an administrator deletes it',
        server.token
      )
    })
  }

  t.test('an edge by its ends', async (t) => {
    const edges = (action: string, upstream: string, downstream: string) =>
      graphql(
        `mutation { updateLineage(input: { ${action === 'edgesToAdd' ? 'edgesToRemove' : 'edgesToAdd'}: [], ${action}: [{ upstreamUrn: "${upstream}", downstreamUrn: "${downstream}" }] }) }`
      )
    const loaded = (...records: JsonObject[]): RestRequest => ({
      method: 'POST',
      url: '/loads?format=ndjson&source=limited',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines(...records)
    })
    const out = { upstreamUrn: dataJob('mine'), downstreamUrn: dataset('theirs') }
    await refuses(t, edges('edgesToAdd', out.upstreamUrn, out.downstreamUrn), 'updateLineage')
    await refuses(
      t,
      edges('edgesToRemove', out.upstreamUrn, out.downstreamUrn),
      'updateLineage removes what is not there'
    )
    await refuses(t, loaded(out), 'a load')
    await refuses(
      t,
      {
        method: 'POST',
        url: '/loads?format=csv&source=limited',
        headers: { 'content-type': 'text/csv' },
        body: `upstream,downstream\n"${out.upstreamUrn}","${out.downstreamUrn}"\n`
      },
      'a load of CSV'
    )
    await refuses(
      t,
      graphql(
        `mutation { submitChanges(input: { edgesToAdd: [{ upstreamUrn: "${out.upstreamUrn}", downstreamUrn: "${out.downstreamUrn}" }] }) { id } }`
      ),
      'submitChanges'
    )
    await passes(t, edges('edgesToAdd', dataset('up'), dataset('mine')), 'an upstream may be anywhere')
    await passes(t, edges('edgesToAdd', dataJob('mine'), dataset('inside')), 'both within')
    await refuses(
      t,
      edges('edgesToAdd', dataJob('theirs'), dataset('mine')),
      'an output of a job that is outside'
    )

    await passes(t, edges('edgesToAdd', out.upstreamUrn, out.downstreamUrn), 'an administrator', server.token)
    await refuses(t, edges('edgesToRemove', out.upstreamUrn, out.downstreamUrn), 'updateLineage')
    await refuses(t, loaded({ op: 'removeEdge', ...out }), 'a load')
  })

  t.test('a snapshot leaves what is outside', async (t) => {
    const snapshot = (...downstreams: string[]): RestRequest => ({
      method: 'POST',
      url: '/loads?format=ndjson&source=shared&mode=snapshot&force=true',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines(...downstreams.map((downstreamUrn) => ({ upstreamUrn: dataJob('mine'), downstreamUrn })))
    })
    await passes(t, snapshot(dataset('theirs'), dataset('inside')), 'an administrator', server.token)
    await passes(t, snapshot(dataset('mine')), 'a snapshot without either')
    const stated = await server.db.raw<{ rows: { urn: string }[] }>(`
      select entity.urn
      from statement
      join statement_source on statement_source.id = statement.source_id
      join entity on entity.id = statement.downstream_id
      where statement_source.name = 'shared'
      order by entity.urn`)
    t.same(
      stated.rows.map((row) => row.urn),
      [dataset('mine'), dataset('theirs')]
    )
  })
})

t.test('a token limited to several domains', async (t) => {
  const { db } = await withDatabase(t)
  const [top, above, a, b, within, outside] = ['top', 'above', 'a', 'b', 'within', 'outside'].map((id) =>
    toUrn(domain(id))
  ) as [Urn, Urn, Urn, Urn, Urn, Urn]
  const assets = { a, b, within, outside, none: null }
  const assetIn = (place: string): Urn => toUrn(dataset(`in_${place}`))
  await apply(
    db,
    createDomain(top, 'top'),
    createDomain(above, 'above', top),
    createDomain(a, 'a', above),
    createDomain(b, 'b', above),
    createDomain(within, 'within', a),
    createDomain(outside, 'outside', top),
    ...Object.entries(assets).flatMap(([place, urn]) => [
      ...create(assetIn(place)),
      ...(urn ? [setDomain(assetIn(place), urn)] : [])
    ])
  )
  const load = await openLoad(db)
  /** The refusal of the only record of a chunk, or null; nothing stays applied. */
  async function refusalFor(
    domainUrns: readonly Urn[],
    changes: readonly Change[]
  ): Promise<{ code: string; message: string } | null> {
    const tx = await db.transaction()
    try {
      const [verdict] = await applyRecords(
        tx,
        [record(1, ...changes)],
        chunkContext(load, { actor: { ...somebody, domainUrns } })
      )
      return verdict?.outcome === 'rejected' ? verdict : null
    } finally {
      await tx.rollback()
    }
  }
  const codeFor = async (domainUrns: readonly Urn[], ...changes: Change[]): Promise<string | null> =>
    (await refusalFor(domainUrns, changes))?.code ?? null

  await t.test('moves assets and domains between them, but none out of them or into them', async (t) => {
    const cases: [string, Change, string | null][] = [
      ['an asset between them', setDomain(assetIn('a'), b), null],
      ['an asset out', setDomain(assetIn('a'), outside), 'FORBIDDEN'],
      ['an asset in', setDomain(assetIn('outside'), a), 'FORBIDDEN'],
      ['an asset in no domain in', setDomain(assetIn('none'), a), 'FORBIDDEN'],
      ['a domain between them', { kind: 'moveDomain', domainUrn: within, parentDomain: b }, null],
      ['a domain out', { kind: 'moveDomain', domainUrn: within, parentDomain: outside }, 'FORBIDDEN'],
      ['a domain to the top', { kind: 'moveDomain', domainUrn: within, parentDomain: null }, 'FORBIDDEN'],
      ['a domain in', { kind: 'moveDomain', domainUrn: outside, parentDomain: a }, 'FORBIDDEN'],
      ['one of them below another', { kind: 'moveDomain', domainUrn: a, parentDomain: b }, 'FORBIDDEN'],
      ['a new domain above them', createDomain(toUrn(domain('new')), 'new', above), 'FORBIDDEN'],
      ['a new domain in one', createDomain(toUrn(domain('new')), 'new', b), null]
    ]
    for (const [name, change, expected] of cases) t.equal(await codeFor([a, b], change), expected, name)
  })

  await t.test('moves one of them that is below another', async (t) => {
    const move: Change = { kind: 'moveDomain', domainUrn: within, parentDomain: b }
    t.equal(await codeFor([within, b], move), 'FORBIDDEN', 'its place is not theirs')
    t.equal(await codeFor([a, within, b], move), null)
  })

  await t.test('gets an error with the place that it may not change', async (t) => {
    const moves: [string, Urn, Urn | null, string][] = [
      ['out of a place', a, b, `${above} is not in any of them.`],
      ['to a place', within, outside, `${outside} is not in any of them.`],
      ['to the top level', within, null, 'the top level is not in any of them.']
    ]
    for (const [name, domainUrn, parentDomain, place] of moves)
      t.equal(
        (await refusalFor([a, b], [{ kind: 'moveDomain', domainUrn, parentDomain }]))?.message,
        `The token is limited to ${a}, ${b}; ${place}`,
        name
      )
    t.equal(
      (await refusalFor([], [setDomain(assetIn('a'), b)]))?.message,
      `The token is limited to domains that no longer exist; ${assetIn('a')} is not in any of them.`
    )
  })

  await t.test('changes nothing if none of its domains is left', async (t) => {
    t.equal(await codeFor([], setDomain(assetIn('a'), b)), 'FORBIDDEN')
    t.equal(await codeFor([toUrn(domain('never'))], setDomain(assetIn('a'), b)), 'FORBIDDEN')
  })

  await t.test(
    'may do what a token limited to a domain above them may, but nothing beside them',
    async (t) => {
      const assetUrn = fc.constantFrom(...Object.keys(assets).map(assetIn))
      const place = fc.constantFrom(a, b, within, outside, top)
      const inner = fc.constantFrom(within, outside)
      const change: fc.Arbitrary<Change> = fc.oneof(
        fc.record({ kind: fc.constant('setDomain' as const), entityUrn: assetUrn, domainUrn: place }),
        assetUrn.map((urn) => unsetDomain(urn)),
        fc.tuple(assetUrn, assetUrn).map(([from, to]) => addEdge(from, to)),
        assetUrn.map((urn) => upsert(urn, 'datasetProperties', { description: 'By its owner' })),
        assetUrn.map((urn) => hardDelete(urn)),
        fc
          .tuple(place, fc.constantFrom('x', 'y'))
          .map(([parent, id]) => createDomain(toUrn(domain(id)), id, parent)),
        fc.record({
          kind: fc.constant('moveDomain' as const),
          domainUrn: inner,
          parentDomain: fc.option(place)
        }),
        fc.record({
          kind: fc.constant('renameDomain' as const),
          domainUrn: place,
          name: fc.constantFrom('a', 'renamed')
        }),
        fc.record({ kind: fc.constant('deleteDomain' as const), domainUrn: place })
      )
      let allowed = 0
      let refused = 0
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          const several = await codeFor([a, b], ...changes)
          t.equal(several, await codeFor([above], ...changes), JSON.stringify(changes))
          for (const one of [a, b])
            if (several === 'FORBIDDEN')
              t.equal(await codeFor([one], ...changes), 'FORBIDDEN', 'nor either alone')
          if (several === 'FORBIDDEN') refused += 1
          else allowed += 1
        }),
        { numRuns: casesOf(200) }
      )
      t.ok(allowed > 10 && refused > 10, `${allowed} allowed, ${refused} refused`)
    }
  )
})
