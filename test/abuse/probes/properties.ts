/** Fields that clients may not set: who acts, when, in which order, and with which rights. */
import { done, forEach, overGraphql, refused, type Probe } from '../probe.ts'
import { domains } from '../world.ts'

const load = (record: string, query = ''): Pick<Probe, 'method' | 'path' | 'headers' | 'body'> => ({
  method: 'POST',
  path: `/loads?format=ndjson&wait=25${query}`,
  headers: { 'content-type': 'application/x-ndjson' },
  body: record
})

const inputs: { readonly [name: string]: string } = {
  'createDomain with an actor': 'createDomain(input: { name: "x", actor: "urn:li:corpuser:admin" })',
  'createDomain with a URN': 'createDomain(input: { name: "x", urn: "urn:li:domain:x" })',
  'createDomain with a time': 'createDomain(input: { name: "x", createdAt: 0 })',
  'updateName with a version': `updateName(input: { urn: "${domains.other}", name: "x", version: 9 })`,
  'updateLineage with an actor': 'updateLineage(input: { edgesToAdd: [], edgesToRemove: [], actor: "root" })',
  'createAccessToken with a hash':
    'createAccessToken(input: { type: PERSONAL, actorUrn: "urn:li:corpuser:x", duration: ONE_DAY, name: "x", tokenHash: "x" }) { accessToken }'
}

export const properties: readonly Probe[] = [
  {
    name: 'system fields in a record',
    ...load(
      JSON.stringify({
        op: 'createDomain',
        id: 'assigned',
        name: 'Assigned',
        actor: 'urn:li:corpuser:admin',
        tokenId: '00000000-0000-0000-0000-000000000000',
        scopes: ['admin'],
        seq: 9_000_000_000,
        version: 99,
        auditStamp: { time: 1, actor: 'urn:li:corpuser:admin' },
        systemMetadata: { version: '99' },
        constructor: { name: 'x' }
      })
    ),
    expected: { ...done, contains: '"actor":"urn:li:corpuser:writer"' },
    changes: 'catalog',
    afterwards: [
      {
        path: '/openapi/v3/entity/domain/urn%3Ali%3Adomain%3Aassigned/domainProperties?systemMetadata=true',
        expected: { ...done, lacks: 'corpuser:admin' }
      },
      {
        path: '/openapi/v3/entity/domain/urn%3Ali%3Adomain%3Aassigned/domainProperties?version=99',
        expected: refused(404, 'NOT_FOUND')
      },
      { method: 'DELETE', path: '/openapi/v3/entity/domain/urn%3Ali%3Adomain%3Aassigned', expected: done }
    ]
  },
  ...Object.entries(inputs).map(([name, field]) =>
    overGraphql({
      name: `a system field in an input: ${name}`,
      as: 'admin',
      query: `mutation { ${field} }`,
      code: 'GRAPHQL_VALIDATION_FAILED'
    })
  ),
  ...forEach(
    {
      actor: 'actor=root',
      tokenId: 'tokenId=x',
      seq: 'seq=1',
      state: 'state=done',
      scopes: 'scopes=admin',
      id: 'id=x'
    },
    (parameter) => ({ ...load('{}', `&${parameter}`), expected: refused(400, 'BAD_REQUEST') }),
    'a system field in the query of a load'
  ),
  ...forEach(
    { mode: 'mode=undo', format: 'format=undo' },
    (parameter) => ({
      method: 'POST' as const,
      path: `/loads?${parameter}`,
      headers: { 'content-type': 'application/x-ndjson' },
      body: '{"op":"undoCreation","entityUrn":"urn:li:domain:other","seqs":[1]}',
      expected: refused(400, 'UNSUPPORTED')
    }),
    'the form of undos'
  ),
  {
    name: 'an undo as a record',
    ...load('{"op":"undoCreation","entityUrn":"urn:li:domain:other","seqs":[1]}'),
    expected: { ...done, rejects: 'BAD_REQUEST' },
    changes: 'load'
  },
  {
    name: 'an actor in a proposal',
    method: 'POST',
    path: '/aspects?action=ingestProposal',
    headers: { 'x-datahub-actor': 'urn:li:corpuser:admin' },
    body: {
      proposal: {
        entityType: 'domain',
        entityUrn: 'urn:li:domain:assigned',
        changeType: 'UPSERT',
        aspectName: 'domainProperties',
        auditHeader: { actor: 'urn:li:corpuser:admin', time: 1 },
        aspect: { json: { name: 'Assigned' } }
      }
    },
    expected: done,
    changes: 'catalog',
    afterwards: [
      {
        as: 'admin',
        path: '/openapi/v3/entity/domain/urn%3Ali%3Adomain%3Aassigned/domainProperties?systemMetadata=true',
        expected: { ...done, lacks: 'corpuser:admin' }
      },
      {
        as: 'admin',
        method: 'DELETE',
        path: '/openapi/v3/entity/domain/urn%3Ali%3Adomain%3Aassigned',
        expected: done
      }
    ]
  },
  {
    name: 'a version in a proposal',
    method: 'POST',
    path: '/aspects?action=ingestProposal',
    body: {
      proposal: {
        headers: { 'If-Version-Match': '99' },
        entityType: 'domain',
        entityUrn: domains.other,
        changeType: 'UPSERT',
        aspectName: 'domainProperties',
        aspect: { json: { name: 'x' } }
      }
    },
    expected: refused(412, 'PRECONDITION_FAILED')
  },
  {
    name: 'rights in the request of a session',
    as: null,
    method: 'POST',
    path: '/session',
    body: { token: '<token of reader>', scopes: ['admin'] },
    expected: refused(400, 'BAD_REQUEST')
  },
  ...forEach(
    { id: { id: 'not-what-clients-choose' }, prototype: { __proto__: null, seqs: [1] } },
    (body) => ({
      method: 'POST' as const,
      path: '/loads/<load>/cancel',
      body,
      expected: refused(409, 'CONFLICT')
    }),
    'a body where none is read'
  )
]
