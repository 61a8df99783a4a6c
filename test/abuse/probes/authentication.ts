/** Requests without a valid token, or with one in the wrong place, and other ways around authentication. */
import { done, forEach, refused, type Expected, type Probe, type Sent } from '../probe.ts'

const unauthenticated: Expected = {
  ...refused(401, 'UNAUTHENTICATED'),
  headers: { 'www-authenticate': 'Bearer realm="tributary"' }
}

/** None of these is the one header `Authorization: Bearer TOKEN`. */
const malformed = {
  'without a token': 'Bearer',
  'an empty token': 'Bearer ',
  'no scheme': '<token>',
  'another scheme': 'Token <token>',
  'Basic with the token as the password': 'Basic eDp5',
  Digest: 'Digest username="admin", response="<token>"',
  'the scheme twice': 'Bearer Bearer <token>',
  'two tokens': 'Bearer <token> <token>',
  'two credentials in one header': 'Bearer <token>, Bearer <token>',
  quoted: 'Bearer "<token>"',
  'a tab before the token': 'Bearer\t<token>',
  'a percent-encoded blank': 'Bearer%20<token>',
  'characters behind the token': 'Bearer <token>AAAA',
  'the token without its last character': 'Bearer trib_0000000000000000000000000000000000000000000000000',
  '10 KB': `Bearer ${'x'.repeat(10_240)}`,
  'Latin-1': 'Bearer tr\u00efb\u00e9',
  'a JSON Web Token without a signature':
    'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiIsImdyb3VwcyI6WyJhZG1pbiJdfQ.',
  'SQL in place of a token': "Bearer trib_'or'1'='1'--",
  null: 'Bearer null',
  undefined: 'Bearer undefined'
} as const

const headersThatAreNotTheOne = {
  'X-Api-Key': 'x-api-key',
  'X-Auth-Token': 'x-auth-token',
  'Proxy-Authorization': 'proxy-authorization',
  'X-Authorization': 'x-authorization',
  'X-Forwarded-Authorization': 'x-forwarded-authorization'
} as const

/** A read and a write of each interface. */
const doors: { readonly [name: string]: Pick<Sent, 'method' | 'path' | 'body'> } = {
  GraphQL: { method: 'POST', path: '/api/graphql', body: { query: '{ me { corpUser { urn } } }' } },
  'RestLi read': { path: '/aspects/urn%3Ali%3Adomain%3Aown?aspect=domainProperties' },
  'RestLi write': { method: 'POST', path: '/aspects?action=ingestProposal', body: {} },
  'RestLi entities': {
    method: 'POST',
    path: '/entities?action=delete',
    body: { urn: 'urn:li:domain:other' }
  },
  'OpenAPI v3 read': { path: '/openapi/v3/entity/domain/urn%3Ali%3Adomain%3Aown' },
  'OpenAPI v3 write': { method: 'POST', path: '/openapi/v3/entity/domain', body: [] },
  'OpenAPI v3 delete': { method: 'DELETE', path: '/openapi/v3/entity/domain/urn%3Ali%3Adomain%3Aother' },
  loads: { path: '/loads' },
  'a load': { method: 'POST', path: '/loads?format=ndjson', body: '{}' },
  'undo of a load': { method: 'POST', path: '/loads/<load>/undo' },
  'events of a load': { path: '/loads/<load>/events' },
  OpenLineage: { method: 'POST', path: '/api/v1/lineage', body: {} },
  'OpenLineage batch': { method: 'POST', path: '/openapi/openlineage/api/v1/lineage/batch', body: [] },
  Marquez: { path: '/api/v1/namespaces' },
  'lineage export': { path: '/lineage/export?urn=x' },
  'domains export': { path: '/domains/export' },
  'domain rules': { method: 'DELETE', path: '/domain-rules' },
  'API limits': { path: '/api/limits' },
  session: { path: '/session' }
}

/** Spellings of a path that needs a token, by which it could pass for an open one. */
const spellings = [
  '/health/../api/limits',
  '/health/%2e%2e/api/limits',
  '/health/..%2fapi/limits',
  '/api/limits;/health',
  '/api/limits/',
  '//health//../api/limits',
  '/api/limits%23/health',
  '/api/limits%3f/health',
  '/version/../api/limits',
  '/API/LIMITS',
  '/api/gms/api/limits',
  '/api/gms//api/limits',
  '/ui%2f..%2fapi/limits',
  '/openapi.json/../api/limits'
]

const readLimits = 'GET /api/limits HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'

