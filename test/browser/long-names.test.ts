/** Long names and low windows in a browser: nothing widens the page, covers something else, or is out of reach. */
import t from 'tap'
import type { Locator, Page } from 'playwright-core'
import { isTooWide, openBarMenu, openPage, skipWithoutChromium, withBrowser } from '../support/browser.ts'
import { withServer, type TestServer } from '../support/server.ts'

const long = 'warehouse_of_the_north.finance_core_and_reporting.snapshot_of_all_payments'
const longDomain = 'Streaming of orders (to be decommissioned by the end of the fiscal year 2027, see wiki)'
const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const [from, to] = [dataset(`${long}_raw`), dataset(`${long}_final`)]
const column = (path: string) => ({ fieldPath: path, nativeDataType: 'bigint', type: { type: {} } })

async function load(server: TestServer, records: readonly object[]): Promise<void> {
  const answer = await server.rest({
    method: 'POST',
    url: '/loads?format=ndjson&wait=25',
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' }
  })
  if (answer.body.state !== 'done' || answer.body.counts.rejected > 0) throw new Error(answer.text)
}

const schema = (urn: string, ...paths: string[]) => ({
  entityType: 'dataset',
  entityUrn: urn,
  changeType: 'UPSERT',
  aspectName: 'schemaMetadata',
  aspect: {
    json: {
      schemaName: 's',
      platform: 'urn:li:dataPlatform:hive',
      version: 0,
      hash: '',
      platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
      fields: paths.map(column)
    }
  }
})

const pageOf = (page: string, urn: string, more = ''): string =>
  `${page}?urn=${encodeURIComponent(urn)}${more}`

/** How far the content of an element is wider than the element, in pixels. */
const hiddenWidth = (page: Page, selector: string): Promise<number> =>
  page.evaluate(
    `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('${selector}'))`
  )

/** The pairs of elements that cover each other. */
async function overlaps(elements: Locator): Promise<string[]> {
  const boxes = await Promise.all(
    (await elements.all()).map(async (each) => ({
      text: await each.innerText(),
      box: await each.boundingBox()
    }))
  )
  return boxes.flatMap(({ text, box: a }, index) =>
    boxes
      .slice(index + 1)
      .filter(
        ({ box: b }) =>
          a &&
          b &&
          a.x < b.x + b.width - 1 &&
          b.x < a.x + a.width - 1 &&
          a.y < b.y + b.height - 1 &&
          b.y < a.y + a.height - 1
      )
      .map((other) => `${text} / ${other.text}`)
  )
}

t.test('long names', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  const { url, token } = server
  await load(server, [
    { op: 'createDomain', id: 'a', name: longDomain },
    { op: 'createDomain', id: 'b', name: `${longDomain}, part two`, parentDomain: 'urn:li:domain:a' },
    ...Array.from({ length: 12 }, (_, index) => ({
      op: 'createDomain',
      id: `other${index}`,
      name: `${longDomain}, other ${index}`
    })),
    { op: 'createDomain', id: 'c', name: `${longDomain}, part three`, parentDomain: 'urn:li:domain:b' },
    schema(from, 'id', `${long}.column`),
    schema(to, 'id', `${long}.column`),
    { upstreamUrn: from, downstreamUrn: to },
    { op: 'setDomain', entityUrn: to, domainUrn: 'urn:li:domain:c' }
  ])

  t.test('no page scrolls sideways', async (t) => {
    for (const path of [
      pageOf('asset', from, '&tab=impact'),
      pageOf('asset', to, '&tab=columns'),
      pageOf('edit-lineage', to),
      pageOf('lineage', to),
      pageOf('domains', 'urn:li:domain:c'),
      'search?q=payments'
    ]) {
      const { page } = await openPage(t, browser, { url, token, path, width: 390, height: 844 })
      await page.getByRole('heading').or(page.getByTestId('as-list')).first().waitFor()
      await page.waitForLoadState('networkidle')
      for (const width of [390, 720, 1024]) {
        await page.setViewportSize({ width, height: 800 })
        t.equal(await isTooWide(page), false, `${path} at ${width} pixels`)
      }
    }
  })

  t.test('no name in the list of a narrow screen is cut off', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('lineage', to),
      width: 390,
      height: 844
    })
    await page.getByTestId('as-list').waitFor()
    t.equal(await hiddenWidth(page, '.as-list'), 0)
  })

  t.test('columns that can be connected do not cover each other', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: pageOf('edit-lineage', to), width: 1024 })
    const columns = page.locator('.mapping').locator('button, h3')
    await columns.nth(5).waitFor()
    t.strictSame(await overlaps(columns), [])
  })

  t.test('domains to choose from do not cover each other', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: pageOf('asset', from) })
    await page.getByRole('button', { name: 'Set domain' }).click()
    const domains = page.getByRole('dialog').locator('.picker-list label > span')
    await domains.nth(2).waitFor()
    t.strictSame(await overlaps(domains), [])
  })

  t.test('the dialog that adds assets shows its left side', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: pageOf('domains', 'urn:li:domain:a') })
    await page.getByRole('button', { name: 'Add assets' }).click()
    await page.getByRole('dialog').locator('[data-row]').first().waitFor()
    t.equal(await hiddenWidth(page, '.dialog'), 0)
  })

  t.test('the names along a shortest path are not cut off', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('lineage', to, `&sel=${encodeURIComponent(from)}`)
    })
    await page.getByTestId('paths').click()
    await page.getByTestId('show-paths').waitFor()
    t.equal(await hiddenWidth(page, '.drawer'), 0)
  })

  t.test('domains of the same name are told apart in the filters of a search', async (t) => {
    const parts = ['EMEA', 'APAC'].flatMap((name) => [
      { op: 'createDomain', id: name, name },
      { op: 'createDomain', id: `${name}-reports`, name: 'Reports', parentDomain: `urn:li:domain:${name}` },
      { op: 'upsertEntity', urn: dataset(`ledger_${name}`) },
      { op: 'setDomain', entityUrn: dataset(`ledger_${name}`), domainUrn: `urn:li:domain:${name}-reports` }
    ])
    await load(server, parts)
    const { page } = await openPage(t, browser, { url, token, path: 'search?q=ledger' })
    await page.getByRole('checkbox', { name: 'EMEA › Reports' }).check()
    await page.getByRole('heading', { name: '1 result' }).waitFor()
    await page.getByRole('link', { name: 'ledger_EMEA' }).waitFor()
    await page.getByRole('link', { name: 'Remove filter EMEA › Reports' }).click()
    await page.getByRole('checkbox', { name: 'APAC › Reports' }).waitFor()
  })

  t.test('every place of the bar can be reached in a low window, as at 200 % zoom', async (t) => {
    const { page } = await openPage(t, browser, { url, token, width: 720, height: 400 })
    const account = await openBarMenu(page, 'Account')
    for (const last of [
      page.getByRole('navigation').getByRole('link').last(),
      account.getByRole('button', { name: 'Sign out everywhere' })
    ]) {
      await last.scrollIntoViewIfNeeded()
      const box = await last.boundingBox()
      t.ok(box && box.y + box.height <= 400)
    }
  })
})
