/** The lineage picture of a shop: each card says which of many it is, what it belongs to, and how it got there. */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import {
  isTooWide,
  openPage,
  skipWithoutChromium,
  until,
  violationsOf,
  withBrowser
} from '../support/browser.ts'
import { column } from '../support/large-catalog.ts'
import { withServer } from '../support/server.ts'
import { loadShopCatalog, orders, rawOrders, stagedOrders, table } from '../support/shop-catalog.ts'

const archive = table('mysql', 'legacy.orders_archive')
const removed = table('s3', 'shop-lake/stripe/orders/v0')
const e = encodeURIComponent

t.test('the picture', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  await loadShopCatalog(server)

  const open = async (t: Test, query: string, more: object = {}) => {
    const opened = await openPage(t, browser, {
      url: server.url,
      token: server.token,
      path: `lineage?${query}`,
      width: 1_440,
      height: 900,
      ...more
    })
    const { page } = opened
    await page.locator('[data-node]').first().waitFor()
    const card = (urn: string) => page.locator(`.graph [data-node="${urn}"]`)
    const textsOf = (urn: string): Promise<string[]> => card(urn).locator('.texts text').allTextContents()
    return { ...opened, card, textsOf }
  }

  await t.test(
    'a card has its platform’s mark, what tells its name from others, type and domain',
    async (t) => {
      const { card, textsOf } = await open(t, `urn=${e(rawOrders)}`)
      t.strictSame(await textsOf(rawOrders), ['raw.stripe.', 'orders', 'Dataset'])
      t.equal(await card(rawOrders).locator('.mark path').count(), 1)
      t.match(
        await card(rawOrders).locator('.card').getAttribute('aria-label'),
        /^raw\.stripe\.orders, dataset/
      )
      const whole = await open(t, `urn=${e(orders)}`)
      t.strictSame(await whole.textsOf(orders), [
        'analytics.finance.',
        'orders',
        'Dataset · Finance › Revenue'
      ])
    }
  )

  await t.test('the card of a column names its table and has its platform’s mark', async (t) => {
    const amount = column(orders, 'amount')
    const { card, textsOf } = await open(t, `urn=${e(amount)}`)
    t.strictSame((await textsOf(amount)).slice(0, 2), ['analytics.finance.orders.', 'amount'])
    t.equal(await card(amount).locator('.mark').count(), 1)
  })

  await t.test('what nobody described and what was removed is dashed, and says so in words', async (t) => {
    const { page, card } = await open(t, `urn=${e(rawOrders)}`)
    t.match(await card(archive).textContent(), /not described yet/)
    t.match(await card(archive).locator('.card').getAttribute('aria-label'), /not described yet/)
    const styleOf = (page: Page, selector: string, name: string): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${name}`)
    t.match(await styleOf(page, '[data-absent=placeholder] .frame', 'strokeDasharray'), /5/)
    const gone = await open(t, `urn=${e(removed)}`)
    t.match(await gone.card(removed).textContent(), /removed · Dataset/)
    t.match(await styleOf(gone.page, '[data-absent=removed] .name', 'textDecorationLine'), /line-through/)
  })

  await t.test('Fit keeps names legible, has the start in view, and says how many cards are', async (t) => {
    const { page, card } = await open(t, `urn=${e(orders)}&up=9&down=9`, { width: 1_024 })
    await page.getByRole('button', { name: 'Fit', exact: true }).click()
    t.ok(Number(await page.getByTestId('graph').getAttribute('data-scale')) >= 0.5)
    const box = await card(orders).locator('.name').boundingBox()
    t.ok((box?.height ?? 0) >= 10, 'at least ten pixels')
    t.ok((box?.x ?? 0) > 200 && (box?.x ?? 0) < 1_024)
    t.match(await page.getByTestId('in-view').innerText(), /^\d+ of 32 are in view\.$/)
  })

  await t.test('colours are chosen, stay in the address, and the legend counts every value', async (t) => {
    for (const theme of ['light', 'dark'] as const) {
      const { page } = await open(t, `urn=${e(orders)}&up=9&down=9`, { theme })
      const legend = page.getByTestId('legend')
      await legend.getByRole('combobox').selectOption('platform')
      await page.waitForURL(/colour=platform/)
      const entries = await legend.getByRole('listitem').allInnerTexts()
      t.equal(entries.length, 7, 'more than six')
      t.equal(
        entries.reduce((sum, entry) => sum + Number(/\d+$/.exec(entry.trim())?.[0]), 0),
        32,
        'every card is counted once'
      )
      const dots = await page.evaluate(
        `new Set([...document.querySelectorAll('.legend .dot')].map((each) => getComputedStyle(each).backgroundColor)).size`
      )
      t.equal(dots, 7)
      await legend.getByRole('button', { name: 'Looker' }).focus()
      await until(page, `document.querySelectorAll('.graph [data-lit]').length > 0`)
      t.ok(
        await page.evaluate(
          `[...document.querySelectorAll('.graph [data-node][data-lit]')].every((each) => each.getAttribute('data-node').includes('looker'))`
        ),
        'not by colour alone'
      )
      await legend.getByRole('button', { name: 'Looker' }).blur()
      t.strictSame(await violationsOf(page), [])
    }
  })

  await t.test('no width scrolls sideways', async (t) => {
    for (const width of [1_440, 1_024, 390, 320]) {
      const { page } = await open(t, `urn=${e(stagedOrders)}`, { width })
      t.equal(await isTooWide(page), false, String(width))
    }
  })
})
