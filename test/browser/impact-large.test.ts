/** Fifty thousand rows of the impact table in a browser. */
import t from 'tap'
import { openPage, press, skipWithoutChromium, until, withBrowser } from '../support/browser.ts'
import { doors, urnEdges, urnOfName } from '../support/graph.ts'
import { withServer } from '../support/server.ts'

const rowsCount = 50_000
const edgesPerCall = 5_000

t.test('fifty thousand rows are counted, and only visible ones are drawn', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t)
  const browser = await withBrowser(t)
  const names = Array.from({ length: rowsCount }, (_, index) => `row${index}`)
  for (let begin = 0; begin < rowsCount; begin += edgesPerCall)
    await doors[0]?.write(
      server,
      urnEdges(
        names.slice(begin, begin + edgesPerCall).map((name): [string, string] => ['start', name]),
        'large'
      )
    )
  const { page } = await openPage(t, browser, {
    url: server.url,
    token: server.token,
    path: `asset?urn=${encodeURIComponent(urnOfName('start', 'large'))}&tab=impact`
  })
  const showing = `(document.querySelector('[data-testid=impact-showing]')?.textContent ?? '')`
  // They come page by page, for longer than one wait lasts on a busy machine.
  for (let rows = 2_000; rows <= rowsCount; rows += 2_000)
    await until(page, `Number((/[\\d,]+/.exec(${showing})?.[0] ?? '0').replaceAll(',', '')) >= ${rows}`)
  await until(page, `${showing} === 'Showing all 50,000'`)
  const drawn = (): Promise<number> => page.locator('[data-row]').count()
  t.ok((await drawn()) <= 60, 'at the top')
  await page.locator('[data-row]').first().focus()
  await press(page, 'End')
  await until(page, `document.activeElement?.getAttribute('aria-rowindex') === '${rowsCount + 1}'`)
  t.ok((await drawn()) <= 60, 'at the end')
  const [last] = await page.getByRole('row').last().getByRole('link').all()
  t.ok(await last?.isVisible())
  await press(page, 'Home')
  await until(page, `document.activeElement?.getAttribute('aria-rowindex') === '2'`)
  t.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), String(rowsCount + 1))
})
