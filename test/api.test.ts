/**
 * The HTTP and GraphQL interfaces: transport, errors, limits, operations, and the mutations of domains and
 * lineage.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fastify } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { addAnswerDeadline } from '../api/answer-deadline.ts'
import { sendProblem } from '../api/error-responses.ts'
import { createHttpServer } from '../api/http-server.ts'
import { startApi } from '../api/start.ts'
import { limits } from '../shared/limits.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { createToken } from '../shared/catalog/access/create-token.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { withDatabase } from './support/database.ts'
import { sendBytes } from './support/raw-request.ts'
import { withServer, type TestServer } from './support/server.ts'

const ping = '{ entityExists(urn: "urn:li:domain:none") }'
const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`

t.test('transport', async (t) => {
  const server = await withServer(t)
  const { rest, graphql } = server
  const post = (body: unknown, headers: { [name: string]: string } = {}) =>
    rest({ method: 'POST', url: '/api/graphql', body, headers })

  t.test('every answer has the request id, security headers, and no trace of the framework', async (t) => {
    for (const request of [{ url: '/version' }, { url: '/no/such' }, { url: '/api/limits', token: null }]) {
      const { headers } = await rest(request)
      t.match(headers['x-request-id'], /^[\w.-]{1,64}$/)
      t.equal(headers['x-content-type-options'], 'nosniff')
      t.match(headers['content-security-policy'], /default-src 'none'/)
      t.equal(headers['cache-control'], 'no-store')
      t.notOk(headers['x-powered-by'])
      t.notOk(headers['access-control-allow-origin'])
    }
  })

  t.test('a well-formed request id of the caller is used', async (t) => {
    const idOf = async (id: string) => await rest({ url: '/no/such', headers: { 'x-request-id': id } })
    t.match(await idOf('abc-1.2_3'), {
      headers: { 'x-request-id': 'abc-1.2_3' },
      body: { requestId: 'abc-1.2_3' }
    })
    for (const id of ['x'.repeat(65), 'a b', 'a"b', '']) t.not((await idOf(id)).headers['x-request-id'], id)
  })

  t.test('a known path refuses other methods and says which it has', async (t) => {
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'] as const) {
      const { status, headers } = await rest({ method, url: '/api/graphql?query=%7B__typename%7D' })
      t.equal(status, 405, method)
      t.equal(headers.allow, 'OPTIONS, POST')
    }
    t.match(await rest({ method: 'POST', url: '/version', body: {} }), {
      status: 405,
      body: { code: 'METHOD_NOT_ALLOWED' },
      headers: { allow: 'GET, HEAD, OPTIONS' }
    })
    t.match(await rest({ method: 'OPTIONS', url: '/api/graphql' }), {
      status: 204,
      headers: { allow: 'OPTIONS, POST' }
    })
    t.match(await rest({ method: 'DELETE', url: `/aspects/${dataset('a')}` }), {
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' }
    })
    t.equal((await rest({ method: 'HEAD', url: '/version' })).status, 200)
  })

  t.test('an unknown path is answered with 404 in JSON', async (t) => {
    t.match(await rest({ url: '/no/such?token=secret' }), {
      status: 404,
      headers: { 'content-type': /^application\/problem\+json/ },
      body: { code: 'NOT_FOUND' }
    })
    t.notMatch((await rest({ url: '/no/such?token=secret' })).text, /secret/)
    t.match(
      await rest({ method: 'POST', url: '/no/such', body: 'x', headers: { 'content-type': 'text/plain' } }),
      { status: 404 }
    )
    const unreadable = await rest({ url: '/%E0%A4%A?token=secret' })
    t.match(unreadable, {
      status: 400,
      headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
      body: { code: 'BAD_REQUEST' }
    })
    t.notMatch(unreadable.text, /secret/)
  })

  t.test('other media types and encodings are refused', async (t) => {
    const body = JSON.stringify({ query: ping })
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json garbage'
    ]) {
      t.match(
        await post(body, { 'content-type': type }),
        { status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } },
        type
      )
    }
    t.match(await post(body), { status: 415 }, 'none')
    t.match(await post(body, { 'content-type': 'application/json', 'content-encoding': 'gzip' }), {
      status: 415
    })
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON'])
      t.match(await post(body, { 'content-type': type }), { status: 200 }, type)
  })

  t.test('a body that is not a request is answered with 400', async (t) => {
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '"x"',
      '5',
      '{}',
      '{"query":5}',
      `[{"query":"${ping.replaceAll('"', '\\"')}"}]`,
      '{"query":"{ __typename }","variables":[]}',
      '{"query":"{ __typename }","variables":"x"}',
      '{"query":"{ __typename }","operationName":5}',
      '{"query":"{ __typename }","__proto__":{"x":1}}',
      '{"query":"{ __typename }","variables":{"constructor":{"prototype":{}}}}'
    ]) {
      t.match(
        await post(text, { 'content-type': 'application/json' }),
        { status: 400, body: { code: 'BAD_REQUEST' } },
        text
      )
    }
    t.match(
      await post(Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), { 'content-type': 'application/json' }),
      { status: 400, body: { code: 'BAD_REQUEST' } },
      'no UTF-8'
    )
    t.match(
      await post(`\uFEFF${JSON.stringify({ query: ping })}`, { 'content-type': 'application/json' }),
      { status: 200 },
      'byte order mark'
    )
  })

  t.test('a body over the limit is answered with 413, whether its length is declared or not', async (t) => {
    const body = { query: ping, variables: { x: 'x'.repeat(limits.graphqlBodyMaxBytes) } }
    t.match(await post(body), { status: 413, body: { code: 'BODY_TOO_LARGE' } })
    t.match(
      await sendBytes(
        server.url,
        `POST /api/graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{`
      ),
      /^HTTP\/1.1 413 [^]*"code":"BODY_TOO_LARGE"/
    )
  })

  t.test('a request that is not valid HTTP is answered in JSON', async (t) => {
    t.match(await sendBytes(server.url, 'HELLO\r\n\r\n'), /^HTTP\/1.1 400 [^]*"code":"BAD_REQUEST"/)
    t.match(
      await sendBytes(
        server.url,
        `GET /version HTTP/1.1\r\nHost: x\r\nX-Padding: ${'x'.repeat(17_000)}\r\n\r\n`
      ),
      /^HTTP\/1.1 431 /
    )
  })

  t.test('a base URL that ends with a slash works', async (t) => {
    t.equal((await rest({ url: '//version' })).status, 200)
    t.equal((await rest({ method: 'POST', url: '//api/graphql', body: { query: ping } })).status, 200)
  })

  t.test('the answer of a handler that fails has the request id and nothing else', async (t) => {
    const broken = await withBrokenQueries(t, server)
    const { body, text } = await graphql('{ load(id: "00000000-0000-4000-8000-000000000000") { id } }')
    t.match(body.errors[0].extensions, {
      code: 500,
      type: 'SERVER_ERROR',
      reason: 'INTERNAL',
      requestId: /./
    })
    t.notMatch(text, /hunter2/)
    t.notMatch((await rest({ url: `/aspects/${dataset('a')}?aspect=x` })).text, /hunter2/)
    broken.mend()
  })
})

t.test('the deadline of an answer', async (t) => {
  const app = fastify({ serverFactory: (listener) => createHttpServer(listener, { requestMaxMs: 120_000 }) })
  app.setErrorHandler(sendProblem)
  addAnswerDeadline(app, 50)
  const forever = new Promise<never>(() => {})
  let finishLate: (text: string) => void = () => {}
  const late = new Promise<string>((resolve) => {
    finishLate = resolve
  })
  app.get('/in-time', async () => 'here')
  app.get('/never', () => forever)
  app.get('/late', () => late)
  app.get('/begun', async () =>
    Readable.from(
      (async function* () {
        yield 'begun'
        await forever
      })()
    )
  )
  app.get('/own', { handlerTimeout: 1 }, () => forever)
  app.post('/body', async () => 'read')
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const problemOf = async (path: string) => {
    const answer = await fetch(`${url}${path}`)
    return { status: answer.status, body: (await answer.json()) as unknown }
  }

  t.equal(await (await fetch(`${url}/in-time`)).text(), 'here')
  t.match(await problemOf('/never'), { status: 504, body: { code: 'DEADLINE_EXCEEDED', requestId: String } })
  t.match(await problemOf('/late'), { status: 504, body: { code: 'DEADLINE_EXCEEDED' } })
  finishLate('what comes after the deadline is dropped')
  t.match(await problemOf('/own'), { status: 504, body: { code: 'DEADLINE_EXCEEDED' } })
  t.match(
    await sendBytes(
      url,
      'POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'
    ),
    /^HTTP\/1.1 408 [^]*"code":"REQUEST_TIMEOUT"/
  )
  await t.rejects(
    fetch(`${url}/begun`).then((answer) => answer.text()),
    'what has begun is cut off, not ended'
  )
  t.equal(await (await fetch(`${url}/in-time`)).text(), 'here')
})

t.test('GraphQL over HTTP', async (t) => {
  const { graphql, rest } = await withServer(t)

  t.test('an answer has data and extensions, on both paths', async (t) => {
    for (const url of ['/api/graphql', '/api/v2/graphql']) {
      t.same((await rest({ method: 'POST', url, body: { query: ping } })).body, {
        data: { entityExists: false },
        extensions: {}
      })
    }
    t.same(
      (
        await rest({
          method: 'POST',
          url: '/api/graphql',
          body: { query: ping, variables: null, operationName: null, extensions: { any: 1 } }
        })
      ).status,
      200
    )
  })

  t.test(
    'a document that does not parse or match the schema is answered 200 with the reason and no data',
    async (t) => {
      const reasonOf = async (query: string, variables = {}) => {
        const { status, body } = await graphql(query, variables)
        t.equal(status, 200)
        t.notOk('data' in body)
        t.same(body.extensions, {})
        return body.errors[0].extensions.reason
      }
      t.equal(await reasonOf('{ dataset(urn: '), 'GRAPHQL_PARSE_FAILED')
      t.equal(await reasonOf('{"kind":"Document","definitions":[]}'), 'GRAPHQL_PARSE_FAILED')
      t.equal(await reasonOf('5'), 'GRAPHQL_PARSE_FAILED')
      t.equal(await reasonOf(''), 'GRAPHQL_PARSE_FAILED')
      t.equal(await reasonOf('{ nothing }'), 'GRAPHQL_VALIDATION_FAILED')
      t.equal(await reasonOf('{ dataset(urn: "x", name: "x") { urn } }'), 'GRAPHQL_VALIDATION_FAILED')
      t.equal(
        await reasonOf('query ($urn: String!) { dataset(urn: $urn) { urn } }'),
        'GRAPHQL_VALIDATION_FAILED'
      )
      t.equal(
        await reasonOf('query ($urn: String!) { dataset(urn: $urn) { urn } }', { urn: 7 }),
        'GRAPHQL_VALIDATION_FAILED'
      )
      t.equal(await reasonOf('query A { __typename } query B { __typename }'), 'BAD_REQUEST')
      t.equal(await reasonOf('fragment A on Query { __typename }'), 'BAD_REQUEST')
    }
  )

  t.test('variables are checked also when a document has come often enough to be compiled', async (t) => {
    const query = 'query ($urn: String!) { entityExists(urn: $urn) }'
    for (let attempt = 0; attempt < 12; attempt += 1) {
      t.same((await graphql(query, { urn: 'urn:li:domain:a' })).body, {
        data: { entityExists: false },
        extensions: {}
      })
      t.match((await graphql(query, { urn: 7 })).body.errors[0].extensions, {
        reason: 'GRAPHQL_VALIDATION_FAILED'
      })
      t.match((await graphql(query, { urn: 'nonsense' })).body, {
        data: { entityExists: null },
        errors: [{ path: ['entityExists'], extensions: { reason: 'INVALID_URN', field: 'urn' } }]
      })
    }
  })

  t.test('the operation that is named runs, also when the document is sent again and again', async (t) => {
    const query = 'query A { a: __typename } query B { b: __typename }'
    for (let attempt = 0; attempt < 24; attempt += 1) {
      const operationName = attempt % 2 === 0 ? 'A' : 'B'
      t.same(
        (await rest({ method: 'POST', url: '/api/graphql', body: { query, operationName } })).body.data,
        { [operationName.toLowerCase()]: 'Query' }
      )
    }
  })

  t.test('a client of GraphQL over HTTP gets its statuses and its media type', async (t) => {
    const headers = { accept: 'application/graphql-response+json' }
    const refused = await graphql('{ nothing }', {}, { headers })
    t.equal(refused.status, 400)
    t.match(refused.headers['content-type'], /^application\/graphql-response\+json/)
    t.equal((await graphql(ping, {}, { headers })).status, 200)
    t.equal(
      (await graphql('{ entityExists(urn: "x") }', {}, { headers })).status,
      200,
      'a failed field is an answer'
    )
  })

  t.test('an error has the shape that clients know', async (t) => {
    const { body } = await graphql('{ dataset(urn: "urn:li:domain:x") { urn } }')
    t.match(body.errors[0], {
      message: /./,
      locations: [{ line: 1, column: 3 }],
      path: ['dataset'],
      extensions: {
        code: 400,
        type: 'BAD_REQUEST',
        classification: 'DataFetchingException',
        reason: 'INVALID_URN',
        requestId: /./,
        field: 'urn'
      }
    })
  })

  t.test('documents within the limits run, and those beyond are refused before they run', async (t) => {
    const reasonOf = async (query: string) => (await graphql(query)).body.errors?.[0].extensions.reason
    const deep = (levels: number) =>
      `{ domain(urn: "urn:li:domain:x") { ${'parentDomains { domains { ... on Domain { '.repeat(levels)} urn ${'} } } '.repeat(levels)} } }`
    t.not(await reasonOf(deep(9)), 'QUERY_TOO_DEEP')
    t.equal(await reasonOf(deep(10)), 'QUERY_TOO_DEEP')
    const chain = Array.from(
      { length: 30 },
      (_, index) => `fragment F${index} on Domain { parentDomains { domains { ...F${index + 1} } } }`
    ).join(' ')
    t.equal(
      await reasonOf(`{ domain(urn: "urn:li:domain:x") { ...F0 } } ${chain} fragment F30 on Domain { urn }`),
      'QUERY_TOO_DEEP'
    )
    t.equal(
      await reasonOf(
        '{ domain(urn: "urn:li:domain:x") { ...A } } fragment A on Domain { urn ...B } fragment B on Domain { urn ...A }'
      ),
      'GRAPHQL_VALIDATION_FAILED'
    )
    const aliases = (count: number) =>
      `{ ${Array.from({ length: count }, (_, index) => `a${index}: __typename`).join(' ')} }`
    t.equal(await reasonOf(aliases(30)), undefined)
    t.equal(await reasonOf(aliases(31)), 'QUERY_TOO_COMPLEX')
    const tokens = (count: number) => `{ entities(urns: [${'"x" '.repeat(count - 12)}]) { urn } }`
    t.equal(await reasonOf(tokens(5_000)), 'INVALID_URN')
    t.equal(await reasonOf(tokens(5_001)), 'QUERY_TOO_COMPLEX')
    const mutations = (count: number) =>
      `mutation { ...M } fragment M on Mutation { ${Array.from({ length: count }, (_, index) => `m${index}: updateLineage(input: {})`).join(' ')} }`
    t.equal(await reasonOf(mutations(5)), undefined)
    t.equal(await reasonOf(mutations(6)), 'QUERY_TOO_COMPLEX')
    t.equal(
      (await graphql(`{ ${'a: nothing '.repeat(30)} ${'nothing '.repeat(200)} }`)).body.errors.length <= 11,
      true,
      'a long list of errors is cut'
    )
  })

  t.test('the schema can be asked for', async (t) => {
    const { body } = await graphql(
      '{ __schema { queryType { name } types { name fields(includeDeprecated: true) { name args { type { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } } }'
    )
    t.equal(body.data.__schema.queryType.name, 'Query')
  })
})

t.test('mutations of domains', async (t) => {
  const server = await withServer(t)
  const { graphql, rest } = server
  const run = async (mutation: string, variables = {}) =>
    (await graphql(`mutation ${mutation}`, variables)).body
  const refusal = async (mutation: string) => {
    const body = await run(`{ m: ${mutation} }`)
    return { message: body.errors?.[0].message, ...body.errors?.[0].extensions, data: body.data }
  }
  await rest({
    method: 'POST',
    url: '/aspects?action=ingestProposal',
    body: {
      proposal: {
        entityType: 'dataset',
        entityUrn: dataset('a'),
        changeType: 'UPSERT',
        aspectName: 'status',
        aspect: { json: { removed: false } }
      }
    }
  })

  t.test('a domain is created with a generated id or with the one given, blanks included', async (t) => {
    t.match(
      (await run('{ createDomain(input: { name: " Sales " }) }')).data.createDomain,
      /^urn:li:domain:[0-9a-f-]{36}$/
    )
    t.same(
      (
        await run(
          '{ createDomain(input: { id: "test id", name: "Test", description: "d", parentDomain: null }) }'
        )
      ).data,
      { createDomain: 'urn:li:domain:test id' }
    )
    t.same(
      (await graphql('{ domain(urn: "urn:li:domain:test id") { id properties { name description } } }')).body
        .data.domain,
      { id: 'test id', properties: { name: 'Test', description: 'd' } }
    )
  })

  t.test('owners are written with the domain', async (t) => {
    await run(
      '{ createDomain(input: { id: "owned", name: "Owned", owners: [{ ownerUrn: "urn:li:corpuser:jdoe", ownerEntityType: CORP_USER, type: TECHNICAL_OWNER }] }) }'
    )
    t.match(
      (
        await graphql(
          '{ domain(urn: "urn:li:domain:owned") { ownership { owners { type owner { ... on CorpUser { username } } } } } }'
        )
      ).body.data.domain.ownership,
      { owners: [{ type: 'TECHNICAL_OWNER', owner: { username: 'jdoe' } }] }
    )
    t.match(
      await refusal(
        'createDomain(input: { id: "x", name: "X", owners: [{ ownerUrn: "urn:li:corpGroup:g", ownerEntityType: CORP_USER }] })'
      ),
      { reason: 'INVALID_URN', field: 'input.owners[0].ownerUrn' }
    )
    t.match(
      await refusal(
        'setDomain(entityUrn: "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)", domainUrn: "urn:li:domain:x")'
      ),
      { reason: 'MISSING_REFERENCE' },
      'nothing of it was written'
    )
  })

  t.test('name conflicts and absent parents have the messages that clients know', async (t) => {
    t.match(await refusal('createDomain(input: { id: "test id", name: "Other" })'), {
      message: 'This Domain already exists!',
      data: { m: null }
    })
    t.match(await refusal('createDomain(input: { name: "Test" })'), {
      message: '"Test" already exists in this domain. Please pick a unique name.',
      code: 409,
      type: 'CONFLICT'
    })
    t.match(await refusal('createDomain(input: { name: "Below", parentDomain: "urn:li:domain:absent" })'), {
      message: /Parent Domain does not exist!.*urn:li:domain:absent/,
      code: 400,
      type: 'BAD_REQUEST',
      reason: 'MISSING_REFERENCE',
      urn: 'urn:li:domain:absent',
      field: 'input.parentDomain'
    })
    t.match(await refusal('deleteDomain(urn: "urn:li:domain:absent")'), {
      type: 'BAD_REQUEST',
      urn: 'urn:li:domain:absent'
    })
    t.match(await refusal('updateName(input: { urn: "urn:li:domain:absent", name: "X" })'), {
      message: 'Failed to update urn:li:domain:absent. urn:li:domain:absent does not exist.'
    })
  })

  t.test('names and descriptions are checked, each with its limit', async (t) => {
    const created = async (input: { [field: string]: string }) =>
      (
        await run('($input: CreateDomainInput!) { createDomain(input: $input) }', {
          input: { name: 'x', ...input }
        })
      ).errors?.[0].extensions
    t.match(await created({ name: '   ' }), { reason: 'BAD_REQUEST', field: 'input.name' })
    t.match(await created({ name: 'x'.repeat(256) }), {
      reason: 'LIMIT_EXCEEDED',
      field: 'input.name',
      limit: 'domainNameMaxChars',
      maximum: 255,
      actual: 256
    })
    t.notOk(await created({ name: '😀'.repeat(255) }), 'an emoji is one character')
    for (const character of ['\n', '\u0007', '\u202e', '\u2066', '\0', '\ud800'])
      t.match(await created({ name: `a${character}b` }), { reason: 'INVALID_CHARACTER', field: 'input.name' })
    t.match(await created({ description: 'x'.repeat(65_537) }), {
      reason: 'LIMIT_EXCEEDED',
      field: 'input.description'
    })
    t.notOk(await created({ name: 'طلبات 注文 <script>', description: 'a\nb' }))
    t.match(await created({ id: 'x'.repeat(1_100) }), { reason: 'LIMIT_EXCEEDED', field: 'input.id' })
    t.match(await created({ parentDomain: dataset('a') }), {
      reason: 'INVALID_URN',
      field: 'input.parentDomain'
    })
  })

  t.test('a domain is renamed, described, moved and deleted', async (t) => {
    await run(
      '{ a: createDomain(input: { id: "top", name: "Top" }) b: createDomain(input: { id: "low", name: "Low" }) }'
    )
    t.same(
      (
        await run(`{
      a: updateName(input: { urn: "urn:li:domain:low", name: "Lower" })
      b: updateDescription(input: { resourceUrn: "urn:li:domain:low", description: "under" })
      c: moveDomain(input: { resourceUrn: "urn:li:domain:low", parentDomain: "urn:li:domain:top" })
    }`)
      ).data,
      { a: true, b: true, c: true }
    )
    t.same(
      (
        await graphql(
          '{ domain(urn: "urn:li:domain:low") { properties { name description } parentDomains { domains { urn } } } }'
        )
      ).body.data.domain,
      {
        properties: { name: 'Lower', description: 'under' },
        parentDomains: { domains: [{ urn: 'urn:li:domain:top' }] }
      }
    )
    t.match(
      await refusal(
        'moveDomain(input: { resourceUrn: "urn:li:domain:top", parentDomain: "urn:li:domain:low" })'
      ),
      { type: 'CONFLICT', message: /descendants/ }
    )
    t.match(
      await refusal(
        'moveDomain(input: { resourceUrn: "urn:li:domain:low", parentDomain: "urn:li:domain:absent" })'
      ),
      { message: /Parent entity does not exist/, urn: 'urn:li:domain:absent' }
    )
    t.match(await refusal('deleteDomain(urn: "urn:li:domain:top")'), {
      message: 'Cannot delete domain urn:li:domain:top which has child domains'
    })
    t.same(
      (await run('{ a: deleteDomain(urn: "urn:li:domain:low") b: deleteDomain(urn: "urn:li:domain:top") }'))
        .data,
      { a: true, b: true }
    )
    t.match(await refusal(`updateName(input: { urn: "${dataset('a')}", name: "X" })`), {
      reason: 'UNSUPPORTED'
    })
  })

  t.test('an asset is in the domain set last, and in no domain after unsetDomain', async (t) => {
    await run(
      '{ a: createDomain(input: { id: "one", name: "One" }) b: createDomain(input: { id: "two", name: "Two" }) }'
    )
    const domainOf = async () =>
      (
        await graphql(
          'query ($urn: String!) { dataset(urn: $urn) { domain { associatedUrn domain { urn } } } }',
          { urn: dataset('a') }
        )
      ).body.data.dataset.domain?.domain.urn ?? null
    for (const domain of ['one', 'two', 'two']) {
      t.same(
        (await run(`{ setDomain(entityUrn: "${dataset('a')}", domainUrn: "urn:li:domain:${domain}") }`)).data,
        { setDomain: true }
      )
      t.equal(await domainOf(), `urn:li:domain:${domain}`)
    }
    t.same((await run(`{ removeDomain: unsetDomain(entityUrn: "${dataset('a')}") }`)).data, {
      removeDomain: true
    })
    t.equal(await domainOf(), null)
    t.same((await run(`{ unsetDomain(entityUrn: "${dataset('a')}") }`)).data, { unsetDomain: true })
    t.same(
      (
        await run(
          `{ batchSetDomain(input: { domainUrn: "urn:li:domain:one", resources: { resourceUrn: "${dataset('a')}" } }) }`
        )
      ).data,
      { batchSetDomain: true }
    )
    t.equal(await domainOf(), 'urn:li:domain:one')
    t.match(
      await refusal(
        `batchSetDomain(input: { domainUrn: "urn:li:domain:two", resources: [{ resourceUrn: "${dataset('a')}" }, { resourceUrn: "${dataset('absent')}" }] })`
      ),
      { reason: 'MISSING_REFERENCE', urn: dataset('absent') }
    )
    t.equal(await domainOf(), 'urn:li:domain:one', 'all or none')
    t.same(
      (await run(`{ batchSetDomain(input: { resources: [{ resourceUrn: "${dataset('a')}" }] }) }`)).data,
      { batchSetDomain: true }
    )
    t.equal(await domainOf(), null)
  })

  t.test('an entity that is absent or not an asset is named', async (t) => {
    t.match(await refusal(`setDomain(entityUrn: "${dataset('a')}", domainUrn: "urn:li:domain:absent")`), {
      message: `Failed to add Entity ${dataset('a')} to Domain urn:li:domain:absent. Domain does not exist.`,
      code: 400,
      urn: 'urn:li:domain:absent',
      field: 'domainUrn'
    })
    t.match(await refusal(`setDomain(entityUrn: "${dataset('absent')}", domainUrn: "urn:li:domain:one")`), {
      message: /Entity does not exist/,
      urn: dataset('absent'),
      field: 'entityUrn'
    })
    t.match(await refusal(`setDomain(entityUrn: "urn:li:domain:one", domainUrn: "${dataset('a')}")`), {
      reason: 'INVALID_URN',
      field: 'domainUrn'
    })
    t.match(await refusal('setDomain(entityUrn: "urn:li:domain:two", domainUrn: "urn:li:domain:one")'), {
      reason: 'BAD_REQUEST',
      field: 'entityUrn'
    })
    t.match(await refusal(`unsetDomain(entityUrn: "${dataset('absent')}")`), {
      reason: 'MISSING_REFERENCE',
      urn: dataset('absent'),
      message: /does not exist/
    })
  })
})

t.test('mutations of lineage', async (t) => {
  const { graphql, rest } = await withServer(t)
  const urns = ['a', 'b', 'c'].map(dataset)
  const [a = '', b = '', c = ''] = urns
  const flow = 'urn:li:dataFlow:(airflow,f,PROD)'
  const job = `urn:li:dataJob:(${flow},j)`
  for (const urn of [...urns, flow, job]) {
    await rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: urn.split(':')[2],
          entityUrn: urn,
          changeType: 'UPSERT',
          aspectName: 'status',
          aspect: { json: { removed: false } }
        }
      }
    })
  }
  const update = async (input: { [list: string]: unknown }) => {
    const { body } = await graphql(
      'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
      { input: JSON.parse(JSON.stringify(input)) }
    )
    return body.errors ? { message: body.errors[0].message, ...body.errors[0].extensions } : body.data
  }
  const edge = (upstreamUrn: string, downstreamUrn: string) => ({ upstreamUrn, downstreamUrn })
  const upstreamsOf = async (urn: string) => {
    const { body } = await rest({ url: `/aspects/${encodeURIComponent(urn)}?aspect=upstreamLineage` })
    return (body.aspect?.['com.linkedin.dataset.UpstreamLineage'].upstreams ?? [])
      .map((one: { dataset: string }) => one.dataset)
      .sort()
  }

  t.test('missing and empty lists change nothing, a single edge is a list of one', async (t) => {
    for (const input of [{}, { edgesToAdd: [] }, { edgesToAdd: null, edgesToRemove: [] }])
      t.same(await update(input), { updateLineage: true })
    t.same(await update({ edgesToAdd: edge(a, b) }), { updateLineage: true })
    t.same(
      (
        await graphql(
          `mutation { updateLineage(input: { edgesToAdd: { upstreamUrn: "${c}", downstreamUrn: "${b}" }, edgesToRemove: [] }) }`
        )
      ).body.data,
      { updateLineage: true }
    )
    t.same(await upstreamsOf(b), [a, c])
    t.same(await update({ edgesToAdd: [edge(a, b), edge(a, b)], edgesToRemove: [edge(c, b)] }), {
      updateLineage: true
    })
    t.same(await upstreamsOf(b), [a])
  })

  t.test('an edge in both lists is removed', async (t) => {
    t.same(await update({ edgesToAdd: [edge(a, b), edge(c, b)], edgesToRemove: [edge(a, b)] }), {
      updateLineage: true
    })
    t.same(await upstreamsOf(b), [c])
  })

  t.test('one absent end makes the call be refused, and is named with its place', async (t) => {
    const absent = dataset('absent')
    t.match(await update({ edgesToAdd: [edge(a, b), edge(a, c), edge(absent, c)] }), {
      code: 400,
      type: 'BAD_REQUEST',
      reason: 'MISSING_REFERENCE',
      urn: absent,
      field: 'input.edgesToAdd[2].upstreamUrn'
    })
    t.match(await update({ edgesToRemove: [edge(a, absent)] }), {
      reason: 'MISSING_REFERENCE',
      urn: absent,
      field: 'input.edgesToRemove[0].downstreamUrn'
    })
    t.same(await upstreamsOf(b), [c])
    const many = await update({
      edgesToAdd: Array.from({ length: 50 }, (_, index) => edge(dataset(`absent${index}`), b))
    })
    t.match(many, { total: 50 })
    t.equal(many.message.match(/absent\d+/g).length < 20, true)
  })

  t.test('pairs between which there is no lineage are refused by both types', async (t) => {
    t.match(await update({ edgesToAdd: [edge('urn:li:domain:x', b)] }), {
      reason: 'BAD_REQUEST',
      field: 'input.edgesToAdd[0]',
      message: /domain.*dataset/
    })
    t.match(await update({ edgesToAdd: [edge('urn:li:dataFlow:(airflow,other,PROD)', job)] }), {
      reason: 'BAD_REQUEST',
      message: /dataFlow.*dataJob/
    })
    t.same(await update({ edgesToAdd: [edge(flow, job)] }), { updateLineage: true }, 'a job and its own flow')
    t.match(
      await update({
        edgesToAdd: [
          edge(
            'urn:li:dataFlow:(airflow,none,PROD)',
            'urn:li:dataJob:(urn:li:dataFlow:(airflow,none,PROD),j)'
          )
        ]
      }),
      { reason: 'MISSING_REFERENCE' }
    )
  })

  t.test('an invalid edge is refused with its place', async (t) => {
    t.match(await update({ edgesToAdd: [edge(a, b), null] }), {
      reason: 'BAD_REQUEST',
      field: 'input.edgesToAdd[1]'
    })
    t.match(await update({ edgesToAdd: [edge('', b)] }), {
      reason: 'INVALID_URN',
      field: 'input.edgesToAdd[0].upstreamUrn'
    })
    t.match(await update({ edgesToRemove: [edge(`${a} `, b)] }), {
      reason: 'INVALID_URN',
      field: 'input.edgesToRemove[0].upstreamUrn'
    })
    t.match(await update({ edgesToAdd: [{}] }), { reason: 'GRAPHQL_VALIDATION_FAILED' })
  })

  t.test('5,000 edges fit into one call, and a caller with more is told to use /loads', async (t) => {
    const edges = Array.from({ length: limits.edgesPerCallMaxCount }, () => edge(a, c))
    t.same(await update({ edgesToAdd: edges }), { updateLineage: true })
    t.match(await update({ edgesToAdd: edges, edgesToRemove: [edge(a, b)] }), {
      reason: 'LIMIT_EXCEEDED',
      limit: 'edgesPerCallMaxCount',
      maximum: 5_000,
      actual: 5_001,
      message: /POST \/loads/
    })
  })
})

t.test('operations', async (t) => {
  const { rest, state } = await withServer(t, { env: { METRICS_TOKEN: 'metrics-secret' } })

  t.test('the version is that of the package', async (t) => {
    const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8'))
    t.match((await rest({ url: '/version', token: null })).body, { name: 'tributary', version })
  })

  t.test('every limit is listed', async (t) => {
    t.same((await rest({ url: '/api/limits' })).body, limits)
  })

  t.test('metrics need their own token if one is set', async (t) => {
    t.equal((await rest({ url: '/metrics', token: null })).status, 401)
    t.equal((await rest({ url: '/metrics' })).status, 401)
    const { status, text } = await rest({ url: '/metrics', token: 'metrics-secret' })
    t.equal(status, 200)
    t.match(text, /tributary_http_requests_total\{[^}]*route="\/version"/)
    t.notMatch(text, /urn:li:/)
  })

  t.test('while the process stops, it answers only the requests that ask about its health', async (t) => {
    t.match((await rest({ url: '/health/ready', token: null })).body, {
      status: 'ready',
      database: 'up',
      schema: 'current',
      queue: 'up'
    })
    state.isStopping = true
    t.match(await rest({ method: 'POST', url: '/api/graphql', body: { query: ping } }), {
      status: 503,
      body: { code: 'SHUTTING_DOWN' },
      headers: { connection: 'close', 'retry-after': '1' }
    })
    t.match(await rest({ url: '/health/ready', token: null }), { status: 503, body: { isStopping: true } })
    t.equal((await rest({ url: '/health/live', token: null })).status, 200)
    state.isStopping = false
  })
})

t.test('without a metrics token the same machine may read them, unless it asks for others', async (t) => {
  const { rest } = await withServer(t)
  t.equal((await rest({ url: '/metrics', token: null })).status, 200)
  t.equal(
    (await rest({ url: '/metrics', token: null, headers: { 'x-forwarded-for': '10.0.0.1' } })).status,
    403
  )
})

t.test(
  'a process that stops answers the requests that are under way, and then closes its connections',
  async (t) => {
    const { db, url: databaseUrl } = await withDatabase(t)
    const config = readConfig({
      DATABASE_URL: databaseUrl,
      LOG_LEVEL: 'silent',
      PORT: '0',
      TRIBUTARY_BOOTSTRAP_TOKEN: 'the-first-token-of-all',
      SHUTDOWN_SECONDS: '60'
    })
    const lines: string[] = []
    const service = startApi(config, pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }))
    await service.start()
    const url = service.url() ?? ''
    // It never closes a connection by itself.
    const agent = new Agent({ keepAlive: true })
    t.teardown(() => agent.destroy())
    const send = (token: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        request(`${url}/api/graphql`, { method: 'POST', agent, headers }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
        })
          .on('error', reject)
          .end(JSON.stringify({ query: ping }))
      })
    // Two connections, one of which is idle when the process stops.
    const first = 'the-first-token-of-all'
    t.strictSame(await Promise.all([send(first), send(first)]), [200, 200], 'the first token is there')

    const { token } = await createToken(db, { name: 'slow', scopes: ['read'] })
    // A request with this token waits for the lock, so it stays in progress.
    const blocker = await db.transaction()
    await blocker.raw('lock table access_token in access exclusive mode')
    const underWay = send(token)
    await untilSomebodyWaits(db)
    const stopping = service.stop()
    await blocker.rollback()
    t.equal(await underWay, 200)
    await stopping
    t.strictSame(lines, [], 'kept-alive connections did not hold it up until it aborted them')
    await t.rejects(send(token), 'nobody listens any more')
  }
)

t.test('a database that does not answer is fatal at the start', async (t) => {
  const config = readConfig({ DATABASE_URL: 'postgres://127.0.0.1:1/none', LOG_LEVEL: 'silent', PORT: '0' })
  const service = startApi(config, createLog(config))
  await t.rejects(service.start(), /does not answer/)
  await service.stop()
})

/** Waits until a statement waits for a lock. */
async function untilSomebodyWaits(db: Db): Promise<void> {
  while ((await query(db, 'select 1 from pg_locks where not granted')).length === 0) await sleep(10)
}

/**
 * Makes every query except those that look up the token fail, with a text that must not be shown, until it is
 * fixed.
 */
async function withBrokenQueries(
  t: { teardown: (work: () => void) => unknown },
  { db }: TestServer
): Promise<{ mend: () => void }> {
  const { query } = db.client
  db.client.query = (connection: unknown, statement: string | { sql: string }) =>
    (typeof statement === 'string' ? statement : statement.sql).includes('access_token')
      ? query.call(db.client, connection, statement)
      : Promise.reject(new Error('password=hunter2'))
  const mend = () => {
    db.client.query = query
  }
  t.teardown(mend)
  return { mend }
}
