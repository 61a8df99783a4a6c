/** The page of access tokens in a browser: created, shown once, revoked. */
import t from 'tap'
import {
  isTooWide,
  openBarMenu,
  openPage,
  press,
  skipWithoutChromium,
  violationsOf,
  withBrowser
} from '../support/browser.ts'
import { withServer } from '../support/server.ts'

t.test('the page of tokens', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t)
  const browser = await withBrowser(t)
  const { url, token } = server

  t.test('leads to sign-in, and from there back to the requested address', async (t) => {
    const { page, complaints } = await openPage(t, browser, { url, token: null, path: 'tokens?sort=-name' })
    await page.getByLabel('Access token', { exact: true }).fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
    t.equal(new URL(page.url()).search, '?sort=-name')
    t.ok(
      complaints.every((text) => text.includes('401')),
      'the browser notes the 401 of GET /session'
    )
    complaints.length = 0
  })

  t.test('shows the secret of a new token once, and stores it nowhere', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'tokens' })
    await page.getByRole('button', { name: 'Create a token' }).click()
    const dialog = page.getByRole('dialog')
    t.equal(await dialog.getByRole('button', { name: 'Create a token' }).isDisabled(), true, 'without a name')
    await dialog.getByLabel('Name').fill('<b>nightly</b> "job"')
    await dialog.getByLabel('Read and write').check()
    await dialog.getByLabel('Valid for').selectOption('ONE_WEEK')
    await dialog.getByRole('button', { name: 'Create a token' }).click()
    const secret = (await page.getByLabel('Token', { exact: true }).innerText()).trim()
    t.match(await page.getByLabel('Try it with curl').innerText(), secret)
    const me = await server.graphql('{ me { corpUser { urn } } }', {}, { token: secret })
    t.equal(me.status, 200, 'the secret works')
    // The browser itself closes a dialog at the second Escape.
    await press(page, 'Escape', 'Escape', 'Escape')
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
    t.equal(
      await page.evaluate("document.querySelector('dialog').matches(':modal')"),
      true,
      'it cannot be lost by Escape'
    )
    t.equal((await page.getByLabel('Token', { exact: true }).innerText()).trim(), secret)
    await dialog.getByRole('button', { name: 'Copy' }).first().click()
    t.equal(await page.evaluate('navigator.clipboard.readText()'), secret)
    t.equal(await dialog.getByRole('button', { name: 'Done' }).isDisabled(), true)
    await dialog.getByLabel('I have copied it').check()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
    const everything = String(
      await page.evaluate(
        'document.documentElement.outerHTML + location.href + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)'
      )
    )
    t.notOk(everything.includes(secret))
    const row = page.getByRole('row').filter({ hasText: 'nightly' })
    t.match(await row.innerText(), /<b>nightly<\/b> "job"/, 'a name is text')
    t.match(await row.innerText(), /read, write/)
  })

  t.test('limits a token to several domains', async (t) => {
    await server.graphql(
      'mutation { a: createDomain(input: { id: "fin", name: "Finance" }) b: createDomain(input: { id: "sal", name: "Sales" }) c: createDomain(input: { id: "hr", name: "People" }) }'
    )
    const { page } = await openPage(t, browser, { url, token, path: 'tokens' })
    await page.getByRole('button', { name: 'Create a token' }).click()
    const dialog = page.getByRole('dialog')
    const create = dialog.getByRole('button', { name: 'Create a token' })
    await dialog.getByLabel('Name').fill('two teams')
    await dialog.getByLabel('Read and write').check()
    await dialog.getByLabel('Limit it to domains').check()
    t.equal(await create.isDisabled(), true, 'without a domain')
    const domains = dialog.getByRole('group', { name: 'Choose domains' })
    await domains.getByLabel('Finance').check()
    await domains.getByLabel('People').check()
    await dialog.getByRole('searchbox').fill('sal')
    await domains.getByLabel('Sales').check()
    t.equal(
      await domains.getByLabel('Finance').isChecked(),
      true,
      'what the search does not find stays chosen'
    )
    await domains.getByLabel('People').uncheck()
    await dialog.getByLabel('Only Finance, Sales and the domains below them').waitFor()
    t.strictSame(await violationsOf(page), [])
    await create.click()
    const secret = (await page.getByLabel('Token', { exact: true }).innerText()).trim()
    const me = await server.graphql('{ me { domainUrns } }', {}, { token: secret })
    t.strictSame(me.body.data.me.domainUrns, ['urn:li:domain:fin', 'urn:li:domain:sal'])
    await dialog.getByLabel('I have copied it').check()
    await dialog.getByRole('button', { name: 'Done' }).click()
    t.match(await page.getByRole('row').filter({ hasText: 'two teams' }).innerText(), /fin, sal/)

    const other = await openPage(t, browser, { url, token: secret, path: 'domains' })
    await openBarMenu(other.page, 'Account')
    await other.page.getByText('May change: fin, sal').waitFor()
  })

  t.test('revokes a token after a dialog that names it; its users must sign in again', async (t) => {
    const doomed = await server.tokenWith(['read'])
    const other = await openPage(t, browser, { url, token: doomed, path: 'domains' })
    await other.page.getByRole('heading', { name: 'Domains' }).first().waitFor()
    const { page } = await openPage(t, browser, { url, token, path: 'tokens' })
    await page.getByRole('button', { name: 'Revoke test read' }).click()
    const dialog = page.getByRole('dialog', { name: 'Revoke the token test read?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    t.equal(
      await page.getByRole('button', { name: 'Revoke test read' }).isVisible(),
      true,
      'Cancel does nothing'
    )
    await page.getByRole('button', { name: 'Revoke test read' }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('The token test read is revoked.').waitFor()
    await page.getByRole('button', { name: 'Revoke test read' }).waitFor({ state: 'detached' })
    await other.page.getByRole('link', { name: 'Loads' }).first().click()
    await other.page.getByText('Your session has expired or was revoked. Sign in again.').waitFor()
    await other.goTo('domains')
    await other.page.getByLabel('Access token', { exact: true }).waitFor()
    other.complaints.length = 0
  })

  t.test('tells people who are not administrators whom to ask', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token: await server.tokenWith(['write']),
      path: 'tokens'
    })
    await page.getByText('Only administrators manage tokens.').waitFor()
    t.equal(await page.getByRole('button', { name: 'Create a token' }).count(), 0)
  })

  t.test('lists keyboard shortcuts when ? is pressed, but not while typing', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'tokens' })
    await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('?')
    t.equal(await page.getByRole('dialog').count(), 0)
    await page.getByRole('heading', { name: 'Access tokens' }).click()
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
  })

  t.test('passes axe in both themes, in the list and in dialogs', async (t) => {
    for (const theme of ['light', 'dark'] as const) {
      const { page } = await openPage(t, browser, { url, token, path: 'tokens', theme, reducedMotion: true })
      await page.getByRole('grid').waitFor()
      t.strictSame(await violationsOf(page), [], `${theme}: list`)
      await page.getByRole('button', { name: 'Create a token' }).click()
      await page.getByRole('dialog').waitFor()
      t.strictSame(await violationsOf(page), [], `${theme}: create`)
      await page.keyboard.press('Escape')
      await page
        .getByRole('button', { name: /^Revoke / })
        .first()
        .click()
      await page.getByRole('dialog').waitFor()
      t.strictSame(await violationsOf(page), [], `${theme}: revoke`)
    }
  })

  t.test('fits into 320 pixels', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'tokens', width: 320, height: 640 })
    await page.getByRole('grid').waitFor()
    t.equal(await isTooWide(page), false)
    await page.getByRole('button', { name: 'Create a token' }).click()
    await page.getByRole('dialog').waitFor()
    t.equal(await isTooWide(page), false)
  })
})
