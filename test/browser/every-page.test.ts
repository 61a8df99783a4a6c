/** What holds on every page of a catalog of a shop: nothing is cut, apart or uneven, at every size. */
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openPage, skipWithoutChromium, withBrowser } from '../support/browser.ts'
import { domain } from '../support/large-catalog.ts'
import { withServer } from '../support/server.ts'
import { loadShopCatalog, orders } from '../support/shop-catalog.ts'

type Stage = { browser: Browser; url: string; token: string }

const pathOf = (urn: string, more = ''): string => `asset?urn=${encodeURIComponent(urn)}${more}`
/** A number of each element: `expression` is of `each`. */
const numbersOf = (page: Page, selector: string, expression: string): Promise<number[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => ${expression})`)
const height = 'each.getBoundingClientRect().height'
/** Where the words of an element end. */
const end = `(() => {
  const range = document.createRange()
  range.selectNodeContents(each)
  return Math.round(range.getBoundingClientRect().right)
})()`

t.test('every page', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  await loadShopCatalog(server)
  const stage: Stage = { browser, url: server.url, token: server.token }
  await t.test('what belongs together is of one height, in one line, at one edge', (t) => even(t, stage))
})

async function even(t: Test, { browser, url, token }: Stage): Promise<void> {
  for (const width of [1_440, 1_024, 390]) {
    const { page, goTo } = await openPage(t, browser, { url, token, width })
    await page.locator('.domain-card').first().waitFor()
    t.equal(new Set(await numbersOf(page, '.domain-card', height)).size, 1, `cards of domains at ${width}`)
    await goTo(pathOf(orders))
    await page.getByTestId('last-run').waitFor()
    const [chip = 0] = await numbersOf(page, '[data-testid=last-run] .chip', height)
    t.ok(chip < 30, `the state of the last run is one line at ${width}: ${chip}`)
    await goTo(`domains?urn=${encodeURIComponent(domain('finance'))}`)
    await page.getByRole('heading', { level: 1, name: 'Finance' }).waitFor()
    t.match(await page.getByRole('main').locator('a.person').first().innerText(), /Ada Lovelace/)
    const box = page.getByLabel('Include sub-domains').first()
    const words = page.getByText('Include sub-domains').first()
    if (width > 800) {
      const [left, right] = [await box.boundingBox(), await words.boundingBox()]
      t.ok(left && right && Math.abs(left.y - right.y) < 16, `a box is beside its words at ${width}`)
    }
    await goTo(pathOf(orders, '&tab=columns'))
    await page.locator('.table-row').first().waitFor()
    for (const id of ['upstream', 'downstream']) {
      const [cell] = await numbersOf(page, `.table-row > [data-cell=${id}]`, end)
      const heads = await numbersOf(page, '.table-head > .number', end)
      if (cell !== undefined) t.ok(heads.includes(cell), `${id} ends below its head at ${width}`)
    }
  }
}
