/** The page of an asset on a catalog of a shop: what one needs to decide whether to use it, for each kind. */
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import {
  isTooWide,
  openPage,
  press,
  skipWithoutChromium,
  until,
  violationsOf,
  withBrowser
} from '../support/browser.ts'
import { aspectRecord, column, loadRecords } from '../support/large-catalog.ts'
import { withServer, type TestServer } from '../support/server.ts'
import { loadShopCatalog, orders, ordersDashboard, table } from '../support/shop-catalog.ts'

type Stage = { server: TestServer; browser: Browser; url: string; token: string }

const pathOf = (urn: string, more = ''): string => `asset?urn=${encodeURIComponent(urn)}${more}`
const headed = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

const abused = table('snowflake', 'scratch.abuse')
const wide = table('snowflake', 'scratch.wide')
const widest = 2_000

t.test('the page of an asset', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const { url, token } = server
  const browser = await withBrowser(t)
  await loadShopCatalog(server)
  const stage: Stage = { server, browser, url, token }
  await t.test('the header says what, where, whose and how fresh it is', (t) => header(t, stage))
  await t.test('descriptions are read as Markdown, and never as HTML', (t) => markdown(t, stage))
  await t.test('columns have the counts of the API, and keys find and open one', (t) => columns(t, stage))
  await t.test('what belongs to an entity is counted as the API counts it', (t) => belongings(t, stage))
  await t.test('the lineage is drawn below the header', (t) => lineage(t, stage))
  await t.test('a token is offered only what it may do', (t) => rights(t, stage))
  await t.test('no kind of page has a fault that axe finds, at 1440 and 390 pixels', (t) => kinds(t, stage))
})

async function header(t: Test, { browser, url, token }: Stage): Promise<void> {
  for (const width of [1_440, 390]) {
    const { page } = await openPage(t, browser, { url, token, path: pathOf(orders), width })
    await headed(page, 'analytics.finance.orders')
    const main = page.getByRole('main')
    await main.getByText('Dataset · Snowflake · PROD').first().waitFor()
    t.equal(await page.getByTestId('domain').innerText(), 'Finance › Revenue')
    t.equal(
      await page.getByTestId('domain').getByRole('link', { name: 'Finance' }).getAttribute('href'),
      './domains?urn=urn%3Ali%3Adomain%3Afinance'
    )
    t.match(await main.locator('a.person').first().innerText(), /AL\s*Ada Lovelace/)
    t.match(await page.getByTestId('last-run').innerText(), /^Failed\s+\d+ \w+ ago$/)
    t.match(await page.getByTestId('last-change').innerText(), /by test-admin$/)
    t.match(await page.getByTestId('upstream-count').innerText(), /^\d+ upstream$/)
    t.equal(await isTooWide(page), false, `${width} pixels`)
    await main.getByRole('link', { name: 'Personal data' }).first().click()
    await page.getByRole('heading', { level: 1, name: '26 results' }).waitFor()
  }
}

const hostile = [
  '<script>document.title="pwned"</script>',
  '<img src=x onerror="document.title=\'pwned\'">',
  '[a](javascript:document.title="pwned") <javascript:alert(1)> [b](data:text/html,x) [c](vbscript:x)',
  '[d](JaVaScRiPt:alert(1)) [e](&#106;avascript:alert(1)) ![f](https://elsewhere.example/i.png)',
  '<svg onload=alert(1)><style>body{display:none}</style>',
  '| a | b |\n|---|---|\n| **1** | 2 |',
  '# Heading\n\n[good](https://good.example/x "t")'
].join('\n\n')

async function markdown(t: Test, { server, browser, url, token }: Stage): Promise<void> {
  const { page, goTo } = await openPage(t, browser, { url, token, path: pathOf(orders) })
  await page.locator('.prose strong').filter({ hasText: 'paid order' }).waitFor()
  const handbook = page.locator('.prose').getByRole('link', { name: 'handbook' })
  t.equal(await handbook.getAttribute('rel'), 'noopener noreferrer')
  await goTo('domains?urn=urn%3Ali%3Adomain%3Afinance')
  await page.locator('.prose strong').filter({ hasText: 'Finance' }).waitFor()
  const describe = (description: string) =>
    loadRecords(server, [
      aspectRecord('dataset', abused, 'datasetProperties', { name: 'abuse', description })
    ])
  await describe(hostile)
  await goTo(pathOf(abused))
  await page.locator('.prose td strong').filter({ hasText: '1' }).waitFor()
  t.equal(await page.locator('main :is(script, img, iframe, style, object)').count(), 0)
  t.strictSame(
    await page
      .locator('.prose a')
      .evaluateAll((links: { getAttribute: (name: string) => string | null }[]) =>
        links.map((link) => link.getAttribute('href'))
      ),
    ['https://elsewhere.example/i.png', 'https://good.example/x']
  )
  t.not(await page.title(), 'pwned')
  for (const sign of ['>', '[', '**a ', '- ', '_a_', '<a ', '1. ', '`a``', '![']) {
    const text = `${sign.repeat(100_000 / sign.length)} end of it`
    await describe(text)
    await goTo(`${pathOf(abused)}&sign=${encodeURIComponent(sign)}`)
    await page.locator('.prose').filter({ hasText: 'end of it' }).waitFor()
  }
}

