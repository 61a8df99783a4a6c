/**
 * Sessions in a real browser: the link that signs in, and attacks by pages of another site on a signed-in
 * person, which all fail.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createSignInCode } from '../../shared/catalog/access/create-sign-in-code.ts'
import { openBarMenu, openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import { withServer } from '../support/server.ts'

/** Serves an empty page in which the attacks run. */
async function withOtherSite(t: Test): Promise<number> {
  const site = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>evil</title>')
  })
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.teardown(() => {
    site.closeAllConnections()
    site.close()
  })
  const address = site.address()
  if (address === null || typeof address === 'string') throw new Error('the site listens on no port')
  return address.port
}

t.test('a session in a browser', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t)
  const browser = await withBrowser(t)
  const { url, token } = server

  t.test('begins with the link of npm start, whose code does not stay in the address', async (t) => {
    const { code } = await createSignInCode(server.db, { token })
    const { page, complaints, context } = await openPage(t, browser, {
      url,
      token: null,
      path: `sign-in#code=${code}`
    })
    await page.waitForURL((address) => address.pathname === '/ui/')
    t.notOk(page.url().includes(code))
    const [cookie, ...others] = await context.cookies()
    t.strictSame(others, [])
    t.match(cookie, {
      name: 'tributary_session',
      domain: '127.0.0.1',
      path: '/',
      httpOnly: true,
      secure: false,
      sameSite: 'Strict'
    })
    t.equal(await page.evaluate('document.cookie'), '', 'no script reads it')
    t.ok(complaints.every((text) => text.includes('401')))
    complaints.length = 0
  })

  t.test('shows that a page does not exist, and leads home', async (t) => {
    const { page, complaints } = await openPage(t, browser, { url, token, path: 'serach?q=orders' })
    await page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
    await page.getByRole('link', { name: 'Go to the start page' }).click()
    await page.waitForURL((address) => address.pathname === '/ui/')
    t.ok(complaints.every((text) => text.includes('404')))
    complaints.length = 0
  })

  t.test('follows a load by EventSource, with the cookie alone', async (t) => {
    const { page } = await openPage(t, browser, { url, token })
    const load = await server.rest({
      method: 'POST',
      url: '/loads',
      body: '{"op":"upsertEntity","urn":"urn:li:dataset:(urn:li:dataPlatform:hive,seen,PROD)"}\n',
      headers: { 'content-type': 'application/x-ndjson' }
    })
    const states = page.evaluate(`new Promise((resolve) => {
      const states = []
      const source = new EventSource('../loads/${load.body.id}/events')
      source.addEventListener('load', ({ data }) => {
        states.push(JSON.parse(data).state)
        if (states.at(-1) === 'accepted') document.title = 'following'
      })
      source.onerror = () => { if (states.length > 1) { source.close(); resolve(states) } }
    })`)
    // Without waitForFunction, because it uses eval, which the policy of the page forbids.
    while ((await page.title()) !== 'following') await sleep(50)
    await server.rest({ method: 'POST', url: `/loads/${load.body.id}/cancel` })
    t.strictSame(await states, ['accepted', 'cancelled'])
  })

  for (const path of ['explorer', 'reference'])
    t.test(`the page ${path} breaks no rule of its policy`, async (t) => {
      const { page, complaints } = await openPage(t, browser, { url, token, path })
      await page.locator('#app > *').first().waitFor()
      await page.waitForLoadState('networkidle')
      t.strictSame(complaints, [])
    })

  /** Each runs in a page of another site and returns what it could read. */
  const attacks: { name: string; run: (target: string) => string; isAskedFirst?: boolean }[] = [
    {
      name: 'fetch with the cookie, as a form could send it',
      run: (target) =>
        `fetch('${target}/api/graphql', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body: '{"query":"mutation { createDomain(input: { id: \\\\"evil\\\\", name: \\\\"Evil\\\\" }) }"}' }).then(() => 'sent', () => 'refused')`
    },
    {
      name: 'fetch as JSON, which asks first',
      isAskedFirst: true,
      run: (target) =>
        `fetch('${target}/api/graphql', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{"query":"mutation { createDomain(input: { id: \\\\"evil\\\\", name: \\\\"Evil\\\\" }) }"}' }).then(() => 'read', () => 'refused')`
    },
    {
      name: 'reading the token against forged requests',
      run: (target) =>
        `fetch('${target}/session', { credentials: 'include' }).then((answer) => answer.text(), () => 'refused')`
    },
    {
      name: 'a form that uploads',
      run: (target) => `(() => {
        const frame = document.createElement('iframe'); frame.name = 'hidden'; document.body.append(frame)
        const form = document.createElement('form')
        Object.assign(form, { method: 'POST', enctype: 'text/plain', target: 'hidden', action: '${target}/loads?format=ndjson' })
        const field = document.createElement('input')
        field.name = '{"op":"createDomain","id":"evil","name":"Evil","x":"'; field.value = '"}'
        form.append(field); document.body.append(form); form.submit()
        return new Promise((resolve) => { frame.onload = () => resolve('sent') })
      })()`
    },
    {
      name: 'signing the person out',
      isAskedFirst: true,
      run: (target) =>
        `fetch('${target}/session', { method: 'DELETE', credentials: 'include' }).then(() => 'read', () => 'refused')`
    },
    {
      name: 'signing the person in as somebody else',
      run: (target) =>
        `fetch('${target}/session', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body: '{"token":"${token}"}' }).then(() => 'sent', () => 'refused')`
    }
  ]

  t.test('cannot be used by a page of another site or another port', async (t) => {
    const port = await withOtherSite(t)
    const { page, context } = await openPage(t, browser, { url, token })
    const cookies = JSON.stringify((await context.cookies()).map(({ value }) => value))
    /** What the server answers, for a page does not see the answers to its attacks. */
    let answers: { origin: string; method: string; status: number; hasCookie: boolean }[] = []
    server.app.server.on('request', ({ method, headers }, answer) => {
      answer.on('finish', () => {
        answers.push({
          origin: headers.origin ?? headers.referer ?? '',
          method: method ?? '',
          status: answer.statusCode,
          hasCookie: headers.cookie?.includes('tributary_session=') ?? false
        })
      })
    })
    // The browser sends the cookie to another port of the same host, and not from another host.
    for (const { origin, sendsCookie } of [
      { origin: `http://localhost:${port}`, sendsCookie: false },
      { origin: `http://127.0.0.1:${port}`, sendsCookie: true }
    ]) {
      const evil = await context.newPage()
      await evil.goto(origin)
      for (const { name, run, isAskedFirst = false } of attacks) {
        answers = []
        const got = String(await evil.evaluate(run(url)))
        t.match(got, /^(sent|refused)$/, `${origin}: ${name}`)
        // Refused for where it comes from, and not for the form of its body.
        const refused = answers.filter(
          (answer) => answer.method !== 'OPTIONS' && answer.origin.startsWith(origin)
        )
        t.equal(refused.length, isAskedFirst ? 0 : 1, `${origin}: ${name}: ${JSON.stringify(answers)}`)
        for (const { status, hasCookie } of refused)
          t.ok(
            hasCookie === sendsCookie && (status === 403 || (status === 401 && !hasCookie)),
            `${origin}: ${name}: ${status}`
          )
      }
      await evil.close()
    }
    const { rows } = await server.db.raw(
      `select count(*)::int from entity where urn like '%evil%' union all select count(*)::int from load where source = 'load' and state <> 'cancelled'`
    )
    t.same(rows, [{ count: 0 }, { count: 0 }])
    t.equal(JSON.stringify((await context.cookies()).map(({ value }) => value)), cookies)
    t.equal(await page.evaluate(`fetch('../session').then(({ status }) => status)`), 200, 'still signed in')
  })

  t.test('leads only to a page of this UI, whatever the link says', async (t) => {
    for (const next of [
      'https://evil.example/',
      '//evil.example/',
      '\\\\evil.example/',
      './/evil.example/',
      '/\\evil.example/',
      'https:evil.example',
      'javascript:alert(1)',
      '\t//evil.example/',
      './search?q=1#//evil.example'
    ]) {
      const { code } = await createSignInCode(server.db, { token })
      const { page, complaints } = await openPage(t, browser, {
        url,
        token: null,
        path: `sign-in?next=${encodeURIComponent(next)}#code=${code}`
      })
      await page.waitForURL((address) => address.pathname !== '/ui/sign-in')
      t.match(page.url(), new RegExp(`^${url}/ui/`), next)
      t.ok(complaints.every((text) => text.includes('401')))
      complaints.length = 0
    }
  })

  t.test('is shown on the sign-in page, which offers to continue or to sign out', async (t) => {
    const { page, complaints } = await openPage(t, browser, { url, token, path: 'sign-in?next=./domains' })
    await page.getByText(/^You are signed in as /).waitFor()
    t.equal(await page.getByLabel('Access token', { exact: true }).count(), 0)
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    t.equal(new URL(page.url()).pathname, '/ui/domains')
    await page.goto(`${url}/ui/sign-in`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Access token', { exact: true }).waitFor()
    t.equal(await page.evaluate("fetch('../session').then(({ status }) => status)"), 401)
    t.ok(complaints.every((text) => text.includes('401')))
    complaints.length = 0
  })

  t.test('ends by a button, also on a narrow screen', async (t) => {
    const { page, complaints } = await openPage(t, browser, { url, token, width: 320, height: 640 })
    await (await openBarMenu(page, 'Account')).getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByLabel('Access token', { exact: true }).waitFor()
    t.ok(complaints.every((text) => text.includes('401')))
    complaints.length = 0
  })

  t.test('no page can be shown in a frame', async (t) => {
    const port = await withOtherSite(t)
    const context = await browser.newContext()
    t.teardown(() => context.close())
    const evil = await context.newPage()
    await evil.goto(`http://localhost:${port}`)
    await evil.evaluate(`new Promise((resolve) => {
      const frame = document.createElement('iframe')
      frame.src = '${url}/ui/'; frame.onload = resolve; document.body.append(frame)
    })`)
    const [frame] = evil.mainFrame().childFrames()
    // the frame has loaded before the browser says what is in it
    while (frame?.url() === '') await sleep(50)
    t.match(frame?.url(), /^chrome-error:/)
  })
})
