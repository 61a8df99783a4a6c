/** Tokens that try to do more than they may, through every interface: tokens for reading, and limited ones. */
import type { JsonObject, JsonValue } from '../../../shared/model/changes.ts'
import { done, forEach, overGraphql, refused, type Probe, type Sent } from '../probe.ts'
import { assets, domains } from '../world.ts'

type Request = Pick<Sent, 'method' | 'path' | 'body' | 'headers'>

const forbidden = refused(403, 'FORBIDDEN')
const q = (text: string): string => JSON.stringify(text)

/** Every write over HTTP, well formed, so that only the token can be the reason to refuse it. */
const writes: { readonly [name: string]: Request } = {
  ingestProposal: {
    method: 'POST',
    path: '/aspects?action=ingestProposal',
    body: proposed(domains.other, 'x')
  },
  'ingestProposal, asynchronous': {
    method: 'POST',
    path: '/aspects?action=ingestProposal',
    body: { ...proposed(domains.other, 'x'), async: 'true' }
  },
  ingestProposalBatch: {
    method: 'POST',
    path: '/aspects?action=ingestProposalBatch',
    body: { proposals: [proposed(domains.other, 'x').proposal ?? null] }
  },
  ingest: { method: 'POST', path: '/entities?action=ingest', body: snapshot(assets.outside) },
  batchIngest: {
    method: 'POST',
    path: '/entities?action=batchIngest',
    body: { entities: [snapshot(assets.outside).entity ?? null] }
  },
  delete: { method: 'POST', path: '/entities?action=delete', body: { urn: assets.outside } },
  deleteReferences: { method: 'POST', path: '/entities?action=deleteReferences', body: { urn: assets.free } },
  'OpenAPI v3 POST': {
    method: 'POST',
    path: '/openapi/v3/entity/dataset?async=false',
    body: [{ urn: assets.outside, status: { value: { removed: true } } }]
  },
  'OpenAPI v3 POST of mixed types': {
    method: 'POST',
    path: '/openapi/v3/entity/generic?async=false',
    body: { dataset: [{ urn: assets.outside, status: { value: { removed: true } } }] }
  },
  'OpenAPI v3 POST of an aspect': {
    method: 'POST',
    path: `/openapi/v3/entity/dataset/${encodeURIComponent(assets.outside)}/status?async=false`,
    body: { value: { removed: true } }
  },
  'OpenAPI v3 PATCH': {
    method: 'PATCH',
    path: `/openapi/v3/entity/dataset/${encodeURIComponent(assets.outside)}/status?async=false`,
    body: { patch: [{ op: 'add', path: '/removed', value: true }] }
  },
  'OpenAPI v3 DELETE': {
    method: 'DELETE',
    path: `/openapi/v3/entity/dataset/${encodeURIComponent(assets.outside)}`
  },
  'OpenAPI v3 DELETE of an aspect': {
    method: 'DELETE',
    path: `/openapi/v3/entity/dataset/${encodeURIComponent(assets.outside)}?aspects=domains`
  },
  OpenLineage: { method: 'POST', path: '/api/v1/lineage', body: event() },
  'OpenLineage, the alias': { method: 'POST', path: '/openapi/openlineage/api/v1/lineage', body: event() },
  'OpenLineage batch': { method: 'POST', path: '/api/v1/lineage/batch', body: [event()] },
  'domain rules': { method: 'PUT', path: '/domain-rules', body: { rules: [] } },
  'no domain rules': { method: 'DELETE', path: '/domain-rules' },
  'domain rules, applied': { method: 'POST', path: '/domain-rules/apply' }
}

/** Writes that only need the scope, whatever the domain. */
const writesOfLoads: { readonly [name: string]: Request } = {
  loads: {
    method: 'POST',
    path: '/loads?format=ndjson',
    body: '{"op":"createDomain","name":"x"}',
    headers: { 'content-type': 'application/x-ndjson' }
  },
  'retry of a load': { method: 'POST', path: '/loads/<load>/retry' },
  'undo of a load': { method: 'POST', path: '/loads/<load>/undo' },
  'cancel of a load': { method: 'POST', path: '/loads/<load>/cancel' },
  restoreIndices: { method: 'POST', path: '/operations?action=restoreIndices', body: {} },
  rollback: { method: 'POST', path: '/runs?action=rollback', body: { runId: 'x' } }
}