async function columns(t: Test, { server, browser, url, token }: Stage): Promise<void> {
  const { page, goTo } = await openPage(t, browser, { url, token, path: pathOf(orders, '&tab=columns') })
  const row = (path: string) => page.locator(`[data-row="${path}"]`)
  await row('amount').waitFor()
  for (const path of ['amount', 'order_id'])
    for (const [cell, direction] of [
      ['upstream', 'UPSTREAM'],
      ['downstream', 'DOWNSTREAM']
    ] as const) {
      const { body } = await server.graphql(
        'query ($urn: String!, $direction: LineageDirection!) { entity(urn: $urn) { ... on SchemaFieldEntity { lineage(input: { direction: $direction }) { total } } } }',
        { urn: column(orders, path), direction }
      )
      t.equal(
        await row(path).locator(`[data-cell=${cell}]`).innerText(),
        String(body.data.entity.lineage.total),
        `${path} ${cell}`
      )
    }
  t.match(await row('customer_email').innerText(), /Personal data/)
  await row('status').locator('code').first().waitFor()
  // By keys alone: filter, into the table, open.
  await page.getByRole('searchbox', { name: 'Filter columns' }).focus()
  await page.keyboard.type('order')
  await page.getByText('2 of 6 columns').waitFor()
  await press(page, 'Tab')
  await until(page, "document.activeElement?.getAttribute('role') !== 'searchbox'")
  for (let turn = 0; turn < 10; turn += 1) {
    if (await page.evaluate("document.activeElement?.getAttribute('role') === 'row'")) break
    await press(page, 'Tab')
  }
  await press(page, 'ArrowDown', 'Enter')
  await headed(page, 'analytics.finance.orders.ordered_at')
  const field = (fieldPath: string): object => ({
    fieldPath,
    nativeDataType: 'int',
    type: { type: { 'com.linkedin.schema.NumberType': {} } }
  })
  await loadRecords(server, [
    aspectRecord('dataset', wide, 'schemaMetadata', {
      schemaName: 's',
      platform: 'urn:li:dataPlatform:snowflake',
      version: 0,
      hash: '',
      platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
      fields: [
        field('[version=2.0].[type=struct].city.[type=long].id'),
        ...Array.from({ length: widest - 1 }, (_, index) => field(`c${index}`))
      ]
    })
  ])
  await goTo(pathOf(wide, '&tab=columns'))
  await page.getByText('2,000 columns').waitFor()
  t.equal(await page.locator('a.column-name').first().innerText(), 'city.id')
  t.ok((await page.getByRole('row').count()) < 100, 'only those in sight are drawn')
}

async function belongings(t: Test, { server, browser, url, token }: Stage): Promise<void> {
  await loadRecords(server, [
    aspectRecord('corpuser', 'urn:li:corpuser:ada', 'groupMembership', {
      groups: ['urn:li:corpGroup:finance-data']
    }),
    aspectRecord('dataset', orders, 'container', { container: 'urn:li:container:finance' }),
    aspectRecord('container', 'urn:li:container:finance', 'containerProperties', { name: 'finance' }),
    aspectRecord(
      'mlFeatureTable',
      'urn:li:mlFeatureTable:(urn:li:dataPlatform:feast,demand)',
      'mlFeatureTableProperties',
      {
        mlFeatures: ['urn:li:mlFeature:(demand,week)']
      }
    ),
    aspectRecord('mlFeature', 'urn:li:mlFeature:(demand,week)', 'mlFeatureProperties', { description: 'x' })
  ])
  const found = async (field: string, urn: string): Promise<number> => {
    const { body } = await server.graphql(
      'query ($filters: [FacetFilterInput!]) { searchAcrossEntities(input: { query: "*", count: 0, filters: $filters }) { total } }',
      { filters: [{ field, values: [urn] }] }
    )
    return body.data.searchAcrossEntities.total
  }
  const ada = 'urn:li:corpuser:ada'
  const group = 'urn:li:corpGroup:finance-data'
  const term = 'urn:li:glossaryTerm:Net_revenue'
  const { page, goTo } = await openPage(t, browser, { url, token })
  for (const [urn, title, total, all] of [
    ['urn:li:dataFlow:(airflow,load_stripe,PROD)', 'Jobs', 8, false],
    [ordersDashboard, 'Charts', 16, false],
    ['urn:li:chart:(looker,finance.orders_by_week)', 'Dashboards with this chart', 1, false],
    ['urn:li:mlFeatureTable:(urn:li:dataPlatform:feast,demand)', 'Features and keys', 1, false],
    ['urn:li:dataProduct:orders', 'Assets', 3, false],
    [orders, 'Data products with this asset', 1, false],
    [orders, 'Columns', 6, false],
    ['urn:li:container:finance', 'Contents', 1, true],
    [group, 'Members', 1, false],
    [group, 'Owns', await found('owners', group), true],
    [ada, 'Owns', await found('owners', ada), true],
    ['urn:li:tag:pii', 'Assets with this tag', await found('tags', 'urn:li:tag:pii'), true],
    ['urn:li:tag:pii', 'Tables with columns that have it', 3, false],
    [term, 'Assets with this term', await found('glossaryTerms', term), true]
  ] as const) {
    await goTo(pathOf(urn))
    const list = page.getByRole('region', { name: title, exact: true })
    await list.getByRole('heading', { name: `${title} ${total}`, exact: true }).waitFor()
    t.equal(await list.getByRole('listitem').count(), Math.min(total, 10), `${urn} ${title}`)
    if (total <= 10) continue
    if (all) {
      await list.getByRole('link', { name: `Show all ${total}` }).click()
      await page.getByRole('heading', { level: 1, name: `${total} results` }).waitFor()
    } else {
      await list.getByRole('button', { name: `Show all ${total}` }).click()
      await until(page, `document.querySelectorAll('[aria-label="${title}"] li').length === ${total}`)
    }
  }
}

