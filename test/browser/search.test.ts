/** The search page, the pickers and the dialog that adds assets, on the catalog of a shop. */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import {
  isTooWide,
  openPage,
  press,
  skipWithoutChromium,
  violationsOf,
  withBrowser
} from '../support/browser.ts'
import { loadShopCatalog, rawOrders, table } from '../support/shop-catalog.ts'
import { withServer, type TestServer } from '../support/server.ts'

type Filter = { field: string; values?: string[]; condition?: string; negated?: boolean }

async function totalOf(server: TestServer, query: string, and: Filter[], types?: string[]): Promise<number> {
  const { body } = await server.graphql(
    'query ($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) { total } }',
    { input: { query, count: 0, orFilters: [{ and }], ...(types ? { types } : {}) } }
  )
  return body.data.searchAcrossEntities.total
}

const heading = (page: Page, total: number) =>
  page.getByRole('heading', {
    level: 1,
    name: `${total.toLocaleString('en')} result${total === 1 ? '' : 's'}`,
    exact: true
  })

const facet = (page: Page, name: string) => page.getByRole('group', { name, exact: true })

/** The options of a facet: names with their counts. */
async function optionsOf(page: Page, name: string): Promise<string[]> {
  const texts = await facet(page, name).locator('label').allInnerTexts()
  return texts.map((text) => text.replaceAll(/\s*\n\s*/g, ' '))
}

const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement?.textContent ?? ""')