/** Every mutation, as an attack on what is outside of the domain. */
const mutations: { readonly [name: string]: string } = {
  createDomain: `createDomain(input: { name: "Top" })`,
  'createDomain elsewhere': `createDomain(input: { name: "Below", parentDomain: ${q(domains.other)} })`,
  'createDomain with the id of another': `createDomain(input: { id: "other", name: "Other", parentDomain: ${q(domains.own)} })`,
  setDomain: `setDomain(entityUrn: ${q(assets.outside)}, domainUrn: ${q(domains.own)})`,
  'setDomain of an asset in no domain': `setDomain(entityUrn: ${q(assets.free)}, domainUrn: ${q(domains.own)})`,
  'setDomain to another domain': `setDomain(entityUrn: ${q(assets.inside)}, domainUrn: ${q(domains.other)})`,
  unsetDomain: `unsetDomain(entityUrn: ${q(assets.outside)})`,
  batchSetDomain: `batchSetDomain(input: { domainUrn: ${q(domains.own)}, resources: [{ resourceUrn: ${q(assets.inside)} }, { resourceUrn: ${q(assets.outside)} }] })`,
  updateLineage: `updateLineage(input: { edgesToAdd: [{ upstreamUrn: ${q(assets.inside)}, downstreamUrn: ${q(assets.outside)} }], edgesToRemove: [] })`,
  'updateLineage that removes': `updateLineage(input: { edgesToAdd: [], edgesToRemove: [{ upstreamUrn: ${q(assets.free)}, downstreamUrn: ${q(assets.outside)} }] })`,
  deleteDomain: `deleteDomain(urn: ${q(domains.other)})`,
  moveDomain: `moveDomain(input: { resourceUrn: ${q(domains.other)}, parentDomain: ${q(domains.own)} })`,
  'moveDomain of its own': `moveDomain(input: { resourceUrn: ${q(domains.own)}, parentDomain: ${q(domains.other)} })`,
  'moveDomain out of it': `moveDomain(input: { resourceUrn: ${q(domains.team)} })`,
  updateName: `updateName(input: { urn: ${q(domains.other)}, name: "Taken" })`,
  updateDescription: `updateDescription(input: { resourceUrn: ${q(domains.other)}, description: "Taken" })`,
  createAccessToken:
    'createAccessToken(input: { type: PERSONAL, actorUrn: "urn:li:corpuser:x", duration: ONE_DAY, name: "x" }) { accessToken }',
  'createAccessToken for the same domain': `createAccessToken(input: { type: PERSONAL, actorUrn: "urn:li:corpuser:x", duration: ONE_DAY, name: "x", scopes: ["read"], domainUrn: ${q(domains.own)} }) { accessToken }`,
  revokeAccessToken: 'revokeAccessToken(tokenId: "x")'
}

const loaded = (record: JsonObject): JsonObject & { record: JsonObject } => ({ record })

/** Records of a load that a limited token may not have applied. */
const records: { readonly [name: string]: { record: JsonValue } } = {
  createDomain: loaded({ op: 'createDomain', id: 'top', name: 'Top' }),
  'createDomain with the id of another': loaded({
    op: 'createDomain',
    id: 'other',
    name: 'Other',
    parentDomain: domains.own
  }),
  setDomain: loaded({ op: 'setDomain', entityUrn: assets.outside, domainUrn: domains.own }),
  'setDomain to another domain': loaded({
    op: 'setDomain',
    entityUrn: assets.inside,
    domainUrn: domains.other
  }),
  upsertEntity: loaded({ op: 'upsertEntity', urn: assets.outside, name: 'taken' }),
  'upsertEntity of a new asset': loaded({
    op: 'upsertEntity',
    urn: assets.outside.replace('outside', 'new'),
    name: 'new'
  }),
  'an edge': loaded({ upstreamUrn: assets.inside, downstreamUrn: assets.outside }),
  removeEdge: loaded({ op: 'removeEdge', upstreamUrn: assets.free, downstreamUrn: assets.outside }),
  'a proposal': loaded({
    entityType: 'dataset',
    entityUrn: assets.outside,
    changeType: 'UPSERT',
    aspectName: 'status',
    aspect: { json: { removed: true } }
  }),
  'lineage of an asset outside': loaded({
    entityType: 'dataset',
    entityUrn: assets.outside,
    changeType: 'UPSERT',
    aspectName: 'upstreamLineage',
    aspect: { json: { upstreams: [{ dataset: assets.inside, type: 'COPY' }] } }
  })
}

