/** The page that reads SQL: what a person pastes becomes a picture, rows, and problems with their lines. */
import t from 'tap'
import { dialectNames } from '../../shared/sql/dialects.ts'
import { openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import { withServer } from '../support/server.ts'
import { loadShopCatalog } from '../support/shop-catalog.ts'

t.setTimeout(300_000)

t.test('a statement that is pasted becomes a picture and rows', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  await loadShopCatalog(server)
  const { url, token } = server
  const { page } = await openPage(t, await withBrowser(t), { url, token, path: 'sql' })
  await page.getByRole('heading', { name: /create view, line 1/i }).waitFor()
  t.match(
    await page.getByTestId('statement').innerText(),
    /revenue\s+orders\.amount/,
    'the example is read at once'
  )
  t.equal(await page.locator('.sql-sheet path.aggregation').count(), 1)
  t.strictSame(await violationsOf(page), [])

  const offered = await page.getByLabel('Dialect').locator('option').allInnerTexts()
  t.strictSame(offered.sort(), [...dialectNames].sort(), 'the dialects are those of the reader')
  await page.getByLabel('Dialect').selectOption('snowflake')
  await page.getByLabel('Database').fill('analytics')
  await page.getByLabel('Schema').fill('finance')
  await page
    .getByLabel('SQL', { exact: true })
    .fill('create table copy as select * from orders;\nselect from where')
  await page.getByRole('button', { name: 'Read it' }).click()
  await page.getByRole('heading', { name: /not read, line 2/i }).waitFor()
  const [first = '', second = ''] = await page.getByTestId('statement').allInnerTexts()
  t.match(first, /ORDER_ID\s+ANALYTICS\.FINANCE\.ORDERS\.ORDER_ID/, 'the catalog expands the star')
  t.match(second, /Line 2:/)
  t.equal(await page.getByRole('link', { name: 'ORDERS', exact: true }).count(), 1, 'a known table is a link')
  t.strictSame(await violationsOf(page), [])
  if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT, fullPage: true })
})
