/** HTTP itself as the attack: headers, framing, paths, content types, compression, origins, JSON. */
import { gzipSync } from 'node:zlib'
import { done, forEach, refused, type Expected, type Probe, type Sent } from '../probe.ts'
import { domains } from '../world.ts'

const badRequest = refused(400, 'BAD_REQUEST')
const head = 'Host: x\r\nAuthorization: Bearer <token>\r\nConnection: close\r\n'
const json = { 'content-type': 'application/json' }
const lines = { 'content-type': 'application/x-ndjson' }
const typename = '{"query":"{ __typename }"}'
const record = '{"op":"createDomain","id":"smuggled","name":"Smuggled"}'

/** A second request hidden in the first; if it is answered, its answer tells the path that does not exist. */
const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer <token>\r\n\r\n'
const post = `POST /api/graphql HTTP/1.1\r\n${head}Content-Type: application/json\r\n`

/** Requests whose end two servers could see at different places. */
const framings: { readonly [name: string]: string } = {
  'Content-Length and Transfer-Encoding': `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'Transfer-Encoding and Content-Length': `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
  'two Content-Length': `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345${hidden}`,
  'a list of lengths': `${post}Content-Length: 5, 5\r\n\r\n12345${hidden}`,
  'a length with a sign': `${post}Content-Length: +5\r\n\r\n12345${hidden}`,
  'a negative length': `${post}Content-Length: -1\r\n\r\n${hidden}`,
  'a hexadecimal length': `${post}Content-Length: 0x5\r\n\r\n12345${hidden}`,
  'a length of 20 digits': `${post}Content-Length: 99999999999999999999\r\n\r\n${hidden}`,
  'chunked that is not last': `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
  'an unknown Transfer-Encoding': `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
  'two Transfer-Encoding': `${post}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'a blank before the colon': `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'a folded header': `${post}X-Folded: a\r\n b\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'a bare carriage return': `${post}X-Bare: a\rTransfer-Encoding: chunked\r\n\r\n${hidden}`,
  'NUL in a header': `${post}X-Nul: a\0b\r\n\r\n${hidden}`,
  'a chunk whose size is not a number': `${post}Transfer-Encoding: chunked\r\n\r\nxyz\r\n${hidden}`,
  'a chunk of 2^64 bytes': `${post}Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n${hidden}`,
  'a chunk that is longer than its size': `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx\r\n0\r\n\r\n${hidden}`,
  'lines without carriage returns': post.replaceAll('\r\n', '\n') + `Content-Length: 2\n\n{}${hidden}`,
  'a header without a colon': `${post}nonsense\r\n\r\n${hidden}`,
  'HTTP/3.0': 'GET /api/limits HTTP/3.0\r\nHost: x\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  TLS: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'a path with a blank': `GET /api limits HTTP/1.1\r\n${head}\r\n`,
  'a path in raw UTF-8': `GET /api/\u00e9 HTTP/1.1\r\n${head}\r\n`
}

const contentTypes = {
  'text/plain': 'text/plain',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data; boundary=x',
  XML: 'application/xml',
  'JSON behind a blank and garbage': 'application/json garbage',
  'JSON and another type': 'application/json, text/plain',
  'JSON with more letters': 'application/jsonx',
  'JSON as a part of a name': 'application/json-seq',
  'text/json': 'text/json',
  'two types': 'text/plain; application/json',
  empty: '',
  'a type without a subtype': 'json',
  'a prototype': '__proto__'
} as const

const packed = gzipSync(record)
const compressed: { readonly [name: string]: { body: Buffer; encoding: string; expected: Expected } } = {
  'gzip in gzip': {
    body: gzipSync(packed),
    encoding: 'gzip, gzip',
    expected: refused(415, 'UNSUPPORTED_MEDIA_TYPE')
  },
  'gzip in gzip, said once': {
    body: gzipSync(packed),
    encoding: 'gzip',
    expected: refused(400, 'BAD_REQUEST')
  },
  brotli: { body: packed, encoding: 'br', expected: refused(415, 'UNSUPPORTED_MEDIA_TYPE') },
  deflate: { body: packed, encoding: 'deflate', expected: refused(415, 'UNSUPPORTED_MEDIA_TYPE') },
  'an unknown encoding': {
    body: packed,
    encoding: '../gzip',
    expected: refused(415, 'UNSUPPORTED_MEDIA_TYPE')
  },
  'a body that is not packed': { body: Buffer.from(record), encoding: 'gzip', expected: badRequest },
  'a packed body that is cut off': { body: packed.subarray(0, -4), encoding: 'gzip', expected: badRequest },
  'a wrong checksum': {
    body: Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)]),
    encoding: 'gzip',
    expected: badRequest
  },
  'data behind the end': {
    body: Buffer.concat([packed, Buffer.from('x'.repeat(100))]),
    encoding: 'gzip',
    expected: badRequest
  },
  '64 MB of blanks in 64 KB': {
    body: gzipSync(Buffer.alloc(64 * 1024 * 1024, 32), { level: 9 }),
    encoding: 'gzip',
    expected: refused(413, 'BODY_TOO_LARGE')
  }
}

/** Files outside of the folder that pages are served from. */
const files = [
  '/ui/../package.json',
  '/ui/../../package.json',
  '/ui/%2e%2e/%2e%2e/package.json',
  '/ui/..%2f..%2fpackage.json',
  '/ui/..%5c..%5cpackage.json',
  '/ui/....//....//package.json',
  '/ui/%252e%252e%252fpackage.json',
  '/ui//etc/passwd',
  '/ui/%2fetc%2fpasswd',
  '/ui/file:///etc/passwd',
  '/ui/assets/../../bin/tributary.js',
  '/ui/.env'
]

/** Texts with a second header line, where an answer or a log line could repeat them. */
const injected = '%0d%0aset-cookie:%20forged=1%0d%0a%0d%0a%7b%22forged%22:1%7d'

/** JSON that means two things to two readers, or reaches for prototypes. */
const doors: {
  readonly [name: string]: (text: string) => Pick<Sent, 'method' | 'path' | 'headers' | 'body'>
} = {
  GraphQL: (text) => ({
    method: 'POST',
    path: '/api/graphql',
    headers: json,
    body: `{"query":"{ __typename }","variables":{"x":${text}}}`
  }),
  RestLi: (text) => ({
    method: 'POST',
    path: '/aspects?action=ingestProposal',
    headers: json,
    body: `{"proposal":{"entityType":"domain","entityUrn":"${domains.other}","changeType":"UPSERT","aspectName":"domainProperties","aspect":{"json":{"name":"x","more":${text}}}}}`
  }),
  'text in RestLi': (text) => ({
    method: 'POST',
    path: '/aspects?action=ingestProposal',
    headers: json,
    body: JSON.stringify({
      proposal: {
        entityType: 'domain',
        entityUrn: domains.other,
        changeType: 'UPSERT',
        aspectName: 'domainProperties',
        aspect: { contentType: 'application/json', value: `{"name":"x","more":${text}}` }
      }
    })
  }),
  'a patch': (text) => ({
    method: 'PATCH',
    path: `/openapi/v3/entity/domain/${encodeURIComponent(domains.other)}/domainProperties?async=false`,
    headers: json,
    body: `{"patch":[{"op":"add","path":"/more","value":${text}}]}`
  }),
  'OpenAPI v3': (text) => ({
    method: 'POST',
    path: '/openapi/v3/entity/domain?async=false',
    headers: json,
    body: `[{"urn":"${domains.other}","domainProperties":{"value":{"name":"x","more":${text}}}}]`
  }),
  OpenLineage: (text) => ({
    method: 'POST',
    path: '/api/v1/lineage',
    headers: json,
    body: `{"eventTime":"2026-01-01T00:00:00Z","run":{"facets":${text}}}`
  }),
  'domain rules': (text) => ({
    method: 'PUT',
    path: '/domain-rules',
    headers: json,
    body: `{"rules":[],"more":${text}}`
  })
}

export const transport: readonly Probe[] = [
  ...Object.entries(framings).map(([name, bytes]): Probe => ({
    name: `framing: ${name}`,
    path: '',
    bytes,
    expected: { ...badRequest, lacks: '/hidden' }
  })),
  {
    name: 'two requests in one packet are answered apart',
    path: '',
    bytes: `GET /version HTTP/1.1\r\nHost: x\r\n\r\nGET /api/limits HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    expected: { ...done, contains: 'HTTP/1.1 401' }
  },
  {
    name: 'headers of 20 KB',
    path: '/version',
    headers: { 'x-long': 'x'.repeat(20_000) },
    expected: refused(431, 'BAD_REQUEST')
  },
  {
    name: '300 headers',
    path: '/api/limits',
    headers: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x${index}`, '1'])),
    expected: done
  },
  {
    name: 'a path of 15 KB',
    path: `/loads/${'x'.repeat(15_000)}`,
    expected: badRequest
  },
  ...forEach(
    { 'percent signs': '/api/%zz', 'overlong UTF-8': '/api/%c0%af', 'a lone surrogate': '/api/%ed%a0%80' },
    (path) => ({ path: `${path}?access_token=<token>`, expected: { ...badRequest, lacks: 'access_token' } }),
    'a path that cannot be decoded'
  ),
  {
    name: 'no Host',
    path: '',
    bytes: 'GET /api/limits HTTP/1.1\r\nConnection: close\r\n\r\n',
    expected: badRequest
  },
  {
    name: 'HTTP/0.9',
    path: '',
    bytes: 'GET /api/limits\r\n\r\n',
    expected: refused(401, 'UNAUTHENTICATED')
  },
  {
    name: 'a WebSocket on the path of GraphQL',
    path: '',
    bytes: `GET /api/graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer <token>\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`,
    expected: refused(405, 'METHOD_NOT_ALLOWED')
  },
  {
    name: 'an upgrade to HTTP/2',
    path: '',
    bytes: `GET /version HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n`,
    expected: done
  },
  ...forEach(
    contentTypes,
    (type) => ({
      method: 'POST' as const,
      path: '/api/graphql',
      headers: { 'content-type': type },
      body: typename,
      expected: refused(415, 'UNSUPPORTED_MEDIA_TYPE')
    }),
    'a content type'
  ),
  ...forEach(
    contentTypes,
    (type) => ({
      method: 'POST' as const,
      path: '/aspects?action=ingestProposal',
      headers: { 'content-type': type },
      body: '{}',
      expected: refused(415, 'UNSUPPORTED_MEDIA_TYPE')
    }),
    'a content type of a write'
  ),
  {
    name: 'JSON in UTF-16',
    method: 'POST',
    path: '/api/graphql',
    headers: { 'content-type': 'application/json; charset=utf-16' },
    body: Buffer.from(typename, 'utf16le'),
    expected: badRequest
  },
  ...forEach(
    compressed,
    ({ body, encoding, expected }) => ({
      method: 'POST' as const,
      path: '/loads?format=ndjson&wait=25',
      headers: { ...lines, 'content-encoding': encoding },
      body,
      expected,
      changes: 'load' as const
    }),
    'a compressed load'
  ),
  ...forEach(
    {
      GraphQL: '/api/graphql',
      RestLi: '/aspects?action=ingestProposal',
      'OpenAPI v3': '/openapi/v3/entity/domain'
    },
    (path) => ({
      method: 'POST' as const,
      path,
      headers: { ...json, 'content-encoding': 'gzip' },
      body: gzipSync(typename),
      expected: refused(415, 'UNSUPPORTED_MEDIA_TYPE')
    }),
    'a compressed body'
  ),
  {
    name: 'a compressed load with a wrong length',
    path: '',
    bytes: `POST /loads?format=ndjson HTTP/1.1\r\n${head}Content-Type: application/x-ndjson\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n${'x'.repeat(10)}${hidden}`,
    expected: { ...badRequest, lacks: '/hidden' },
    changes: 'load'
  },
  ...files.map((path): Probe => ({
    name: `a file at ${path}`,
    as: null,
    path,
    expected: { ...refused(404, 'NOT_FOUND'), lacks: '"dependencies"' }
  })),
  ...forEach(
    {
      alone: '/ui/%00',
      'before another ending': '/ui/index.html%00.js',
      'of an API': '/aspects/urn%3Ali%00?aspect=x'
    },
    (path) => ({ path, expected: refused(400, 'INVALID_CHARACTER') }),
    'U+0000 in a path'
  ),
  ...forEach<[path: string, expected: Expected]>(
    {
      'in the path': [`/loads/${injected}`, refused(404, 'NOT_FOUND')],
      'in an unknown path': [`/nothing${injected}`, refused(404, 'NOT_FOUND')],
      'in a filter': [`/loads?source=${injected}`, done],
      'in the name of a parameter': [`/loads?${injected}=1`, badRequest],
      'in the name of an export': [`/lineage/export?urn=${injected}`, refused(400, 'INVALID_CHARACTER')]
    },
    ([path, expected]) => ({ path, expected: { ...expected, headers: { 'set-cookie': null } } }),
    'a header'
  ),
  {
    name: 'a request id that is not one is replaced',
    path: '/api/limits',
    headers: { 'x-request-id': 'a"}\t{"forged":1}' },
    expected: { ...done, lacks: 'forged' }
  },
  {
    name: 'a line of the log in a path',
    path: `/nothing%0a%7b%22forged%22:1,%22time%22:1%7d`,
    expected: refused(404, 'NOT_FOUND')
  },
  {
    name: 'a secret in a path that is logged',
    path: '/nothing?password=hunter2-in-a-url&token=<token>',
    expected: { ...refused(404, 'NOT_FOUND'), lacks: 'hunter2' }
  },
  {
    name: 'a line of the log in a header',
    as: null,
    path: '/api/limits',
    headers: { 'user-agent': '\\n{"forged":1}', authorization: 'Bearer \\n{"forged":1}' },
    expected: refused(401, 'UNAUTHENTICATED')
  },
  ...forEach(
    {
      'an origin': 'https://evil.example',
      'no origin': 'null',
      'a domain that ends alike': 'http://x.127.0.0.1'
    },
    (origin) => ({
      method: 'OPTIONS' as const,
      as: null,
      path: '/api/graphql',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization'
      },
      expected: {
        ...refused(401, 'UNAUTHENTICATED'),
        headers: { 'access-control-allow-origin': null, 'access-control-allow-credentials': null }
      }
    }),
    'a preflight'
  ),
  {
    name: 'an answer to another origin',
    path: '/api/limits',
    headers: { origin: 'https://evil.example' },
    expected: {
      ...done,
      headers: { 'access-control-allow-origin': null, 'access-control-allow-credentials': null }
    }
  },
  {
    name: 'the address of another host',
    as: null,
    path: '/',
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    expected: { status: 302, code: null, headers: { location: 'ui/' } }
  },
  ...forEach(
    {
      'two slashes': '//evil.example/%2f..',
      'a backslash': '/%5cevil.example',
      'below the UI': '/ui//evil.example/'
    },
    (path) => ({
      as: null,
      path,
      expected: path.startsWith('/ui') ? refused(404, 'NOT_FOUND') : refused(401, 'UNAUTHENTICATED')
    }),
    'a redirect to another site'
  ),
  ...[
    '{"__proto__":{"isAdmin":true}}',
    '{"a":{"constructor":{"prototype":{"isAdmin":true}}}}',
    '{"\\u005f_proto__":1}'
  ].flatMap((text) =>
    Object.entries(doors).map(([name, door]): Probe => ({
      name: `a prototype in ${name}: ${text}`,
      as: 'admin',
      ...door(text),
      expected: badRequest
    }))
  ),
  {
    name: 'a prototype in a record of a load',
    method: 'POST',
    path: '/loads?format=ndjson&wait=25',
    headers: lines,
    body: '{"op":"createDomain","name":"x","__proto__":{"y":1}}\n{"op":"createDomain","name":"x","constructor":{"prototype":1}}',
    expected: { ...done, rejects: 'BAD_REQUEST' },
    changes: 'load'
  },
  {
    name: 'a key twice: the last one counts',
    method: 'POST',
    path: '/api/graphql',
    headers: json,
    body: `{"query":"mutation { deleteDomain(urn: \\"${domains.other}\\") }","query":"{ __typename }"}`,
    expected: { ...done, contains: '"__typename":"Query"' }
  },
  {
    name: 'JSON of 100,000 levels',
    method: 'POST',
    path: '/aspects?action=ingestProposal',
    headers: json,
    body: `{"proposal":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    expected: badRequest
  }
]