/** Writes of a limited token that only partly concern what is outside of its domain. */
const mixed: { readonly [name: string]: Request } = {
  'references that others made to an asset inside': {
    method: 'POST',
    path: '/entities?action=deleteReferences',
    body: { urn: assets.linked }
  },
  'a batch that is half inside': {
    method: 'POST',
    path: '/openapi/v3/entity/dataset?async=false',
    body: [
      { urn: assets.inside, status: { value: { removed: true } } },
      { urn: assets.outside, status: { value: { removed: true } } }
    ]
  },
  'proposals that are half inside': {
    method: 'POST',
    path: '/aspects?action=ingestProposalBatch',
    body: {
      proposals: [proposed(domains.team, 'x').proposal ?? null, proposed(domains.other, 'x').proposal ?? null]
    }
  },
  'a column of an asset outside': {
    method: 'POST',
    path: '/openapi/v3/entity/schemaField?async=false',
    body: [
      {
        urn: `urn:li:schemaField:(${assets.outside},id)`,
        documentation: { value: { documentations: [] } }
      }
    ]
  },
  'what is in no domain: a user': {
    method: 'POST',
    path: '/openapi/v3/entity/corpuser?async=false',
    body: [{ urn: 'urn:li:corpuser:admin', corpUserInfo: { value: { active: false } } }]
  },
  'what is in no domain: a tag': {
    method: 'POST',
    path: '/openapi/v3/entity/tag?async=false',
    body: [{ urn: 'urn:li:tag:pii', tagProperties: { value: { name: 'x' } } }]
  }
}

/** What is a read, although it is sent with POST. */
const readsByPost: { readonly [name: string]: Request } = {
  GraphQL: { method: 'POST', path: '/api/graphql', body: { query: '{ me { corpUser { urn } } }' } },
  exists: { method: 'POST', path: '/entities?action=exists', body: { urn: assets.free } },
  batchGet: { method: 'POST', path: '/openapi/v3/entity/dataset/batchGet', body: [{ urn: assets.free }] },
  scroll: { method: 'POST', path: '/openapi/v3/entity/scroll', body: { entities: ['dataset'] } },
  namespaces: { path: '/api/v1/namespaces' },
  'namespaces of jobs': { path: '/api/v1/search?q=probe' }
}

function proposed(entityUrn: string, name: string): JsonObject {
  return {
    proposal: {
      entityType: 'domain',
      entityUrn,
      changeType: 'UPSERT',
      aspectName: 'domainProperties',
      aspect: { json: { name } }
    }
  }
}

function snapshot(urn: string): JsonObject {
  return {
    entity: {
      value: {
        'com.linkedin.metadata.snapshot.DatasetSnapshot': {
          urn,
          aspects: [{ 'com.linkedin.common.Status': { removed: true } }]
        }
      }
    }
  }
}

function event(): JsonObject {
  return {
    eventType: 'COMPLETE',
    eventTime: '2026-01-01T00:00:00Z',
    producer: 'https://example.com',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: '01941f29-7c00-7aaa-8000-000000000001' },
    job: { namespace: 'probe', name: 'job' },
    inputs: [{ namespace: 'hive://x', name: 'in' }],
    outputs: [{ namespace: 'hive://x', name: 'out' }]
  }
}

