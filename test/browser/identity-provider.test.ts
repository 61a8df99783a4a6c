/** Sign-in with an identity provider in a browser: the button, the way there and back, below a path prefix. */
import t from 'tap'
import { openBarMenu, openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import { withIdentityProvider } from '../support/identity-provider.ts'
import { withPrefixProxy } from '../support/prefix-proxy.ts'
import { withServer } from '../support/server.ts'

t.test('a person of an identity provider', async (t) => {
  if (skipWithoutChromium(t)) return
  const proxy = await withPrefixProxy(t)
  const provider = await withIdentityProvider(t, {
    groups: { ada: ['tributary-editor'], bob: [] },
    publicUrl: proxy.url
  })
  const server = await withServer(t, {
    env: { ...provider.env, OIDC_ROLES: '{"editor":["tributary-editor"]}' }
  })
  proxy.forwardTo(server.url)
  const browser = await withBrowser(t)

  const open = async (t: Parameters<typeof openPage>[0], path: string) => {
    const opened = await openPage(t, browser, { url: proxy.url, token: null, path })
    await opened.page.getByRole('button', { name: 'Sign in with your organization' }).waitFor()
    t.strictSame(await violationsOf(opened.page), [])
    return opened
  }

  t.test('signs in by the button, and returns to the requested page', async (t) => {
    const { page, complaints, context } = await open(t, 'loads?state=done')
    await page.getByRole('button', { name: 'Sign in with your organization' }).click()
    await page.getByPlaceholder('Enter any login').fill('ada')
    await page.getByPlaceholder('and password').fill('any')
    await page.getByRole('button', { name: 'Sign-in' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Loads', exact: true }).waitFor()
    t.equal(page.url(), `${proxy.url}/ui/loads?state=done`)
    t.match(await (await openBarMenu(page, 'Account')).innerText(), /Signed in as ada/)
    const cookie = (await context.cookies()).find(({ name }) => name === 'tributary_session')
    t.match(cookie, { path: '/below', httpOnly: true, sameSite: 'Strict' })
    t.strictSame(
      // The pages of the provider are not ours.
      complaints.filter((text) => text.includes(proxy.url) && !text.includes(' 401 ')),
      [],
      'nothing but the 401 of GET /session before the sign-in'
    )
    complaints.length = 0
  })

  t.test('is refused without a role, and the page says why', async (t) => {
    const { page, complaints, context } = await open(t, 'domains')
    await page.getByRole('button', { name: 'Sign in with your organization' }).click()
    await page.getByPlaceholder('Enter any login').fill('bob')
    await page.getByPlaceholder('and password').fill('any')
    await page.getByRole('button', { name: 'Sign-in' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('alert').filter({ hasText: 'have no role in this catalog' }).waitFor()
    t.equal(
      (await context.cookies()).find(({ name }) => name === 'tributary_session'),
      undefined
    )
    complaints.length = 0
  })
})
