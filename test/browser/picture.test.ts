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
    /** What a card says at its own size; a picture that is fitted has only the names, larger. */
    const textsOf = async (urn: string): Promise<string[]> => {
      await card(urn).locator('> .card').focus()
      await page.keyboard.press('0')
      await card(urn).locator('.facts').waitFor()
      return card(urn).locator('.texts text').allTextContents()
    }
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
    const { page, card, textsOf } = await open(t, `urn=${e(rawOrders)}`)
    t.match((await textsOf(archive)).join(' '), /not described yet/)
    t.match(await card(archive).locator('.card').getAttribute('aria-label'), /not described yet/)
    const styleOf = (page: Page, selector: string, name: string): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${name}`)
    t.match(await styleOf(page, '[data-absent=placeholder] .frame', 'strokeDasharray'), /5/)
    const gone = await open(t, `urn=${e(removed)}`)
    t.match((await gone.textsOf(removed)).join(' '), /removed · Dataset/)
    t.match(await styleOf(gone.page, '[data-absent=removed] .name', 'textDecorationLine'), /line-through/)
  })

  await t.test('Fit keeps names legible, has the start in view, and says how many cards are', async (t) => {
    const { page, card } = await open(t, `urn=${e(orders)}&up=9&down=9`, { width: 1_024 })
    await page.getByRole('button', { name: 'Fit', exact: true }).click()
    t.ok(Number(await page.getByTestId('graph').getAttribute('data-scale')) >= 0.45)
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
      await page.keyboard.press('Enter')
      await until(page, `document.activeElement?.parentElement?.dataset.node?.includes('looker') === true`)
      t.strictSame(await violationsOf(page), [])
    }
  })

  await t.test('an edge says who states it and since when, by pointer, click and key', async (t) => {
    const { page, card } = await open(t, `urn=${e(orders)}`)
    const panel = page.getByTestId('edge-panel')
    await page.evaluate(`(() => {
      const path = document.querySelector('[data-edge=${JSON.stringify(`${stagedOrders} -> ${orders}`)}]')
      const at = path.getPointAtLength(path.getTotalLength() / 3).matrixTransform(path.getScreenCTM())
      window.point = { x: at.x, y: at.y }
    })()`)
    const { x, y } = (await page.evaluate('window.point')) as { x: number; y: number }
    await page.mouse.move(x, y)
    await panel.getByText('staging.stripe.stg_orders → analytics.finance.orders').waitFor()
    await panel.getByText('stated by test-admin').waitFor()
    await until(page, `document.querySelectorAll('[data-node][data-lit]').length === 2`)
    await page.mouse.move(x, y + 200)
    await panel.waitFor({ state: 'detached' })
    await page.mouse.click(x, y)
    t.match(await panel.getByRole('link', { name: /^load / }).getAttribute('href'), /loads\?id=/)
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await card(orders).locator('.card').focus()
    await page.keyboard.press('e')
    const count = (await page.evaluate(
      `[...document.querySelectorAll('[data-edge]')].filter((each) => each.dataset.edge.split(' -> ').includes(${JSON.stringify(orders)})).length`
    )) as number
    await panel.getByText(`1 of ${count}`).waitFor()
    t.equal(await panel.getAttribute('role'), 'dialog')
    await panel.getByText('By the job').or(panel.getByText('By upstreamLineage of')).first().waitFor()
    await panel.getByRole('button', { name: 'Next edge' }).click()
    await panel.getByText(`2 of ${count}`).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.keyboard.press('Escape')
    await until(page, `document.activeElement?.parentElement?.dataset.node === ${JSON.stringify(orders)}`)
  })

  await t.test(
    'an edge between columns explains itself, and Find tells cards of one name apart',
    async (t) => {
      const { page } = await open(t, `urn=${e(orders)}&cols=1`)
      await page.evaluate(`(() => {
      const path = document.querySelector('[data-col-edge=${JSON.stringify(`${column(stagedOrders, 'amount')} -> ${column(orders, 'amount')}`)}]')
      path.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: 400, clientY: 400 }))
    })()`)
      const panel = page.getByTestId('edge-panel')
      await panel.getByText('staging.stripe.stg_orders.amount → analytics.finance.orders.amount').waitFor()
      await panel.getByText('stated by test-admin').waitFor()
      await page.getByTestId('find').fill('stg_orders')
      await page.getByRole('option', { name: 'staging.stripe.stg_orders' }).waitFor()
    }
  )

  await t.test('a resting pointer does not point at what a new picture puts under it', async (t) => {
    const { page, card } = await open(t, `urn=${e(orders)}`)
    await card(stagedOrders).hover()
    await until(page, `document.querySelector('[data-dim]') !== null`)
    await page.evaluate(`(() => {
      window.losses = 0
      new MutationObserver(() => { if (!document.querySelector('[data-dim]')) window.losses += 1 })
        .observe(document.querySelector('.graph .world'), { attributes: true })
    })()`)
    await card(orders).locator('.card').focus()
    await page.keyboard.press('c')
    await page.locator('[data-col]').first().waitFor()
    t.equal(await card(stagedOrders).getAttribute('data-lit'), '')
    t.equal(await page.evaluate('window.losses'), 0)
  })

  await t.test('hops go up to all, any number counts, and a bad one is told', async (t) => {
    const { page } = await open(t, `urn=${e(orders)}&up=60`)
    const up = page.getByRole('combobox', { name: 'Hops upstream' })
    t.equal(await up.inputValue(), '60')
    await up.selectOption({ label: '↑ all hops' })
    await page.waitForURL(/up=all/)
    await page.getByRole('combobox', { name: 'Hops downstream' }).selectOption({ label: '↓ all hops' })
    await page.getByTestId('status').getByText('Showing 32 of 32 assets.').waitFor()
    const capped = await open(t, `urn=${e(orders)}&up=all&down=all&max=5`)
    t.match(await capped.page.getByTestId('status').innerText(), /Showing 5 of 32 assets; 27 are hidden\./)
    const bad = await open(t, `urn=${e(orders)}&up=sixty&down=60`)
    t.match(await bad.page.getByTestId('misread').innerText(), /up=sixty\.$/)
  })

  await t.test('the details of a card are beside it, with all that is known of it', async (t) => {
    for (const width of [1_440, 1_024]) {
      const { page, card } = await open(t, `urn=${e(orders)}`, { width })
      await card(orders)
        .locator('.card')
        .click({ position: { x: 60, y: 30 } })
      const drawer = page.getByTestId('drawer')
      for (const text of [
        'Ada Lovelace',
        'Finance data',
        'Personal data',
        'Net revenue',
        'Finance › Revenue'
      ])
        await drawer.getByText(text, { exact: true }).waitFor()
      await drawer.getByText('One row for each paid order').waitFor()
      await drawer.getByText('13 of 13 shown').waitFor()
      const [own, other] = [await drawer.boundingBox(), await card(orders).locator('.frame').boundingBox()]
      t.ok((other?.x ?? 9_999) + (other?.width ?? 0) <= (own?.x ?? 0), 'the card is in sight')
      t.strictSame(await violationsOf(page), [])
    }
  })

  await t.test('the columns on the path of one that are outside the view come by a button', async (t) => {
    const { page } = await open(t, `urn=${e(orders)}&up=0&down=0&cols=1`)
    await page.locator(`[data-col="${column(orders, 'amount')}"] rect`).click()
    await page.getByTestId('column-focus').getByText('13 outside the view').waitFor()
    await page.getByTestId('show-outside').click()
    await page.getByTestId('column-focus').getByText('14 columns in 14 assets').waitFor()
    t.equal(await page.getByTestId('show-outside').count(), 0)
    await page.mouse.move(720, 890)
    await page.getByRole('button', { name: 'Fit', exact: true }).click()
    await until(page, `document.querySelectorAll('[data-col][data-lit]').length > 8`)
    t.ok(Number(await page.getByTestId('graph').getAttribute('data-scale')) >= 0.6)
    await page.locator('.graph [data-lit].row text').getByText('refunds_total').waitFor()
  })

  await t.test(
    'groups have the paths of their domains, and the picture is fitted when one closes',
    async (t) => {
      const { page } = await open(t, `urn=${e(orders)}&up=9&group=domain`)
      const title = page.locator('[data-group="urn:li:domain:revenue"] [data-title]')
      t.match(await title.textContent(), /^Finance › Revenue \(/)
      await title.dispatchEvent('click')
      await page.locator('[data-item="group urn:li:domain:revenue"]').waitFor()
      const box = await page.locator('[data-item="group urn:li:domain:revenue"]').boundingBox()
      t.ok((box?.x ?? 0) > 200 && (box?.y ?? 0) > 100 && (box?.y ?? 9_999) < 860)
      t.ok(Number(await page.getByTestId('graph').getAttribute('data-scale')) >= 0.45)
    }
  )

  await t.test('the choices are one row on a wide screen, and folded away on a phone', async (t) => {
    const { page } = await open(t, `urn=${e(orders)}`)
    t.ok(((await page.getByRole('toolbar').boundingBox())?.height ?? 99) < 60)
    const phone = await open(t, `urn=${e(orders)}`, { width: 390, height: 844 })
    t.equal(await phone.page.getByRole('combobox', { name: 'Hops upstream' }).isVisible(), false)
    await phone.page.getByRole('toolbar').getByText('What is shown').click()
    await phone.page.getByRole('combobox', { name: 'Hops upstream' }).selectOption('2')
    await phone.page.getByTestId('status').getByText('Showing 18 of 32').waitFor()
    t.strictSame(await violationsOf(phone.page), [])
  })

  await t.test('no width scrolls sideways', async (t) => {
    for (const width of [1_440, 1_024, 390, 320]) {
      const { page } = await open(t, `urn=${e(stagedOrders)}&sel=${e(stagedOrders)}`, { width })
      t.equal(await isTooWide(page), false, String(width))
    }
  })
})