export const rights: readonly Probe[] = [
  ...forEach(
    { ...writes, ...writesOfLoads },
    (request) => ({ ...request, as: 'reader' as const, expected: forbidden }),
    'a token for reading writes'
  ),
  ...Object.entries(mutations).map(([name, mutation]) =>
    overGraphql({
      name: `a token for reading writes: ${name}`,
      as: 'reader',
      query: `mutation { ${mutation} }`,
      code: 'FORBIDDEN'
    })
  ),
  ...['retryLoad', 'cancelLoad', 'undoLoad'].map((field) =>
    overGraphql({
      name: `a token for reading writes: ${field}`,
      as: 'reader',
      query: `mutation { ${field}(id: "<load>") { id } }`,
      code: 'FORBIDDEN'
    })
  ),
  ...forEach(
    readsByPost,
    (request) => ({ ...request, as: 'reader' as const, expected: done }),
    'a token for reading reads'
  ),
  ...forEach(
    Object.fromEntries(Object.entries(writes).filter(([name]) => name !== 'ingestProposal, asynchronous')),
    (request) => ({ ...request, as: 'limited' as const, expected: forbidden }),
    'a limited token writes elsewhere'
  ),
  ...(['limited', 'limitedAdmin'] as const).flatMap((as) =>
    forEach(
      mixed,
      (request) => ({ ...request, as, expected: forbidden }),
      `${as === 'limited' ? 'a limited token' : 'a limited administrator'} writes elsewhere, in part`
    )
  ),
  ...forEach(
    writes,
    (request) => ({
      ...request,
      as: 'limitedAdmin' as const,
      expected: request === writes['ingestProposal, asynchronous'] ? done : forbidden,
      ...(request === writes['ingestProposal, asynchronous'] ? { changes: 'load' as const } : {})
    }),
    'a limited administrator writes elsewhere'
  ),
  ...(['limited', 'limitedAdmin'] as const).flatMap((as) =>
    Object.entries(mutations).map(([name, mutation]) =>
      overGraphql({
        name: `a ${as === 'limited' ? 'limited token' : 'limited administrator'} writes elsewhere: ${name}`,
        as,
        query: `mutation { ${mutation} }`,
        code: 'FORBIDDEN'
      })
    )
  ),
  overGraphql({
    name: 'a limited administrator lists tokens',
    as: 'limitedAdmin',
    query: '{ listAccessTokens(input: {}) { total } }',
    code: 'FORBIDDEN'
  }),
  overGraphql({
    name: 'a token for writing lists tokens',
    query: '{ listAccessTokens(input: {}) { total } }',
    code: 'FORBIDDEN'
  }),
  overGraphql({
    name: 'a token for writing makes an administrator',
    query:
      'mutation { createAccessToken(input: { type: PERSONAL, actorUrn: "urn:li:corpuser:x", duration: NO_EXPIRY, name: "x", scopes: ["admin"] }) { accessToken } }',
    code: 'FORBIDDEN'
  }),
  ...forEach(
    {
      'domain rules': writes['domain rules'] ?? { path: '' },
      'no domain rules': writes['no domain rules'] ?? { path: '' },
      'domain rules, applied': writes['domain rules, applied'] ?? { path: '' }
    },
    (request) => ({ ...request, expected: forbidden }),
    'a token for writing administers'
  ),
  ...forEach(
    records,
    ({ record }) => ({
      as: 'limited' as const,
      method: 'POST' as const,
      path: '/loads?format=ndjson&wait=25',
      headers: { 'content-type': 'application/x-ndjson' },
      body: JSON.stringify(record),
      expected: { ...done, rejects: 'FORBIDDEN' as const },
      changes: 'load' as const
    }),
    'a load of a limited token'
  ),
  {
    name: 'a snapshot of a limited token',
    as: 'limited',
    method: 'POST',
    path: '/loads?format=ndjson&wait=25&mode=snapshot&source=plans&force=true',
    headers: { 'content-type': 'application/x-ndjson' },
    body: JSON.stringify({ upstreamUrn: assets.inside, downstreamUrn: assets.outside }),
    expected: { ...done, rejects: 'FORBIDDEN' },
    changes: 'load'
  },
  {
    name: 'changes submitted by a limited token',
    as: 'limited',
    method: 'POST',
    path: '/api/graphql',
    body: {
      query: `mutation { submitChanges(input: { setDomains: [{ entityUrn: ${q(assets.outside)}, domainUrn: ${q(domains.own)} }] }) { id state } }`
    },
    expected: done,
    changes: 'load'
  },
  {
    name: 'asynchronous writes of a limited token',
    as: 'limited',
    method: 'POST',
    path: '/openapi/v3/entity/dataset?async=true',
    body: [{ urn: assets.outside, status: { value: { removed: true } } }],
    expected: { status: 202, code: null },
    changes: 'load'
  },
  {
    name: 'events of OpenLineage in a load of a limited token',
    as: 'limited',
    method: 'POST',
    path: '/loads?format=openlineage&wait=25',
    headers: { 'content-type': 'application/x-ndjson' },
    body: JSON.stringify(event()),
    expected: forbidden,
    changes: 'load'
  }
]