export const authentication: readonly Probe[] = [
  ...forEach(
    malformed,
    (authorization) => ({
      as: null,
      path: '/api/limits',
      headers: { authorization },
      expected: unauthenticated
    }),
    'Authorization'
  ),
  ...forEach(
    headersThatAreNotTheOne,
    (header) => ({
      as: null,
      path: '/api/limits',
      headers: { [header]: 'Bearer <token>' },
      expected: unauthenticated
    }),
    'a token in another header'
  ),
  ...forEach(
    {
      token: '?token=<token>',
      access_token: '?access_token=<token>',
      authorization: '?authorization=Bearer%20<token>',
      api_key: '?api_key=<token>'
    },
    (query) => ({ as: null, path: `/api/limits${query}`, expected: unauthenticated }),
    'a token in the query string'
  ),
  ...forEach(
    {
      'of a session': 'tributary_session=<token>',
      'named token': 'token=<token>',
      'of a prototype': '__proto__=<token>'
    },
    (cookie) => ({ as: null, path: '/api/limits', headers: { cookie }, expected: unauthenticated }),
    'a token in a cookie'
  ),
  {
    name: 'a token in the body',
    as: null,
    method: 'POST',
    path: '/api/graphql',
    body: { query: '{ me { corpUser { urn } } }', token: '<token>', authorization: 'Bearer <token>' },
    expected: unauthenticated
  },
  ...forEach(
    {
      'the valid one first': 'Authorization: Bearer <token>\r\nAuthorization: Bearer x\r\n',
      'the valid one last': 'Authorization: Bearer x\r\nAuthorization: Bearer <token>\r\n',
      'in other cases': 'authorization: Bearer <token>\r\nAUTHORIZATION: Bearer <token>\r\n'
    },
    (headers) => ({
      path: '',
      bytes: `${readLimits}${headers}\r\n`,
      expected: refused(401, 'UNAUTHENTICATED')
    }),
    'two Authorization headers'
  ),
  ...forEach(
    doors,
    (door) => ({ ...door, as: 'revoked' as const, expected: unauthenticated }),
    'a revoked token'
  ),
  ...forEach(
    doors,
    (door) => ({ ...door, as: 'expired' as const, expected: unauthenticated }),
    'an expired token'
  ),
  ...spellings.map((path): Probe => ({
    name: `a path spelt ${path}`,
    as: null,
    path,
    expected: unauthenticated
  })),
  {
    name: 'the address of another server as the path',
    path: '',
    bytes: 'GET http://x/health/../api/limits HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    expected: refused(401, 'UNAUTHENTICATED')
  },
  ...forEach(
    {
      'X-DataHub-Actor': 'x-datahub-actor',
      'X-Forwarded-User': 'x-forwarded-user',
      'X-Remote-User': 'x-remote-user',
      'X-Actor': 'x-actor'
    },
    (header) => ({
      as: null,
      path: '/api/limits',
      headers: { [header]: 'urn:li:corpuser:admin' },
      expected: unauthenticated
    }),
    'a header that names an actor'
  ),
  {
    name: 'an actor in a header beside a token',
    method: 'POST',
    path: '/api/graphql',
    headers: { 'x-datahub-actor': 'urn:li:corpuser:admin', 'x-forwarded-user': 'admin' },
    body: { query: '{ me { corpUser { urn } } }' },
    expected: { ...done, contains: 'urn:li:corpuser:writer', lacks: 'corpuser:admin' }
  },
  ...forEach(
    {
      'X-HTTP-Method-Override': 'x-http-method-override',
      'X-HTTP-Method': 'x-http-method',
      'X-Method-Override': 'x-method-override',
      'X-RestLi-Method': 'x-restli-method'
    },
    (header) => ({
      as: 'admin' as const,
      path: '/domain-rules',
      headers: { [header]: 'DELETE' },
      expected: done
    }),
    'another method in a header'
  ),
  {
    name: 'another method in the query string',
    as: 'admin',
    path: '/loads?_method=DELETE',
    expected: refused(400, 'BAD_REQUEST')
  },
  ...['TRACE', 'TRACK', 'PROPFIND', 'DEBUG'].map((method): Probe => ({
    name: `the method ${method}`,
    path: '',
    bytes: `${method} /api/limits HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Secret: echoed\r\n\r\n`,
    expected: {
      ...refused(
        method === 'TRACE' || method === 'PROPFIND' ? 401 : 400,
        method === 'TRACE' || method === 'PROPFIND' ? 'UNAUTHENTICATED' : 'BAD_REQUEST'
      ),
      lacks: 'echoed'
    }
  })),
  {
    name: 'an open tunnel',
    path: '',
    bytes: 'CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254:80\r\n\r\n',
    expected: { status: 400, code: 'BAD_REQUEST' }
  }
]
