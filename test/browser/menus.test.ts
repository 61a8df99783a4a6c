/** The menus of the pages in a browser: pressing the text of an entry, or between entries, is a choice like any other. */
import type { Locator } from 'playwright-core'
import t from 'tap'
import { openPage, press, skipWithoutChromium, withBrowser } from '../support/browser.ts'
import { assetsCount, loadLargeCatalog, start } from '../support/large-catalog.ts'
import { withServer } from '../support/server.ts'

t.test('menus on a catalog of 4,000 assets', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const { url, token } = server
  const browser = await withBrowser(t)
  await loadLargeCatalog(server)
  const { body } = await server.graphql(
    '{ searchAcrossEntities(input: { query: "*", types: [DATASET, CHART, DASHBOARD], count: 0 }) { total } }'
  )
  t.equal(body.data.searchAcrossEntities.total, assetsCount)
  const impact = `asset?urn=${encodeURIComponent(start)}&tab=impact`
  const { body: counted } = await server.graphql(
    `query ($urn: String!) { lineageCounts(input: { urn: $urn }) {
      total types { type count } platforms { platform { urn name } count } } }`,
    { urn: start }
  )
  const { total, types, platforms } = counted.data.lineageCounts

  t.test('each text in the menus of type and platform of Impact filters, and the menu stays', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: impact })
    const showing = page.getByTestId('impact-showing')
    const shows = (count: number): Promise<void> => showing.filter({ hasText: `all ${count}` }).waitFor()
    await shows(total)
    const press = async (menu: string, name: RegExp, count: number): Promise<void> => {
      const list = page.getByRole('group', { name: menu, exact: true })
      if (!(await list.isVisible())) await page.locator('summary', { hasText: menu }).click()
      const text = list.locator('label > span').filter({ hasText: name })
      t.match(await text.innerText(), `(${count})`)
      await clickSlowly(text)
      await shows(count)
      t.ok(await list.isVisible(), 'the menu stays open')
      await clickSlowly(text)
      await shows(total)
    }
    const typeNames: { [type: string]: RegExp } = {
      DATASET: /^Dataset/,
      CHART: /^Chart/,
      DASHBOARD: /^Dashb/
    }
    for (const { type, count } of types) await press('Type', typeNames[type] ?? /^$/, count)
    await page.keyboard.press('Escape')
    for (const { platform, count } of platforms)
      await press('Platform', new RegExp(`^${platform.name} \\(`, 'i'), count)
  })

  t.test('a menu closes on Escape, by Tab, and when something else is pressed', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: impact })
    const list = page.getByRole('group', { name: 'Platform', exact: true })
    const summary = page.locator('summary', { hasText: 'Platform' })
    await summary.click()
    await list.waitFor()
    // Between the entries.
    await clickSlowly(list, { x: 4, y: 4 })
    t.ok(await list.isVisible())
    await summary.focus()
    await press(page, 'Escape')
    await list.waitFor({ state: 'hidden' })
    await summary.click()
    await list.getByRole('checkbox').last().focus()
    await press(page, 'Tab')
    await list.waitFor({ state: 'hidden' })
    await summary.click()
    await page.getByRole('heading', { level: 1 }).click()
    await list.waitFor({ state: 'hidden' })
  })

  t.test('the menu of exports is drawn over the picture, and closes like the others', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: `lineage?urn=${encodeURIComponent(start)}`
    })
    const list = page.getByRole('group', { name: 'Export', exact: true })
    const summary = page.locator('summary', { hasText: 'Export' })
    await summary.click()
    await list.waitFor()
    t.equal(
      await page.evaluate("getComputedStyle(document.querySelector('.choice-list')).position"),
      'absolute'
    )
    await clickSlowly(list, { x: 4, y: 4 })
    t.ok(await list.isVisible())
    await page.getByTestId('status').click()
    await list.waitFor({ state: 'hidden' })
    await summary.click()
    const downloading = page.waitForEvent('download')
    await page.getByTestId('export-csv').click()
    await downloading
    await list.waitFor({ state: 'hidden' })
  })

  t.test(
    'a press between the options of a search leaves them there, and one on an option opens it',
    async (t) => {
      const { page } = await openPage(t, browser, { url, token })
      await page.getByRole('combobox').fill('reader1')
      const list = page.getByRole('listbox')
      await list.waitFor()
      await clickSlowly(list, { x: 2, y: 2 })
      t.ok(await list.isVisible())
      await list.getByRole('option').first().click()
      await page.getByRole('heading', { level: 1, name: /^reader1/ }).waitFor()
    }
  )
})

/** A press and a release with time between them for what the press has caused, as a hand makes them. */
async function clickSlowly(target: Locator, position?: { x: number; y: number }): Promise<void> {
  await target.click({ delay: 100, ...(position ? { position } : {}) })
}
