/** Every way in which a request can fail is answered in the shape that the reference gives for its route. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { descriptions, errorsOf } from '../api/reference/routes.ts'
import { buildServer } from '../api/server.ts'
import { CatalogError, errorCodes, problemOf, type ErrorDetails } from '../shared/errors.ts'
import { createLog } from '../shared/platform/log.ts'
import { startHealthServer } from '../worker/health-server.ts'
import { routesOf } from './fuzz/route-requests.ts'
import { sendBytes } from './support/raw-request.ts'
import { withServer, type RestAnswer, type RestRequest } from './support/server.ts'

const codes = new Map(Object.entries(errorCodes))

t.test('every route', async (t) => {
  const server = await withServer(t, { memory: false })
  const document: { components: object } = (await server.rest({ url: '/openapi.json' })).body
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addFormat('uri-reference', true).addFormat('uuid', true).addFormat('date-time', true)
  ajv.addSchema({ $id: 'reference', ...document })
  const routes = await routesOf(async () => (await buildServer(server.context)).close())
  const unknown = [
    { method: 'GET', url: '/no/such', isRefused: true },
    { method: 'DELETE', url: '/no/such', isRefused: true },
    { method: 'GET', url: '/%zz', isRefused: true },
    { method: 'GET', url: `/loads/${'x'.repeat(9_000)}`, isRefused: true },
    { method: 'GET', url: '/ui/no.js', isRefused: true }
  ]

  /** The shape of the route in the reference, and its media type. */
  const expectedOf = (method: string, url: string): [string, string] => {
    const key = method === 'HEAD' && !descriptions.has(`HEAD ${url}`) ? `GET ${url}` : `${method} ${url}`
    const description = descriptions.get(key)
    const [[type, { $ref }] = ['', { $ref: '' }]] =
      description === undefined
        ? [['application/problem+json', { $ref: 'Problem#' }] as const]
        : Object.entries(errorsOf(description, url))
    return [String($ref).replace('#', ''), type]
  }

  function check(what: string, method: string, url: string, { status, headers, body }: RestAnswer): boolean {
    if (status < 400) return false
    // a report, not an error
    if (url.startsWith('/health') && status === 503) return false
    const [shape, type] = expectedOf(method, url)
    const problems: string[] = []
    if (!String(headers['content-type']).startsWith(`${type};`))
      problems.push(`is ${String(headers['content-type'])}`)
    if (method !== 'HEAD') {
      const isShaped = ajv.compile({ $ref: `reference#/components/schemas/${shape}` })
      if (!isShaped(body)) problems.push(`${shape}: ${ajv.errorsText(isShaped.errors)}`)
      if (body?.requestId !== headers['x-request-id']) problems.push(`request id ${body?.requestId}`)
      if (shape === 'Problem') {
        if (body?.status !== status) problems.push(`status ${body?.status} of ${status}`)
        if (body?.type !== `/problems/${body?.code}`) problems.push(`type ${body?.type}`)
        if (body?.title !== codes.get(body?.code)?.title) problems.push(`title ${body?.title}`)
        if (body?.detail !== body?.message) problems.push('detail and message differ')
      }
    }
    if (status === 405 && headers.allow === undefined) problems.push('without Allow')
    if (problems.length > 0) t.fail(`${what}: ${status} ${problems.join('; ')}`)
    return true
  }

  const failures: { name: string; more: Omit<RestRequest, 'url' | 'method'>; query?: string }[] = [
    { name: 'without a token', more: { token: null } },
    { name: 'with a wrong token', more: { token: 'nonsense' } },
    { name: 'with an unknown parameter', more: {}, query: '?unknown-parameter=1' },
    { name: 'with U+0000', more: {}, query: '?x=%00' },
    {
      name: 'with a body that is not JSON',
      more: { body: '{', headers: { 'content-type': 'application/json' } }
    },
    { name: 'with a list', more: { body: '[1]', headers: { 'content-type': 'application/json' } } },
    { name: 'with another type', more: { body: 'x', headers: { 'content-type': 'text/x' } } },
    {
      name: 'with an unknown encoding',
      more: { body: 'x', headers: { 'content-type': 'application/json', 'content-encoding': 'br' } }
    }
  ]
  const failed = new Set<string>()
  const found = new Set<number>()

  async function sendAll(name: string, more: Omit<RestRequest, 'url' | 'method'>, query = ''): Promise<void> {
    for (const { method, url } of [...routes, ...unknown]) {
      const answer = await server.rest({
        method: method as NonNullable<RestRequest['method']>,
        url: `${url.replaceAll(/:\w+|\*/g, 'x')}${query}`,
        ...more
      })
      if (check(`${method} ${url.slice(0, 60)} ${name}`, method, url, answer)) {
        failed.add(`${method} ${url}`)
        found.add(answer.status)
      }
    }
  }

  for (const { name, more, query } of failures)
    t.test(`answers in its shape ${name}`, async () => sendAll(name, more, query))

  t.test('answers in its shape while the process stops', async () => {
    server.state.isStopping = true
    await sendAll('while the process stops', {})
    server.state.isStopping = false
  })

  t.test('has failed at least once, except those that cannot', async (t) => {
    t.strictSame(
      [...routes]
        .map(({ method, url }) => `${method} ${url}`)
        .filter(
          (route) => !failed.has(route) && !/^(?:GET|HEAD|OPTIONS) \/(?:health|version|metrics)/.test(route)
        ),
      []
    )
    t.strictSame(
      [400, 401, 404, 405, 415, 503].filter((status) => !found.has(status)),
      []
    )
  })

  t.test('names a type that explains the code', async (t) => {
    for (const [code, { title, meaning }] of codes) {
      const { type } = problemOf(new CatalogError('INTERNAL', 'x'), 'x')
      const { status, text } = await server.rest({
        url: String(type).replace('INTERNAL', code),
        token: null
      })
      t.equal(status, 200, code)
      t.ok(text.includes(title) && text.includes(meaning), code)
    }
  })

  t.test('is not needed for a request that is not valid HTTP to be answered with a problem', async (t) => {
    const requests = {
      400: 'HELLO\r\n\r\n',
      431: `GET /version HTTP/1.1\r\nHost: x\r\nX-Padding: ${'x'.repeat(17_000)}\r\n\r\n`
    }
    for (const [status, bytes] of [
      ...Object.entries(requests),
      ['400', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'] as const,
      ['400', 'GET /version HTTP/1.1\r\nConnection: close\r\n\r\n'] as const
    ]) {
      const [head = '', body = ''] = (await sendBytes(server.url, bytes)).split('\r\n\r\n')
      t.match(head, new RegExp(`^HTTP/1.1 ${status} `))
      t.match(head, /^content-type: application\/problem\+json/im)
      const isShaped = ajv.compile({ $ref: 'reference#/components/schemas/Problem' })
      const problem: { status: number } = JSON.parse(body)
      t.ok(isShaped(problem), ajv.errorsText(isShaped.errors))
      t.equal(String(problem.status), status)
    }
  })

  t.test('of a worker answers problems', async (t) => {
    const { context } = server
    const health = await startHealthServer({
      config: { host: '127.0.0.1', metricsToken: 'secret' },
      port: 0,
      db: context.db,
      queue: context.queue,
      log: createLog({ logLevel: 'silent' })
    })
    t.teardown(() => health.close())
    for (const [method, path, status] of [
      ['GET', '/no/such', 404],
      ['POST', '/metrics', 405],
      ['GET', '/metrics', 401]
    ] as const) {
      const answer = await fetch(`http://127.0.0.1:${health.port}${path}`, { method })
      const isShaped = ajv.compile({ $ref: 'reference#/components/schemas/Problem' })
      t.equal(answer.status, status)
      t.match(answer.headers.get('content-type'), /^application\/problem\+json/)
      t.ok(isShaped(await answer.json()), ajv.errorsText(isShaped.errors))
    }
  })
})

t.test('a detail never replaces a member of the standard, nor the code', async (t) => {
  const details: object = {
    type: 'x',
    title: 'x',
    status: 200,
    detail: 'x',
    code: 'x',
    requestId: 'x',
    message: 'x'
  }
  t.strictSame(
    problemOf(new CatalogError('NOT_FOUND', 'gone', { ...(details as ErrorDetails), field: 'f' }), 'id'),
    {
      type: '/problems/NOT_FOUND',
      title: 'Not found',
      status: 404,
      detail: 'gone',
      code: 'NOT_FOUND',
      message: 'gone',
      requestId: 'id',
      field: 'f'
    }
  )
})
