/** What holds on every page of a catalog of a shop: nothing is cut, apart or uneven, at every size. */
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { isTooWide, openPage, skipWithoutChromium, withBrowser } from '../support/browser.ts'
import { column, domain } from '../support/large-catalog.ts'
import { withServer } from '../support/server.ts'
import { loadShopCatalog, orders } from '../support/shop-catalog.ts'

type Stage = { browser: Browser; url: string; token: string }

const pathOf = (urn: string, more = ''): string => `asset?urn=${encodeURIComponent(urn)}${more}`
const pagesOf = (load: string): readonly string[] => [
  '',
  'search?q=orders',
  'search?q=nowhere',
  pathOf(orders),
  ...['columns', 'lineage', 'impact', 'statements', 'raw'].map((tab) => pathOf(orders, `&tab=${tab}`)),
  pathOf(column(orders, 'amount')),
  ...[
    'dataProduct:orders',
    'tag:pii',
    'glossaryTerm:Net_revenue',
    'corpuser:ada',
    'corpGroup:finance-data'
  ].map((id) => pathOf(`urn:li:${id}`)),
  pathOf('urn:li:dataset:(urn:li:dataPlatform:hive,nothing,PROD)'),
  `lineage?urn=${encodeURIComponent(orders)}`,
  `edit-lineage?urn=${encodeURIComponent(orders)}`,
  'domains',
  `domains?urn=${encodeURIComponent(domain('finance'))}`,
  'map',
  'map?domain=none',
  'loads',
  `loads?id=${load}`,
  'tokens',
  'sql',
  'explorer',
  'reference',
  'nothing'
]

/** Pairs of links, buttons, fields and heads of which one lies over the other, though none is in the other. */
const overlaps = `(() => {
  const shown = (each) => {
    let { left, right, top, bottom } = each.getBoundingClientRect()
    // What its scrollers and frames cut off is not seen.
    for (let up = each.parentElement; up; up = up.parentElement) {
      if (getComputedStyle(up).overflow === 'visible') continue
      const frame = up.getBoundingClientRect()
      left = Math.max(left, frame.left)
      right = Math.min(right, frame.right)
      top = Math.max(top, frame.top)
      bottom = Math.min(bottom, frame.bottom)
    }
    return { each, left, right, top, bottom }
  }
  const all = [...document.querySelectorAll('main :is(a, button, input, select, summary, h1, h2, h3)')]
    .filter((each) => each.checkVisibility() && !each.closest('svg, .explorer, .save-bar, .over, .visually-hidden'))
    .map(shown)
    .filter(({ left, right, top, bottom }) => right - left > 1 && bottom - top > 1)
  const texts = []
  for (const [place, one] of all.entries())
    for (const other of all.slice(place + 1)) {
      if (one.each.contains(other.each) || other.each.contains(one.each)) continue
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
      if (width > 2 && height > 2) texts.push(one.each.outerHTML.slice(0, 120) + ' and ' + other.each.outerHTML.slice(0, 120))
    }
  return texts.slice(0, 5)
})()`

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
  const { rejectedLoad } = await loadShopCatalog(server)
  const stage: Stage = { browser, url: server.url, token: server.token }
  await t.test('what belongs together is of one height, in one line, at one edge', (t) => even(t, stage))
  for (const [size, options] of [
    ['at 400 % zoom', { width: 320, height: 640 }],
    ['with letters of twice the size', { width: 1_280, letters: 32 }],
    ['on a phone with letters of twice the size', { width: 390, letters: 32 }]
  ] as const)
    await t.test(`nothing is beyond the edge or over another ${size}`, (t) =>
      usable(t, stage, pagesOf(rejectedLoad), options)
    )
  await t.test('a first page has at most 150 kB of script', (t) => light(t, stage, pagesOf(rejectedLoad)))
  await t.test('the reference and the explorer keep the places and the search', (t) => places(t, stage))
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

async function usable(
  t: Test,
  { browser, url, token }: Stage,
  paths: readonly string[],
  { letters, ...size }: { width: number; height?: number; letters?: number }
): Promise<void> {
  const { page, context, goTo, complaints } = await openPage(t, browser, {
    url,
    token,
    ...size,
    reducedMotion: true
  })
  // The setting of the browser for larger letters.
  if (letters)
    await (await context.newCDPSession(page)).send('Page.setFontSizes', { fontSizes: { standard: letters } })
  for (const path of paths) {
    await goTo(path)
    await page.locator('main :is(h1, h2):visible').first().waitFor()
    await page.waitForLoadState('networkidle')
    t.equal(await isTooWide(page), false, `${path} is not too wide`)
    t.strictSame(await page.evaluate(overlaps), [], `nothing overlaps: ${path}`)
  }
  // An address that is no page is answered so.
  const unknown = complaints.findIndex((text) => text.includes('404'))
  if (unknown >= 0) complaints.splice(unknown, 1)
}

async function places(t: Test, { browser, url, token }: Stage): Promise<void> {
  const { page } = await openPage(t, browser, { url, token })
  for (const [name, head] of [
    ['REST', 'REST reference'],
    ['GraphQL', 'GraphQL explorer']
  ] as const) {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1, name: head }).waitFor()
    t.equal(await page.locator('.rail [aria-current=page]').innerText(), name)
    t.equal(await page.title(), `${name} · Tributary`)
  }
  await page.locator('.graphiql-query-editor').filter({ hasText: 'searchAcrossEntities' }).waitFor()
  await page.getByRole('combobox', { name: 'Search' }).first().fill('orders')
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Home' }).click()
  await page.locator('.domain-card').first().waitFor()
  await page.goBack()
}

/** The most that the script of a first page may weigh on the wire, in bytes. */
const scriptMaxBytes = 150_000

async function light(t: Test, { browser, url, token }: Stage, paths: readonly string[]): Promise<void> {
  const { page, context, goTo, complaints } = await openPage(t, browser, { url, token })
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  // The explorer is an editor. Descriptions are drawn after what they describe.
  for (const path of paths.filter((each) => each !== 'explorer')) {
    await goTo(path)
    await page.locator('main :is(h1, h2):visible').first().waitFor()
    await page.waitForLoadState('networkidle')
    const bytes = await page.evaluate<number>(
      `performance.getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('.js') && !/draw-markdown|punycode/.test(name))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`
    )
    t.ok(bytes > 20_000 && bytes < scriptMaxBytes, `${path}: ${bytes}`)
  }
  complaints.length = 0
}
