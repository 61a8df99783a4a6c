/** Rows of assets with their owners, use and last runs, and the pages of flows, jobs, tags and loads, on the catalog of a shop. */
import t, { type Test } from 'tap'
import { isTooWide, openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import { loadShopCatalog, orders, table } from '../support/shop-catalog.ts'
import { withServer } from '../support/server.ts'

const pathOf = (urn: string, more = ''): string => `asset?urn=${encodeURIComponent(urn)}${more}`
const flow = 'urn:li:dataFlow:(spark,finance,airflow)'
const job = `urn:li:dataJob:(${flow},finance.build_orders)`

t.test('rows and runs', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  const { url, token } = server
  const { rejectedLoad } = await loadShopCatalog(server)
  const open = (t: Test, path: string, more: object = {}) =>
    openPage(t, browser, { url, token, path, ...more })

  await t.test(
    'a row says who owns it, what it is, how much is made from it, and that it failed',
    async (t) => {
      const { body } = await server.graphql(
        'query ($urn: String!) { dataset(urn: $urn) { lineage(input: { direction: DOWNSTREAM, count: 0 }) { total } } }',
        { urn: orders }
      )
      const used = `Used by ${body.data.dataset.lineage.total}`
      for (const [path, width] of [
        ['search?q=analytics.finance.orders', 1_440],
        ['search?q=analytics.finance.orders', 390],
        [pathOf('urn:li:dataProduct:orders'), 1_024],
        [pathOf('urn:li:corpGroup:finance-data'), 1_440]
      ] as const) {
        const { page } = await open(t, path, { width })
        const row = page.locator('.asset-row').filter({ hasText: 'analytics.finance.orders' }).first()
        if (path.includes('corpGroup')) {
          t.match(await page.locator('.asset-row').first().innerText(), /Finance data/)
          continue
        }
        await row.waitFor()
        const text = (await row.innerText()).replaceAll(/\s+/g, ' ')
        for (const part of ['Ada Lovelace, Finance data', 'One row for each paid order', used, 'Failed'])
          t.ok(text.includes(part), `${path} ${width}: ${part} in ${text}`)
        t.notOk(await isTooWide(page))
      }
    }
  )

  await t.test('the rows of a page are asked for together', async (t) => {
    const { page, goTo } = await open(t, '')
    const asked: string[][] = []
    page.on('request', (request) => {
      const body: unknown = request.url().endsWith('/api/graphql') ? request.postDataJSON() : null
      const { query, variables } = (body ?? {}) as { query?: string; variables?: { urns: string[] } }
      if (query?.includes('query rowFacts')) asked.push(variables?.urns ?? [])
    })
    await goTo('search?q=orders')
    await page.locator('.row-facts').nth(49).waitFor()
    t.equal(asked.filter((urns) => urns.length > 12).length, 1, 'fifty rows, one request')
  })

  await t.test('the start page says which runs failed, and leads to the reason', async (t) => {
    const { page } = await open(t, '')
    const failed = page.getByRole('region', { name: 'Runs that failed' })
    await failed.getByText('Numeric value "n/a" is not recognized').waitFor()
    t.equal(
      await failed.getByRole('listitem').count(),
      1,
      'a run that was repeated with success is not listed'
    )
    await failed.getByRole('link', { name: /Failed/ }).click()
    await page.getByTestId('run-error').waitFor()
    t.equal(await page.locator('.run-strip > .bad').count(), 2)
  })

  await t.test('a flow has its jobs in order, with their last ten runs and their tables', async (t) => {
    for (const [width, theme] of [
      [1_440, 'light'],
      [390, 'dark']
    ] as const) {
      const { page } = await open(t, pathOf(flow), { width, theme })
      const jobs = page.getByRole('region', { name: 'Jobs' }).locator('.job')
      await jobs.first().waitFor()
      t.strictSame(
        (await jobs.locator('.job-name').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ')),
        ['1 build_costs', '1 build_ledgers', '1 build_orders', '2 build_budgets', '3 build_forecasts']
      )
      const text = await jobs.filter({ hasText: 'build_budgets' }).innerText()
      t.match(text, /Succeeded.*\d s/s)
      t.match(text, /Reads.*analytics\.finance\.(costs|ledgers).*Writes\s*analytics\.finance\.budgets/s)
      await page.getByRole('img', { name: 'Last 10 runs: 8 succeeded, 2 failed' }).waitFor()
      t.match(
        await page.getByTestId('last-run').innerText(),
        /^Failed/,
        'a flow with a failed job has failed'
      )
      t.strictSame(await violationsOf(page), [])
    }
  })

  await t.test('lineage marks what failed, opens fitted, and is three groups on a phone', async (t) => {
    const { page } = await open(t, pathOf(orders, '&tab=lineage'), { width: 1_440, height: 900 })
    await page.locator(`[data-node="${job}"]`).getByTestId('failed').waitFor()
    t.equal(await page.getByRole('navigation', { name: 'About this asset' }).isVisible(), true)
    const canvas = await page.locator('.canvas').boundingBox()
    for (const frame of await page.locator('.graph .frame').all()) {
      const box = await frame.boundingBox()
      t.ok(
        canvas && box && box.y >= canvas.y && box.y + box.height <= canvas.y + canvas.height,
        'a card is in view'
      )
    }
    const sizes = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.graph .name, .graph .qualifier')].map((each) => parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a)`
    )
    t.ok(Math.min(...sizes) >= 11, String(Math.min(...sizes)))
    const phone = await open(t, pathOf(orders, '&tab=lineage&cols=1'), { width: 390, height: 844 })
    const list = phone.page.getByTestId('as-list')
    for (const [name, count] of [
      ['Upstream', 2],
      ['This asset', 1],
      ['Downstream', 13]
    ] as const) {
      const group = list.getByRole('region', { name })
      await group.waitFor()
      t.equal(await group.locator('[data-node]').count(), count, name)
    }
    t.match(await list.getByRole('region', { name: 'This asset' }).innerText(), /customer_email/)
    t.strictSame(await violationsOf(phone.page), [])
  })

  await t.test('a tag names the columns that have it', async (t) => {
    const { page } = await open(t, pathOf('urn:li:tag:pii'))
    const list = page.getByRole('region', { name: 'Tables with columns that have it' })
    const row = list.getByRole('listitem').filter({ hasText: 'analytics.finance.orders' })
    await row.getByRole('link', { name: 'customer_email' }).click()
    await page.getByRole('heading', { level: 1, name: 'analytics.finance.orders.customer_email' }).waitFor()
  })

  await t.test('rejects are grouped by their cause, with what mends it first', async (t) => {
    const { page } = await open(t, `loads?id=${rejectedLoad}`, { width: 390, height: 844 })
    const causes = page.getByRole('region', { name: 'Why' })
    await causes.getByText('40 records, MISSING_REFERENCE').waitFor()
    const box = await causes.boundingBox()
    t.ok(box && box.y < 200, 'the reason is the first thing on a phone')
    await causes.getByRole('button', { name: 'Retry and create what is missing' }).click()
    t.ok(await page.getByRole('dialog').getByLabel('Create placeholders for missing assets').isChecked())
    t.strictSame(await violationsOf(page), [])
  })

  await t.test('a search without results has near names, and no filters', async (t) => {
    const { page } = await open(t, 'search?q=custmer_emial')
    await page.getByText('Nothing matches').waitFor()
    await page.getByRole('heading', { name: 'Names that begin with “cust”' }).waitFor()
    t.equal(await page.getByRole('complementary', { name: 'Filters' }).count(), 0)
    await page.locator('.asset-row a.name').first().click()
    await page.getByRole('heading', { level: 1, name: /customers/ }).waitFor()
  })

  await t.test('what was found with equal names is in the order of what is known of it', async (t) => {
    const { page } = await open(t, 'search?q=orders')
    const rows = page.locator('.result')
    await rows.first().waitFor()
    t.match(await rows.first().innerText(), /Used by/)
    t.notMatch(await rows.first().innerText(), /No owner/)
    const { body } = await server.graphql(
      '{ searchAcrossEntities(input: { query: "orders", count: 7 }) { searchResults { entity { urn } } } }'
    )
    t.strictSame(
      new Set(
        body.data.searchAcrossEntities.searchResults.map(
          ({ entity }: { entity: { urn: string } }) => entity.urn
        )
      ),
      new Set(
        ['finance', 'accounting', 'marketing', 'sales', 'logistics', 'people', 'support'].map((mart) =>
          table('snowflake', `analytics.${mart}.orders`)
        )
      )
    )
  })
})
