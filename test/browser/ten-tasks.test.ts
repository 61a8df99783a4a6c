/** Ten tasks as newcomers have them, each done in at most five clicks on the catalog of a shop. */
import type { Browser, Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openPage, skipWithoutChromium, until, withBrowser } from '../support/browser.ts'
import { loadShopCatalog, orders } from '../support/shop-catalog.ts'
import { withServer, type TestServer } from '../support/server.ts'

const clicksMaxCount = 5

type Hands = { page: Page; click: (on: Locator) => Promise<void> }

t.test('ten tasks', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  await loadShopCatalog(server)
  for (const [task, play] of tasks) await t.test(task, (t) => inFewClicks(t, { server, browser }, play))
})

/** Each begins on the start page. */
async function inFewClicks(
  t: Test,
  { server, browser }: { server: TestServer; browser: Browser },
  play: (hands: Hands, t: Test, server: TestServer) => Promise<void>
): Promise<void> {
  const { page } = await openPage(t, browser, {
    url: server.url,
    token: server.token,
    width: 1440,
    height: 900
  })
  let clicks = 0
  const click = async (on: Locator): Promise<void> => {
    clicks += 1
    await on.click()
  }
  await page.getByRole('heading', { level: 1, name: /in the catalog$/ }).waitFor()
  await play({ page, click }, t, server)
  t.ok(clicks <= clicksMaxCount, `${clicks} clicks`)
}

/** Types words, and opens the suggestion of a name. */
async function find({ page, click }: Hands, words: string, name: string): Promise<void> {
  await page.getByRole('search').getByRole('combobox').fill(words)
  await click(page.getByRole('option').filter({ hasText: name }).first())
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

const findOrders = (hands: Hands): Promise<void> => find(hands, 'finance.orders', 'analytics.finance.orders')
const tab = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('navigation', { name: 'About this asset' }).getByRole('link', { name })

const tasks: readonly (readonly [string, (hands: Hands, t: Test, server: TestServer) => Promise<void>])[] = [
  [
    'find the orders of finance among those of everybody',
    async (hands, t) => {
      await findOrders(hands)
      t.match(await hands.page.getByRole('main').innerText(), /Finance.*Revenue/s)
    }
  ],
  [
    'who owns it?',
    async (hands) => {
      await findOrders(hands)
      await hands.page.getByRole('main').getByText('Ada Lovelace').first().waitFor()
    }
  ],
  [
    'what breaks if the column amount goes?',
    async (hands, t, server) => {
      await findOrders(hands)
      const { page, click } = hands
      await click(tab(page, /Impact/))
      await page.getByRole('combobox', { name: 'Column', exact: true }).selectOption('amount')
      const { body } = await server.graphql(
        'query ($urn: String!) { scrollAcrossLineage(input: { urn: $urn, direction: DOWNSTREAM, foldColumns: false }) { total } }',
        { urn: `urn:li:schemaField:(${orders},amount)` }
      )
      const { total } = body.data.scrollAcrossLineage
      t.ok(total > 10)
      await page
        .getByTestId('impact-showing')
        .filter({ hasText: `all ${total}` })
        .waitFor()
    }
  ],
  [
    'which dashboards show it?',
    async (hands) => {
      await findOrders(hands)
      const { page, click } = hands
      await click(tab(page, /Impact/))
      await page.getByRole('searchbox', { name: /^Text in name/ }).fill('overview')
      await page.getByRole('row').filter({ hasText: 'Revenue overview' }).waitFor()
    }
  ],
  [
    'why did my load reject 40 lines?',
    async ({ page, click }) => {
      const failed = page.getByRole('region', { name: 'Loads that need attention' })
      await click(failed.getByRole('link').first())
      await page
        .getByRole('list', { name: 'Why' })
        .getByText(/nowhere\.20.*doesn't exist/)
        .waitFor()
    }
  ],
  [
    'why did the job that makes it fail last night?',
    async (hands) => {
      await find(hands, 'build_orders', 'finance.build_orders')
      await hands.click(tab(hands.page, /Runs/))
      await hands.page.getByText('Numeric value "n/a" is not recognized').first().waitFor()
    }
  ],
  [
    'put ten tables into a domain',
    async ({ page, click }, t, server) => {
      await click(page.getByRole('region', { name: 'Domains' }).getByRole('link', { name: /^People/ }))
      const before = await assetsOf(server, 'people')
      await click(page.getByRole('button', { name: 'Add assets' }))
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('searchbox').fill('stg_coupons')
      await dialog.getByText('10 of 10').waitFor()
      await click(dialog.getByRole('checkbox').first())
      await click(dialog.getByRole('button', { name: /^Add 10/ }))
      await dialog.waitFor({ state: 'detached' })
      t.equal(await assetsOf(server, 'people'), before + 10)
    }
  ],
  [
    'which tables hold personal data?',
    async (hands, t) => {
      await findOrders(hands)
      const { page, click } = hands
      await click(page.getByRole('link', { name: 'Personal data' }).first())
      await page.getByRole('heading', { level: 1, name: /results$/ }).waitFor()
      t.ok((await page.getByRole('main').getByRole('listitem').count()) > 10)
    }
  ],
  [
    'take a load back',
    async ({ page, click }) => {
      await click(page.getByRole('navigation').getByRole('link', { name: 'Loads' }))
      await click(page.getByRole('row').filter({ hasText: '40 rejected' }).getByRole('link').first())
      await click(page.getByRole('button', { name: 'Undo' }))
      await click(page.getByRole('dialog').getByRole('button', { name: 'Undo' }))
      await page.getByText('Undoes').first().waitFor()
    }
  ],
  [
    'send a colleague the picture of what it is made from',
    async (hands, t) => {
      await findOrders(hands)
      const { page, click } = hands
      await click(tab(page, /Lineage/))
      await page.locator('.graph [data-node]').first().waitFor()
      await click(page.locator('.bar-menus summary'))
      await click(page.getByRole('button', { name: 'Copy link' }))
      await until(page, "navigator.clipboard.readText().then((text) => text.includes('orders'))")
      t.equal(await page.evaluate('navigator.clipboard.readText()'), page.url())
    }
  ]
]

async function assetsOf(server: TestServer, id: string): Promise<number> {
  const { body } = await server.graphql(
    'query ($urn: String!) { domain(urn: $urn) { entities(input: { count: 0 }) { total } } }',
    { urn: `urn:li:domain:${id}` }
  )
  return body.data.domain.entities.total
}
