/** The start page, a load and the page that edits lineage, on the catalog of a shop. */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { isTooWide, openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import { loadShopCatalog, orders } from '../support/shop-catalog.ts'
import { withServer } from '../support/server.ts'

const assetPath = (urn: string): string => `asset?urn=${encodeURIComponent(urn)}`

async function passes(t: Test, page: Page): Promise<void> {
  t.strictSame(await violationsOf(page), [])
  t.notOk(await isTooWide(page))
}

t.test('pages of a shop', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const { url, token } = server
  const browser = await withBrowser(t)
  const { rejectedLoad } = await loadShopCatalog(server)
  const ada = await server.tokenWith(['read'], { actorUrn: 'urn:li:corpuser:ada' })

  await t.test('the start page has the domains with their counts, exactly', async (t) => {
    const { page } = await openPage(t, browser, { url, token })
    const { body } = await server.graphql(
      `{ listDomains(input: { count: 100 }) { domains { childCount properties { name } entities(input: { count: 0, includeDescendants: true }) { total } } }
        none: searchAcrossEntities(input: { query: "*", count: 0, types: [DATASET, DATA_JOB, DATA_FLOW, CHART, DASHBOARD, MLMODEL, GLOSSARY_TERM, DATA_PRODUCT], filters: [{ field: "domains", condition: EXISTS, negated: true }] }) { total } }`
    )
    const domains = page.getByRole('region', { name: 'Domains' })
    await domains.getByRole('listitem').first().waitFor()
    const shown = await domains.getByRole('listitem').allInnerTexts()
    const wanted: string[] = [
      ...body.data.listDomains.domains.map(
        (each: { properties: { name: string }; entities: { total: number }; childCount: number }) =>
          `${each.properties.name}: ${each.entities.total} assets${each.childCount === 0 ? '' : ` · ${each.childCount} sub-domain${each.childCount === 1 ? '' : 's'}`}`
      ),
      `No domain: ${body.data.none.total} assets`
    ]
    t.strictSame(shown.map((text) => text.replace('\n', ': ').replace(',', '')).toSorted(), wanted.toSorted())
  })

  for (const [width, theme] of [
    [1440, 'light'],
    [390, 'dark']
  ] as const)
    await t.test(
      `the start page shows what is hers, what she opened, and no load of others, ${width}`,
      async (t) => {
        const { page, goTo } = await openPage(t, browser, { url, token: ada, width, theme })
        const mine = page.getByRole('region', { name: 'Yours' })
        await mine.getByRole('listitem').first().waitFor()
        const { body } = await server.graphql(
          '{ searchAcrossEntities(input: { query: "*", count: 0, filters: [{ field: "owners", values: ["urn:li:corpuser:ada"] }] }) { total } }'
        )
        const { total } = body.data.searchAcrossEntities
        await mine.getByRole('link', { name: `All ${total} of yours` }).click()
        await page.getByRole('heading', { level: 1, name: `${total} results` }).waitFor()
        await goTo(assetPath(orders))
        await page.getByRole('heading', { level: 1, name: 'analytics.finance.orders' }).waitFor()
        await goTo('')
        const recent = page.getByRole('region', { name: 'Opened last' })
        await recent.getByRole('link', { name: 'analytics.finance.orders' }).waitFor()
        await page.getByRole('region', { name: 'Most connected' }).getByRole('listitem').first().waitFor()
        t.equal(await page.getByRole('region', { name: 'Loads that need attention' }).count(), 0)
        await passes(t, page)
      }
    )

  await t.test('the start page names the loads that failed, which lead to the reasons', async (t) => {
    const { page } = await openPage(t, browser, { url, token })
    const failed = page.getByRole('region', { name: 'Loads that need attention' })
    await failed.getByText('Done · 40 rejected').waitFor()
    await failed.getByRole('link').first().click()
    const reasons = page.getByRole('list', { name: 'Why' })
    await reasons.getByText('40 records, MISSING_REFERENCE').waitFor()
    t.equal(await reasons.getByRole('listitem').count(), 1, 'reasons that differ in names only are one')
    t.match(await reasons.innerText(), /nowhere\.20.*doesn't exist.*missingReferences=create/s)
    await passes(t, page)
  })

  await t.test(
    'a load links to what it changed, and its rejects are retried with placeholders',
    async (t) => {
      const { page } = await openPage(t, browser, { url, token, path: `loads?id=${rejectedLoad}` })
      const changed = page.getByRole('region', { name: 'What it changed' })
      await changed.getByRole('listitem').first().waitFor()
      const { body } = await server.graphql(
        'query ($id: String!) { load(id: $id) { changed(count: 12) { isComplete assets { urn } } } }',
        { id: rejectedLoad }
      )
      t.strictSame(
        await Promise.all((await changed.getByRole('link').all()).map((link) => link.getAttribute('title'))),
        body.data.load.changed.assets.map(({ urn }: { urn: string }) => urn)
      )
      await page.getByRole('button', { name: 'Retry rejected' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Create placeholders for missing assets').check()
      await dialog.getByRole('button', { name: 'Retry rejected' }).click()
      await page.getByText('59 applied').waitFor()
      t.equal(await page.getByRole('region', { name: 'Rejected records' }).count(), 0)
    }
  )

  await t.test('on a phone results come before the filters, which a button opens', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: 'search?q=orders',
      width: 390,
      height: 844
    })
    const filters = page.getByRole('complementary', { name: 'Filters' })
    await page.getByRole('main').locator('.card-line').first().waitFor()
    t.notOk(await filters.isVisible())
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await filters.getByRole('checkbox', { name: 'Chart' }).check()
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor()
    await passes(t, page)
  })

  await t.test('edits of lineage are not lost without a question, and saving is in sight', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: assetPath(orders), height: 700 })
    await page.getByRole('link', { name: 'Edit lineage' }).click()
    const asked: string[] = []
    let answer = false
    page.on('dialog', (dialog) => {
      asked.push(dialog.message())
      void (answer ? dialog.accept() : dialog.dismiss())
    })
    await page
      .getByRole('heading', { level: 1, name: /^Edit the lineage of analytics\.finance\.orders/ })
      .waitFor()
    const save = page.getByRole('button', { name: 'Save' })
    const box = await save.boundingBox()
    t.ok(box && box.y + box.height <= 700, 'without scrolling')
    await page
      .getByRole('button', { name: /^Remove / })
      .first()
      .click()
    await page.getByRole('link', { name: 'Home' }).click()
    await page.evaluate('history.back()')
    await page.waitForURL(/edit-lineage/)
    await page.locator('.bar').getByRole('combobox').fill('customers')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Enter')
    t.match(page.url(), /edit-lineage/)
    t.equal(asked.length, 3, 'for a link, the way back, and a search')
    t.match(asked[0], /not saved/)
    t.ok(await save.isEnabled())
    answer = true
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByRole('heading', { level: 1, name: /in the catalog$/ }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Loads' }).click()
    await page.getByRole('heading', { level: 1, name: 'Loads' }).waitFor()
    t.equal(asked.length, 4, 'once it is left, nothing asks')
  })
})
