/** GET /openapi.json: valid OpenAPI 3.1 that describes every route correctly. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { descriptions, undescribed } from '../api/reference/routes.ts'
import { shapes } from '../api/reference/shapes.ts'
import { buildServer } from '../api/server.ts'
import { routesOf } from './fuzz/route-requests.ts'
import { signInWith } from './support/browser-session.ts'
import { withServer, type RestRequest } from './support/server.ts'

type Operation = {
  summary: string
  description: string
  operationId: string
  tags: string[]
  security: { [scheme: string]: string[] }[]
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: object }[]
  responses: { [status: string]: { description: string; content?: { [type: string]: { schema: object } } } }
}
type Document = {
  openapi: string
  servers: { url: string }[]
  tags: { name: string }[]
  paths: { [path: string]: { [method: string]: Operation } }
  components: { schemas: { [name: string]: object } }
}

t.test('the description of the REST API', async (t) => {
  const server = await withServer(t)
  const answer = await server.rest({ url: '/openapi.json', token: null })
  const document: Document = answer.body
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation
    }))
  )
  const routes = (await routesOf(async () => (await buildServer(server.context)).close())).filter(
    ({ isRefused }) => !isRefused
  )
  const registered = new Set(routes.map(({ method, url }) => `${method} ${url}`))
  /** Fastify answers HEAD wherever it answers GET, as HTTP requires. */
  const isHeadOfGet = (route: string): boolean =>
    route.startsWith('HEAD ') && registered.has(route.replace('HEAD', 'GET')) && !descriptions.has(route)

  t.test('needs no token, and is valid OpenAPI 3.1', async (t) => {
    t.match(answer, { status: 200, headers: { 'content-type': /^application\/json/ } })
    const validator = new Validator()
    t.match(await validator.validate(structuredClone(document)), { valid: true })
    t.equal(validator.version, '3.1')
    t.equal(document.openapi, '3.1.0')
    const broken = structuredClone(document)
    Object.assign(broken.paths['/loads']?.get ?? {}, { responses: 'none' })
    t.match(await new Validator().validate(broken), { valid: false }, 'the validator looks')
  })

  t.test('has every route except those with a reason to be left out', async (t) => {
    t.ok(registered.size > 60)
    t.strictSame(
      [...registered].filter(
        (route) => !descriptions.has(route) && !undescribed.has(route) && !isHeadOfGet(route)
      ),
      [],
      'describe these in api/reference'
    )
    t.strictSame(
      [...descriptions.keys(), ...undescribed.keys()].filter((route) => !registered.has(route)),
      [],
      'these are described and do not exist'
    )
    t.strictSame(
      operations.map(({ operation }) => operation.summary).toSorted(),
      [...descriptions.values()].map(({ summary }) => summary).toSorted(),
      'no two routes are described as one, and none by the words of another'
    )
  })

  t.test('has all routes that the web UI uses except its pages and the sign-in', async (t) => {
    t.strictSame(
      [...undescribed.keys()].map((route) => route.replace('GET ', '')),
      ['/', '/sign-in', '/sign-in-callback', '/ui/', '/ui/*']
    )
    t.strictSame(
      [...descriptions.keys()].filter((route) => route.includes('session')).toSorted(),
      ['DELETE /session', 'DELETE /session/all', 'GET /session', 'GET /session/methods', 'POST /session'],
      'a session is of browsers alone'
    )
  })

  t.test('begins with our own routes', async (t) => {
    t.equal(operations[0]?.name, 'POST /loads')
    const tags = document.tags.map(({ name }) => name)
    const places = operations.map(({ operation }) => tags.indexOf(operation.tags[0] ?? ''))
    t.notOk(places.includes(-1))
    t.ok(places.lastIndexOf(tags.indexOf('loads')) < places.indexOf(tags.indexOf('datahub')))
  })

  t.test('says something of every operation and parameter, with one id for each', async (t) => {
    const ids = operations.map(({ operation }) => operation.operationId)
    t.equal(new Set(ids).size, ids.length)
    for (const { name, path, operation } of operations) {
      t.match(operation.summary, /^[A-Z].*[^.]$/, name)
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      t.strictSame(
        inPath.map((parameter) => parameter.name).toSorted(),
        [...path.matchAll(/\{(\w+)\}/g)].map(([, part = '']) => part).toSorted(),
        name
      )
      for (const parameter of operation.parameters ?? [])
        t.match(parameter.description, /\w.*\.$/, `${name} ${parameter.name}`)
      for (const [status, response] of Object.entries(operation.responses))
        t.match(response.description, /\w/, `${name} ${status}`)
    }
  })

  t.test('says which routes need no token, and they do not', async (t) => {
    for (const [route, description] of descriptions) {
      const [method = '', url = ''] = route.split(' ')
      const path = description.path ?? url.replaceAll(/:(\w+)/g, '{$1}')
      const operation = document.paths[path]?.[method.toLowerCase()]
      const { status } = await server.rest({
        method: method as NonNullable<RestRequest['method']>,
        url: url.replaceAll(/:\w+|\*/g, 'x'),
        token: null
      })
      const isSignIn = route === 'POST /session'
      t.equal(operation?.security.length === 0, isSignIn || status !== 401, `${route} ${status}`)
    }
  })

  t.test('has the parameters that the routes take, and no others', async (t) => {
    const { send } = await signInWith(server, server.token)
    for (const [route, { query, ignoresUnknownParameters }] of descriptions) {
      if (ignoresUnknownParameters) continue
      const [method = '', url = ''] = route.split(' ')
      const isSignIn = route === 'POST /session'
      const refused = await send({
        method: method as NonNullable<RestRequest['method']>,
        url: `${url.replaceAll(/:\w+/g, '00000000-0000-0000-0000-000000000000')}?unknown-parameter=1`,
        ...(isSignIn ? { body: { token: server.token } } : {})
      })
      t.match(refused, { status: 400, body: { code: 'BAD_REQUEST', field: 'unknown-parameter' } }, route)
      const allowed: string[] = refused.body.allowed ?? []
      t.strictSame(allowed.toSorted(), Object.keys(query ?? {}).toSorted(), route)
    }
  })

  t.test('says which parameters are required', async (t) => {
    for (const [route, { query = {}, required }] of descriptions) {
      if (required === undefined || !route.startsWith('GET ')) continue
      const url = (route.split(' ')[1] ?? '').replace('*', encodeURIComponent('urn:li:domain:x'))
      const { status, body } = await server.rest({ url })
      t.equal(status, 400, route)
      t.ok(required.includes(body.field), `${route}: ${String(body.field)}`)
      t.ok(
        required.every((name) => Object.hasOwn(query, name)),
        route
      )
    }
  })

  t.test('gives the shapes that answers really have', async (t) => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    ajv.addFormat('uuid', true).addFormat('date-time', true).addFormat('uri-reference', true)
    ajv.addSchema({ $id: 'reference', ...document })
    const session = await signInWith(server, server.token)
    const load = await session.send({
      method: 'POST',
      url: '/loads?dryRun=true',
      body: '{"op":"upsertEntity","urn":"urn:li:dataset:(urn:li:dataPlatform:hive,shape,PROD)"}\n',
      headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'shape' }
    })
    const domain = await session.send({
      method: 'POST',
      url: '/api/graphql',
      body: { query: 'mutation { createDomain(input: { id: "shape", name: "Shape" }) }' }
    })
    t.same(domain.body.data, { createDomain: 'urn:li:domain:shape' })
    const id = String(load.body.id)
    const rules = [{ name: 'sh*', domainUrn: 'urn:li:domain:shape' }]
    const asked: [string, string, Omit<RestRequest, 'token'>, number][] = [
      [
        'post',
        '/loads',
        {
          method: 'POST',
          url: '/loads?format=ndjson',
          body: '{"upstreamUrn":"urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)","downstreamUrn":"urn:li:dataset:(urn:li:dataPlatform:hive,b,PROD)"}\n'
        },
        202
      ],
      ['get', '/loads', { url: '/loads' }, 200],
      ['get', '/loads/{id}', { url: `/loads/${id}` }, 200],
      ['post', '/loads/{id}/cancel', { method: 'POST', url: `/loads/${id}/cancel` }, 200],
      ['get', '/resolve', { url: '/resolve?reference=Shape' }, 200],
      [
        'post',
        '/rest/v1/sql/lineage',
        {
          method: 'POST',
          url: '/rest/v1/sql/lineage?indirect=true',
          body: { sql: 'select a from t where b = 1', dialect: 'postgres' }
        },
        200
      ],
      ['put', '/domain-rules', { method: 'PUT', url: '/domain-rules', body: { rules } }, 200],
      ['get', '/domain-rules', { url: '/domain-rules' }, 200],
      ['post', '/domain-rules/preview', { method: 'POST', url: '/domain-rules/preview', body: {} }, 200],
      ['post', '/domain-rules/apply', { method: 'POST', url: '/domain-rules/apply', body: {} }, 200],
      ['get', '/session', { url: '/session' }, 200],
      ['get', '/health/ready', { url: '/health/ready' }, 200],
      ['get', '/version', { url: '/version' }, 200],
      ['get', '/api/limits', { url: '/api/limits' }, 200],
      ['post', '/api/graphql', { method: 'POST', url: '/api/graphql', body: { query: '{ nothing }' } }, 200],
      ['get', '/api/v1/namespaces', { url: '/api/v1/namespaces' }, 200],
      ['get', '/api/v1/search', { url: '/api/v1/search?q=x' }, 200],
      ['get', '/api/v1/events/lineage', { url: '/api/v1/events/lineage' }, 200],
      [
        'get',
        '/openlineage/resolve',
        { url: '/openlineage/resolve?namespace=postgres%3A%2F%2Fdb&name=a.b.c' },
        200
      ],
      ['get', '/relationships', { url: '/relationships?urn=urn:li:domain:shape&direction=INCOMING' }, 200],
      ['get', '/openapi/v3/entity/{entityName}', { url: '/openapi/v3/entity/domain' }, 200],
      ['get', '/loads/{id}', { url: '/loads/none' }, 404],
      ['get', '/resolve', { url: '/resolve?reference=Nowhere' }, 404],
      ['get', '/loads', { url: '/loads?limit=100000' }, 400]
    ]
    for (const [method, path, request, status] of asked) {
      const { body, ...given } = await session.send(request)
      t.equal(given.status, status, `${method} ${path} ${given.text.slice(0, 200)}`)
      const responses = document.paths[path]?.[method]?.responses ?? {}
      const key = Object.hasOwn(responses, String(status)) ? String(status) : 'default'
      const type = key === 'default' ? 'application/problem+json' : 'application/json'
      t.ok(responses[key]?.content?.[type], `${method} ${path} ${type}`)
      const pointer = ['paths', path, method, 'responses', key, 'content', type, 'schema']
        .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
        .join('/')
      const isShaped = ajv.compile({ $ref: `reference#/${pointer}` })
      t.ok(isShaped(body), `${method} ${path} ${ajv.errorsText(isShaped.errors)}`)
    }
  })

  t.test('names the shapes, and every name in it leads somewhere', async (t) => {
    t.strictSame(Object.keys(document.components.schemas).sort(), Object.keys(shapes).sort())
    for (const [, name = ''] of answer.text.matchAll(/"\$ref":"([^"]*)"/g))
      t.ok(
        name.startsWith('#/components/schemas/') &&
          Object.hasOwn(document.components.schemas, name.slice(21)),
        name
      )
  })
})
