/** Tables at three widths, on the catalog of a shop: what has no room in a line is below it, and nothing is cut off. */
import t from 'tap'
import { openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import { loadShopCatalog, orders } from '../support/shop-catalog.ts'
import { withServer } from '../support/server.ts'

const ofOrders = (tab: string): string => `asset?urn=${encodeURIComponent(orders)}&tab=${tab}`

t.test('tables', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  const { url, token } = server
  const { rejectedLoad } = await loadShopCatalog(server)
  const places: readonly [string, string][] = [
    ['impact', ofOrders('impact')],
    ['columns', ofOrders('columns')],
    ['provenance', ofOrders('statements')],
    ['a domain', `domains?urn=${encodeURIComponent('urn:li:domain:finance')}`],
    ['loads', 'loads'],
    ['rejects', `loads?id=${rejectedLoad}`],
    ['tokens', 'tokens']
  ]
  /** What the table says, by column, and how much wider its content is than the table. */
  const read = async (path: string, width: number) => {
    const { page } = await openPage(t, browser, { url, token, path, width })
    const grid = page.getByRole('grid')
    await grid.locator('[data-row]').first().waitFor()
    const wide = await page.evaluate(
      "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('[role=grid]'))"
    )
    const cells = await Promise.all(
      (await grid.locator('[data-row]').first().locator('[data-cell]').all()).map(async (cell) => [
        await cell.getAttribute('data-cell'),
        // A number below the others has its head before it.
        (await cell.innerText()).replace(/^[A-Z][\w ]+ (?=\d)/, '').trim()
      ])
    )
    const heads = await grid.getByRole('columnheader').allInnerTexts()
    const problems = width === 390 ? await violationsOf(page) : []
    await page.close()
    return {
      wide,
      cells: Object.fromEntries(cells.filter(([, text]) => text !== '')),
      heads: heads.map((head) => head.trim()).toSorted(),
      problems
    }
  }
  for (const [name, path] of places)
    await t.test(`${name}: every column of the wide table is in the narrow ones`, async (t) => {
      const whole = await read(path, 1_920)
      for (const width of [1_440, 1_024, 390, 320]) {
        const narrow = await read(path, width)
        t.strictSame(narrow, { ...whole, wide: 0 }, `${width} pixels`)
      }
    })
})