async function lineage(t: Test, { browser, url, token }: Stage): Promise<void> {
  const { page } = await openPage(t, browser, { url, token, path: pathOf(orders), width: 1_440 })
  await headed(page, 'analytics.finance.orders')
  await page.getByRole('link', { name: 'Lineage', exact: true }).click()
  await page.locator('[data-node]').first().waitFor()
  await headed(page, 'analytics.finance.orders')
  t.equal(await page.getByRole('heading', { level: 1 }).count(), 1)
  t.equal(await page.getByRole('link', { name: 'Lineage', exact: true }).getAttribute('aria-current'), 'page')
  await page.getByTestId('columns').click()
  await page.waitForURL(/ui\/asset\?.*cols=1/)
  await page.locator('[data-col]').first().waitFor()
  await page.getByRole('link', { name: 'Open large' }).click()
  await page.waitForURL(/ui\/lineage\?.*cols=1/)
  await page.locator('[data-col]').first().waitFor()
}

async function rights(t: Test, { server, browser, url }: Stage): Promise<void> {
  const actions = (page: Page) => page.getByRole('main').getByText(/^(Edit lineage|Domain|Set domain)$/)
  const reader = await server.tokenWith(['read'])
  const { page } = await openPage(t, browser, { url, token: reader, path: pathOf(orders) })
  await headed(page, 'analytics.finance.orders')
  t.equal(await actions(page).count(), 0)
  const writer = await server.tokenWith(['read', 'write'], { domainUrns: ['urn:li:domain:finance'] })
  const { page: own, goTo } = await openPage(t, browser, { url, token: writer, path: pathOf(orders) })
  await headed(own, 'analytics.finance.orders')
  t.equal(await actions(own).count(), 2, 'Revenue is in Finance')
  await goTo(pathOf(table('snowflake', 'analytics.support.orders')))
  await headed(own, 'analytics.support.orders')
  t.equal(await actions(own).count(), 0)
}

async function kinds(t: Test, { browser, url, token }: Stage): Promise<void> {
  for (const theme of ['light', 'dark'] as const)
    for (const [urn, tabs] of [
      [orders, 'Overview Columns Lineage Impact Provenance Aspects'],
      [column(orders, 'amount'), 'Overview Lineage Impact Provenance'],
      ['urn:li:dataProduct:orders', 'Overview Aspects'],
      ['urn:li:tag:pii', 'Overview Aspects'],
      ['urn:li:glossaryTerm:Net_revenue', 'Overview Aspects'],
      ['urn:li:corpuser:ada', 'Overview Aspects'],
      ['urn:li:corpGroup:finance-data', 'Overview Aspects'],
      ['urn:li:dataFlow:(airflow,load_stripe,PROD)', 'Overview Aspects']
    ] as const) {
      const { page } = await openPage(t, browser, {
        url,
        token,
        path: pathOf(urn),
        theme,
        reducedMotion: true
      })
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      const links = await page
        .getByRole('navigation', { name: 'About this asset' })
        .getByRole('link')
        .allInnerTexts()
      t.match(links.join(' '), new RegExp(`^${tabs}`), urn)
      t.strictSame(await violationsOf(page), [], `${theme} ${urn}`)
      await page.setViewportSize({ width: 390, height: 844 })
      t.strictSame(await violationsOf(page), [], `${theme} ${urn} at 390 pixels`)
      t.equal(await isTooWide(page), false, urn)
    }
}