t.test('search on the catalog of a shop', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const { url, token } = server
  const browser = await withBrowser(t)
  await loadShopCatalog(server)
  const open = (t: Test, path: string, more: object = {}) =>
    openPage(t, browser, { url, token, path, ...more })

  await t.test('a chosen value leaves the others of its facet, each with what it would add', async (t) => {
    const { page } = await open(t, 'search?q=orders')
    await facet(page, 'Platform').getByRole('checkbox', { name: 'Snowflake' }).waitFor()
    const before = await optionsOf(page, 'Platform')
    t.ok(before.length > 3, before.join(', '))
    const total = await totalOf(server, 'orders', [{ field: 'platform', values: ['snowflake'] }])
    t.ok(before.includes(`Snowflake ${total}`), before.join(', '))
    await facet(page, 'Platform').getByRole('checkbox', { name: 'Snowflake' }).check()
    await heading(page, total).waitFor()
    t.strictSame((await optionsOf(page, 'Platform')).toSorted(), before.toSorted())
    await facet(page, 'Platform').getByRole('checkbox', { name: 'Postgres' }).check()
    const both = await totalOf(server, 'orders', [{ field: 'platform', values: ['snowflake', 'postgres'] }])
    await heading(page, both).waitFor()
    await page.reload()
    await heading(page, both).waitFor()
    t.ok(await facet(page, 'Platform').getByRole('checkbox', { name: 'Postgres' }).isChecked())
  })

  await t.test('each facet narrows to what the API finds', async (t) => {
    for (const [group, name, filter] of [
      ['Owner', 'Ada Lovelace', { field: 'owners', values: ['urn:li:corpuser:ada'] }],
      ['Tag', 'Personal data', { field: 'tags', values: ['urn:li:tag:pii'] }],
      ['Term', 'Net revenue', { field: 'glossaryTerms', values: ['urn:li:glossaryTerm:Net_revenue'] }],
      [
        'Domain',
        'Finance',
        { field: 'domains', values: ['urn:li:domain:finance'], condition: 'DESCENDANTS_INCL' }
      ],
      ['Lineage', 'Has lineage', { field: 'hasLineage', values: ['true'] }],
      ['Lineage', 'No lineage', { field: 'hasLineage', values: ['false'] }]
    ] as const) {
      const total = await totalOf(server, '*', [{ ...filter, values: [...filter.values] }])
      t.ok(total > 0, `${group} ${name}: ${total}`)
      const { page } = await open(t, 'search?q=*')
      const all = facet(page, group).getByRole('button', { name: /^Show all/ })
      await facet(page, group).waitFor()
      if (await all.isVisible()) await all.click()
      await facet(page, group).getByRole('checkbox', { name }).first().check()
      await heading(page, total).waitFor()
      await page.getByRole('link', { name: `Remove filter ${name}` }).click()
      await page.getByRole('link', { name: /^Remove filter/ }).waitFor({ state: 'detached' })
    }
  })

  await t.test('what is in no domain is a list, which the start page leads to', async (t) => {
    const types =
      'DATASET DATA_JOB DATA_FLOW CHART DASHBOARD CONTAINER MLMODEL MLMODEL_GROUP MLFEATURE MLFEATURE_TABLE MLPRIMARY_KEY NOTEBOOK GLOSSARY_TERM GLOSSARY_NODE DATA_PRODUCT APPLICATION DOCUMENT METRIC SEMANTIC_MODEL'
    const nowhere = { field: 'domains', condition: 'EXISTS', negated: true }
    const total = await totalOf(server, '*', [nowhere], types.split(' '))
    const { page } = await open(t, '')
    await page.getByRole('link', { name: /^No domain/ }).click()
    await heading(page, total).waitFor()
    t.match(page.url(), 'f=domains%3Anone')
    t.strictSame(
      (await optionsOf(page, 'Type')).filter((text) => /^(Tag|User|Domain)\b/.test(text)),
      [],
      'tags and people cannot be in one'
    )
    t.ok((await optionsOf(page, 'Domain')).length > 3, 'the domains stay to choose from')
  })

  await t.test('results are in the order of the address', async (t) => {
    const { page } = await open(t, 'search?q=refunds&f=platform%3Aurn%3Ali%3AdataPlatform%3Asnowflake')
    const names = () => page.locator('.results a.name').allInnerTexts()
    await page.getByLabel('Sort by').selectOption('Name')
    await page.waitForURL(/sort=name/)
    const { body } = await server.graphql(
      'query ($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) { searchResults { entity { urn } } } }',
      {
        input: {
          query: 'refunds',
          count: 50,
          orFilters: [{ and: [{ field: 'platform', values: ['snowflake'] }] }],
          sortInput: { sortCriterion: { field: 'name', sortOrder: 'ASCENDING' } }
        }
      }
    )
    const wanted: string[] = body.data.searchAcrossEntities.searchResults.map(
      ({ entity }: { entity: { urn: string } }) => entity.urn.split(',')[1]
    )
    await page
      .locator('.results a.name')
      .first()
      .filter({ hasText: wanted[0] ?? '' })
      .waitFor()
    t.strictSame(await names(), wanted)
    const { status } = await server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: 'dataset',
          entityUrn: table('snowflake', 'raw.workday.refunds'),
          changeType: 'UPSERT',
          aspectName: 'status',
          aspect: { contentType: 'application/json', value: JSON.stringify({ removed: false }) }
        }
      }
    })
    t.equal(status, 200)
    await page.getByLabel('Sort by').selectOption('Last change')
    await page.waitForURL(/sort=changed/)
    await page.locator('.results a.name').first().filter({ hasText: 'raw.workday.refunds' }).waitFor()
    await page.goBack()
    await page
      .locator('.results a.name')
      .first()
      .filter({ hasText: wanted[0] ?? '' })
      .waitFor()
  })

  await t.test('a result says why it matched if its name does not show that', async (t) => {
    const { page, goTo } = await open(t, 'search?q=orders')
    const first = page.locator('.result').filter({ hasText: 'analytics.finance.orders' }).first()
    await first.waitFor()
    t.equal(await page.getByTestId('match').count(), 0, 'the name shows it')
    t.match(await first.innerText(), /One row for each paid order of the shop/)
    t.match(await first.innerText(), /Finance › Revenue/)
    t.ok(await first.getByRole('img', { name: /^Owners: / }).isVisible())
    for (const [words, field, marks] of [
      ['customer_email', 'Column', ['customer', 'email']],
      ['receipt handbook', null, []],
      ['paid', 'One row for each', ['paid']],
      ['pii', 'Tag', ['pii']],
      ['edgar', 'Owner', ['edgar']]
    ] as const) {
      await goTo(`search?q=${encodeURIComponent(words)}`)
      if (field === null) {
        await page.getByText(`Nothing matches “${words}”.`).waitFor()
        continue
      }
      const match = page.getByTestId('match').first()
      await match.filter({ hasText: field }).waitFor()
      t.strictSame(
        [
          ...new Set((await match.locator('mark').allInnerTexts()).map((text) => text.toLowerCase()))
        ].toSorted(),
        [...marks],
        words
      )
    }
  })

  await t.test('keys lead from anywhere into the field, the results, and back', async (t) => {
    const { page } = await open(t, 'search?q=orders')
    await page.locator('.result').first().waitFor()
    const names = await page.locator('.results a.name').allInnerTexts()
    await press(page, 'ArrowDown')
    t.equal(await focused(page), names[0])
    await press(page, 'ArrowDown', 'ArrowDown', 'ArrowUp')
    t.equal(await focused(page), names[1])
    await press(page, '/')
    t.equal(await page.evaluate('document.activeElement?.getAttribute("role")'), 'combobox')
    await press(page, 'ArrowDown')
    t.equal(await focused(page), names[0])
    await press(page, 'ArrowUp')
    t.equal(await page.evaluate('document.activeElement?.getAttribute("role")'), 'combobox')
    await press(page, 'ArrowDown', 'ArrowDown', 'Enter')
    await page.getByRole('heading', { level: 1, name: names[1] ?? '' }).waitFor()
  })

  await t.test('a domain is picked by arrows and Enter', async (t) => {
    const { page } = await open(t, `asset?urn=${encodeURIComponent(rawOrders)}`)
    await page.getByRole('button', { name: 'Set domain' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio').nth(2).waitFor()
    await dialog.getByRole('searchbox').focus()
    await press(page, 'ArrowDown', 'ArrowDown')
    t.ok(await page.evaluate('document.activeElement.type === "radio" && document.activeElement.checked'))
  })

  await t.test('assets to add are filtered, and show where they are now', async (t) => {
    const { page } = await open(t, 'domains?urn=urn%3Ali%3Adomain%3Asupport')
    await page.getByRole('button', { name: 'Add assets' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add assets to Support' })
    await dialog.getByRole('searchbox').fill('accounting orders')
    const rows = dialog.locator('[data-row]')
    const row = rows.filter({ hasText: 'analytics.accounting.orders' }).first()
    await row.waitFor()
    t.match(await row.innerText(), 'Finance › Accounting')
    await dialog.locator('summary', { hasText: 'Platform' }).click()
    await dialog.getByRole('group', { name: 'Platform' }).getByRole('checkbox', { name: 'BigQuery' }).check()
    const total = await totalOf(
      server,
      'accounting orders',
      [
        { field: 'platform', values: ['bigquery'] },
        { field: 'domains', values: ['urn:li:domain:support'], negated: true }
      ],
      ['DATASET']
    )
    await dialog.getByText(`Showing ${total} of ${total}`).waitFor()
    t.ok((await rows.allInnerTexts()).every((text) => text.includes('BigQuery')))
    await press(page, 'Escape')
    await dialog.locator('summary', { hasText: 'Domain now' }).click()
    await dialog.getByRole('checkbox', { name: 'No domain' }).check()
    await dialog.getByText(`Showing ${total} of ${total}`).waitFor()
  })

  for (const width of [1440, 1024, 390, 320])
    for (const theme of ['light', 'dark'] as const)
      await t.test(`the results pass the checks of axe and fit, ${width} ${theme}`, async (t) => {
        const { page } = await open(t, 'search?q=email&f=platform%3Aurn%3Ali%3AdataPlatform%3Asnowflake', {
          width,
          theme
        })
        await page.locator('.result').first().waitFor()
        t.strictSame(await violationsOf(page), [])
        t.notOk(await isTooWide(page))
      })
})
