/** Things of another token: loads, their rejects and events, traces, idempotency keys, cursors. */
import { done, forEach, overGraphql, refused, type Holder, type Probe, type Sent } from '../probe.ts'

const notFound = refused(404, 'NOT_FOUND')

const ofTheLoad: { readonly [name: string]: Pick<Sent, 'method' | 'path'> } = {
  read: { path: '/loads/<load>' },
  'read and wait': { path: '/loads/<load>?wait=1' },
  events: { path: '/loads/<load>/events' },
  rejects: { path: '/loads/<load>/rejects' },
  'rejects as CSV': { path: '/loads/<load>/rejects?format=csv' },
  retry: { method: 'POST', path: '/loads/<load>/retry' },
  'retry with force': { method: 'POST', path: '/loads/<load>/retry?force=true' },
  undo: { method: 'POST', path: '/loads/<load>/undo' },
  cancel: { method: 'POST', path: '/loads/<load>/cancel' }
}

const fields = {
  load: '{ load(id: "<load>") { id source } }',
  retryLoad: 'mutation { retryLoad(id: "<load>") { id } }',
  undoLoad: 'mutation { undoLoad(id: "<load>") { id } }',
  cancelLoad: 'mutation { cancelLoad(id: "<load>") { id } }'
} as const

const strangers: readonly Holder[] = ['stranger', 'limited', 'limitedAdmin']
const cursor = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url')
const lastTime = '2999-01-01 00:00:00+00'

export const objects: readonly Probe[] = [
  ...strangers.flatMap((as) =>
    forEach(
      ofTheLoad,
      (request) => ({ ...request, as, expected: { ...notFound, lacks: 'secret' } }),
      `a load of another token, ${as}`
    )
  ),
  ...strangers.flatMap((as) =>
    Object.entries(fields).map(([name, query]) =>
      overGraphql({ name: `a load of another token, ${as}: ${name}`, as, query, code: 'NOT_FOUND' })
    )
  ),
  ...strangers.map((as): Probe => ({
    name: `the list of loads, ${as}`,
    as,
    path: '/loads?limit=1000',
    expected: { ...done, lacks: '<load>' }
  })),
  ...strangers.map((as): Probe => ({
    name: `the list of loads from a forged cursor, ${as}`,
    as,
    path: `/loads?limit=1000&cursor=${cursor(lastTime, 'ffffffff-ffff-ffff-ffff-ffffffffffff')}`,
    expected: { ...done, lacks: '<load>' }
  })),
  {
    name: 'the list of loads by the source of another token',
    as: 'stranger',
    path: '/loads?source=plans',
    expected: { ...done, lacks: 'secret', contains: '"loads":[]' }
  },
  {
    name: 'the writer sees its own load',
    path: '/loads/<load>',
    expected: { ...done, contains: '<load>' }
  },
  {
    name: 'an idempotency key of another token',
    as: 'stranger',
    method: 'POST',
    path: '/loads?format=ndjson&wait=25&source=plans',
    headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'plans-1' },
    body: '{"op":"unsetDomain","entityUrn":"urn:li:dataset:(urn:li:dataPlatform:hive,probe.nowhere,PROD)"}',
    expected: { ...done, lacks: '<load>', headers: { 'idempotency-replayed': null } },
    changes: 'load'
  },
  ...forEach(
    {
      'not base64': '!!!!',
      'another shape': cursor({ a: 1 }),
      'SQL in place of a time': cursor("x' or '1'='1", '00000000-0000-0000-0000-000000000000'),
      'SQL in place of an id': cursor('2026-01-01 00:00:00+00', "x' or '1'='1"),
      'a third part': cursor('2026-01-01 00:00:00+00', '00000000-0000-0000-0000-000000000000', 'x'),
      'a prototype': Buffer.from('{"__proto__":[1,2]}').toString('base64url'),
      '8 KB': 'A'.repeat(8_000)
    },
    (text) => ({ path: `/loads?cursor=${encodeURIComponent(text)}`, expected: refused(400, 'BAD_REQUEST') }),
    'a cursor of loads'
  ),
  ...forEach(
    {
      random: 'AAAA',
      json: Buffer.from('{"offset":1e9}').toString('base64'),
      SQL: "' or 1=1--",
      '8 KB': 'A'.repeat(8_000)
    },
    (text) => ({
      path: `/openapi/v3/entity/dataset?scrollId=${encodeURIComponent(text)}`,
      expected: refused(400, 'BAD_REQUEST')
    }),
    'a scroll id of OpenAPI v3'
  ),
  ...forEach(
    {
      'a path': '..%2f..%2fapi%2flimits',
      SQL: "x'%20or%20'1'='1",
      'another case': '<load>'.toUpperCase().replace('LOAD', 'load'),
      'a number': '1',
      'an empty id': '%20'
    },
    (id) => ({ as: 'stranger' as const, path: `/loads/${id}`, expected: notFound }),
    'an id of a load'
  )
]
