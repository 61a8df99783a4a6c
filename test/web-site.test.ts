/** The web UI as files: what is served below /ui/, how it is cached and packed, and what protects it. */
import { createServer, request as ask, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { findPage, pages } from '../api/web/pages.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { withFolder } from './support/program.ts'
import { sendRaw } from './support/raw-request.ts'
import { withServer } from './support/server.ts'

const index = '<!doctype html><script type="module" src="./assets/main-B0U5nK7b.js"></script>'
const script = `console.log(${JSON.stringify('x'.repeat(2_000))})`

/** A site as the build leaves it. */
function withSite(t: Test): string {
  const site = withFolder(t)
  mkdirSync(join(site, 'assets'))
  writeFileSync(join(site, 'index.html'), index)
  writeFileSync(join(site, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(site, '.hidden'), 'secret')
  writeFileSync(join(site, 'assets', 'main-B0U5nK7b.js'), script)
  writeFileSync(join(site, 'assets', 'main-B0U5nK7b.js.br'), brotliCompressSync(script))
  writeFileSync(join(site, 'assets', 'main-B0U5nK7b.js.gz'), gzipSync(script))
  writeFileSync(join(site, 'assets', 'small-1.css'), 'a{}')
  return site
}

const policy = new Map([
  ['default-src', "'none'"],
  ['script-src', "'self'"],
  ['style-src', "'self'"],
  ['img-src', "'self' data: blob:"],
  ['font-src', "'self'"],
  ['connect-src', "'self'"],
  ['form-action', "'self'"],
  ['base-uri', "'none'"],
  ['frame-ancestors', "'none'"],
  ['manifest-src', "'self'"]
])

t.test('the web UI', async (t) => {
  const site = withSite(t)
  const server = await withServer(t, { site })
  const get = (url: string, headers: { [name: string]: string } = {}, method: 'GET' | 'HEAD' = 'GET') =>
    server.rest({ method, url, token: null, headers })

  t.test('is reached from the root, and each page has one address', async (t) => {
    for (const [url, location] of [
      ['/', 'ui/'],
      ['/ui', 'ui/'],
      ['/ui?x=1', 'ui/?x=1'],
      ['/ui/search/', '../search'],
      ['/ui/asset/?urn=urn%3Ali%3Ax&tab=runs', '../asset?urn=urn%3Ali%3Ax&tab=runs']
    ] as const)
      for (const method of ['GET', 'HEAD'] as const)
        t.match(await get(url, {}, method), { status: 302, headers: { location } }, `${method} ${url}`)
  })

  t.test('answers every page name with its page, without a token', async (t) => {
    for (const name of pages) {
      const answer = await get(`/ui/${name}?urn=urn:li:dataset:(a,b,c)&next=https://evil.example`)
      t.match(answer, { status: 200, text: index, headers: { 'content-type': /^text\/html/ } }, name)
    }
  })

  const missing = [
    '/ui/nothing',
    '/ui/search/more',
    '/ui/index.html',
    '/ui/assets/',
    '/ui/assets/none-1.js',
    '/ui/assets/..%2findex.html',
    '/ui/..%2fpackage.json',
    '/ui/../package.json',
    '/ui/%2e%2e/package.json',
    '/ui/assets/%2e%2e/%2e%2e/package.json',
    '/ui/.hidden',
    '/ui/assets/.hidden',
    '/ui//evil.example',
    '/ui/%5cevil.example/',
    '/ui//evil.example/',
    '/ui/search%2f',
    '/ui/icon.svg/',
    '/ui/assets/%00',
    '/ui/none.png',
    '/ui/Search'
  ]
  for (const url of missing)
    t.test(`is not there, and is not a redirect: ${url}`, async (t) => {
      for (const method of ['GET', 'HEAD'] as const) {
        const answer = await get(url, {}, method)
        t.ok([404, 400, 401].includes(answer.status), `${method} ${answer.status}`)
        t.equal(answer.headers.location, undefined)
        t.equal(answer.headers['cache-control'], 'no-store')
        if (method === 'GET')
          t.match(answer.body, { code: /^(NOT_FOUND|INVALID_CHARACTER|UNAUTHENTICATED)$/ })
      }
    })

  t.test('shows a person that a page does not exist, and answers 404 to everything else', async (t) => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    for (const method of ['GET', 'HEAD'] as const)
      t.match(
        await get('/ui/nothing?q=x', { accept }, method),
        {
          status: 404,
          headers: { 'content-type': /^text\/html/, 'cache-control': 'no-store' },
          ...(method === 'GET' ? { text: index } : {})
        },
        method
      )
    for (const url of [
      '/ui/nothing/more',
      '/ui/none.png',
      '/ui/assets/none-1.js',
      '/ui/.hidden',
      '/ui/index.html'
    ])
      t.match(await get(url, { accept }), { status: 404, body: { code: 'NOT_FOUND' } }, url)
  })

  t.test('answers no other method', async (t) => {
    for (const url of ['/', '/ui/', '/ui/search', '/ui/assets/main-B0U5nK7b.js'])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const)
        t.match(
          await server.rest({ method, url, token: null }),
          { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } },
          `${method} ${url}`
        )
  })

  t.test('has a policy that lets nothing run but its own scripts, and is in no frame', async (t) => {
    for (const url of ['/ui/', '/ui/lineage', '/ui/assets/main-B0U5nK7b.js', '/ui/icon.svg']) {
      const { headers } = await get(url)
      t.strictSame(
        new Map(
          String(headers['content-security-policy'])
            .split('; ')
            .map((line): [string, string] => [line.split(' ')[0] ?? '', line.slice(line.indexOf(' ') + 1)])
        ),
        policy,
        url
      )
      t.match(headers, {
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin'
      })
    }
    for (const url of ['/health/live', '/api/limits', '/session'])
      t.match((await get(url)).headers, {
        'content-security-policy': /frame-ancestors 'none'/,
        'cache-control': 'no-store'
      })
  })

  t.test('is cached forever if its name has a hash, and revalidated otherwise', async (t) => {
    t.equal(
      (await get('/ui/assets/main-B0U5nK7b.js')).headers['cache-control'],
      'public, max-age=31536000, immutable'
    )
    for (const url of ['/ui/', '/ui/search', '/ui/icon.svg'])
      t.equal((await get(url)).headers['cache-control'], 'no-cache', url)
  })

  t.test('is answered 304 for clients that have it, with the headers of the page', async (t) => {
    for (const url of ['/ui/', '/ui/lineage?urn=x', '/ui/assets/main-B0U5nK7b.js']) {
      const { headers } = await get(url, { 'accept-encoding': 'br' })
      const etag = String(headers.etag)
      t.match(etag, /^(W\/)?".+"$/)
      for (const method of ['GET', 'HEAD'] as const) {
        const again = await get(url, { 'accept-encoding': 'br', 'if-none-match': etag }, method)
        t.match(again, { status: 304, text: '' }, `${method} ${url}`)
        t.equal(again.headers['cache-control'], headers['cache-control'])
        t.equal(again.headers['content-security-policy'], headers['content-security-policy'])
      }
      t.equal((await get(url, { 'accept-encoding': 'br', 'if-none-match': '"other"' })).status, 200)
    }
    const [plain, packed] = await Promise.all(
      ['identity', 'gzip'].map((encoding) =>
        get('/ui/assets/main-B0U5nK7b.js', { 'accept-encoding': encoding })
      )
    )
    t.not(plain?.headers.etag, packed?.headers.etag, 'a packed answer has a tag of its own')
  })

  const unpack: [string, string | undefined, (bytes: Buffer) => Buffer][] = [
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['identity', undefined, (bytes) => bytes],
    ['', undefined, (bytes) => bytes]
  ]
  for (const [accepted, encoding, plainOf] of unpack)
    t.test(`comes packed as the browser can read it: ${accepted}`, async (t) => {
      const raw = await server.app.inject({
        url: '/ui/assets/main-B0U5nK7b.js',
        headers: { 'accept-encoding': accepted }
      })
      t.equal(raw.headers['content-encoding'], encoding)
      t.match(raw.headers['content-type'], /javascript/)
      t.match(raw.headers.vary, /accept-encoding/i)
      t.equal(plainOf(raw.rawPayload).toString(), script)
      t.equal(raw.headers['content-length'], String(raw.rawPayload.length))
    })

  t.test('sends a small file uncompressed, and HEAD gives its length', async (t) => {
    const small = await get('/ui/assets/small-1.css', { 'accept-encoding': 'br' })
    t.match(small, { status: 200, text: 'a{}' })
    t.equal(small.headers['content-encoding'], undefined)
    const head = await get('/ui/assets/small-1.css', {}, 'HEAD')
    t.match(head, { status: 200, text: '', headers: { 'content-length': '3' } })
  })
})

t.test('if the UI is not built, its pages say how to build it, and the API works', async (t) => {
  const server = await withServer(t, { site: join(withFolder(t), 'none') })
  for (const url of ['/ui/', '/ui/search', '/ui/assets/main-1.js'])
    t.match(
      await server.rest({ url, token: null }),
      {
        status: 404,
        body: { code: 'NOT_FOUND', message: 'The web UI is not built here; `npm run build` builds it' }
      },
      url
    )
  t.equal((await server.rest({ url: '/api/limits' })).status, 200)
})

/** A proxy that serves everything below a folder of its own, and tells the API nothing of it. */
async function withStrippingProxy(t: Test, target: string, prefix: string): Promise<string> {
  const proxy = createServer((request, response) => {
    const path = request.url ?? ''
    if (!path.startsWith(`${prefix}/`)) {
      response.writeHead(404).end()
      return
    }
    const { host: _, ...headers } = request.headers
    const passed = ask(
      `${target}${path.slice(prefix.length)}`,
      { method: request.method, headers },
      (answer: IncomingMessage) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      }
    )
    request.pipe(passed)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy listens on no port')
  return `http://127.0.0.1:${address.port}${prefix}`
}

t.test(
  'below the prefix of a proxy that takes it away, everything is found by relative addresses',
  async (t) => {
    const server = await withServer(t, { site: withSite(t) })
    const base = await withStrippingProxy(t, server.url, '/data/catalog')
    for (const path of ['/', '/ui', '/ui/search/']) {
      const answer = await fetch(`${base}${path}`)
      t.equal(answer.status, 200, path)
      t.ok(answer.url.startsWith(`${base}/ui/`), answer.url)
      t.equal(await answer.text(), index)
      const asset = await fetch(new URL('./assets/main-B0U5nK7b.js', answer.url))
      t.equal(await asset.text(), script)
    }
    const page = `${base}/ui/lineage?urn=x`
    const signedIn = await fetch(new URL('../session', page), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: server.token })
    })
    t.equal(signedIn.status, 200)
    const cookie = signedIn.headers.get('set-cookie') ?? ''
    // a browser then takes the folder of /data/catalog/session, which is everything below the prefix
    t.notMatch(cookie, /path|domain/i)
    const read = await fetch(new URL('../api/limits', page), {
      headers: { cookie: cookie.split(';', 1)[0] ?? '' }
    })
    t.equal(read.status, 200)
  }
)

t.test('every file of the built site is served', async (t) => {
  const site = packagePath('dist/site')
  const server = await withServer(t)
  const { text, status } = await server.rest({ url: '/ui/', token: null })
  t.equal(status, 200)
  t.equal(text, readFileSync(join(site, 'index.html'), 'utf8'))
  t.notMatch(text, /<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/, 'nothing that the policy forbids')
  // An empty address is the page itself: the link to try again.
  const linked = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target = '']) => target)
  t.ok(linked.length > 0)
  for (const target of linked) {
    t.match(target, /^\.\/assets\//)
    const { pathname } = new URL(target, 'http://x/ui/')
    t.equal((await server.rest({ url: pathname, token: null })).status, 200, target)
  }
  for (const name of readdirSync(join(site, 'assets')))
    t.match(findPage(`/ui/assets/${name}`), { file: `assets/${name}`, isHashed: true })
  t.match(await sendRaw(server.url, { method: 'GET', path: '/ui/' }), { status: 200 })
})
