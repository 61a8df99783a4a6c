/** The map of lineage by level in a browser: its numbers are the API's, nothing covers anything, and keys do all. */
import type { Page } from 'playwright-core'
import t from 'tap'
import { isTooWide, openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import { loadShopCatalog } from '../support/shop-catalog.ts'
import { withServer } from '../support/server.ts'

type Rect = { x: number; y: number; width: number; height: number }
type Place = { domain?: string; system?: string; schema?: string }

const finance = 'urn:li:domain:finance'
const system = 'snowflake,PROD'
const inMap = (place: { [name: string]: string }): string => `map?${new URLSearchParams(place).toString()}`
/** The places, each with its address. */
const places: readonly (readonly [string, Place, string])[] = [
  ['the whole catalog', {}, 'map?none=on'],
  ['a domain', { domain: finance }, inMap({ domain: finance })],
  ['what is in no domain', { domain: '' }, inMap({ domain: '-' })],
  ['a system', { domain: '', system }, inMap({ domain: '-', system })],
  [
    'a schema',
    { domain: 'urn:li:domain:revenue', system, schema: 'analytics.finance' },
    inMap({ domain: 'urn:li:domain:revenue', system, schema: 'analytics.finance' })
  ]
]

const ready = (page: Page): Promise<void> => page.locator('.map [data-node]').first().waitFor()
const boxOf = (page: Page, key: string) => page.locator(`.map [data-node="${key}"]`)

/** The rectangles on the screen of what the picture has to say: frames of boxes, and numbers. */
const rectsOf = (page: Page): Promise<Rect[]> =>
  page.evaluate<Rect[]>(
    `[...document.querySelectorAll('.map .frame, .map .map-count rect')].map((each) => each.getBoundingClientRect().toJSON())`
  )

/** An attribute of all elements of a selector. */
const valuesOf = (page: Page, selector: string, name: string): Promise<string[]> =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.getAttribute(${JSON.stringify(name)}))`
  )

/** In the order of their texts. */
const sorted = (texts: readonly string[]): string[] => texts.toSorted((a, b) => (a < b ? -1 : 1))

const cover = (a: Rect, b: Rect): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

t.test('the map on the catalog of a shop', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const { url, token } = server
  const browser = await withBrowser(t)
  await loadShopCatalog(server)
  const read = async (place: Place) => {
    const { body } = await server.graphql(
      `query ($input: LineageMapInput) { lineageMap(input: $input) {
        total boxes { key assetCount } edges { upstreamKey downstreamKey edgeCount } } }`,
      { input: { ...place, count: 40, edgeCount: 80 } }
    )
    return body.data.lineageMap
  }

  for (const [name, place, path] of places)
    t.test(
      `${name} has the boxes and edges of the API, in the picture and as a list, and none covers another`,
      async (t) => {
        const { page } = await openPage(t, browser, { url, token, path, width: 1440, height: 900 })
        await ready(page)
        const map = await read(place)
        const keys: string[] = sorted(map.boxes.map(({ key }: { key: string }) => key))
        t.strictSame(sorted(await valuesOf(page, '.map [data-node]', 'data-node')), keys)
        t.strictSame(sorted(await valuesOf(page, '[data-box]', 'data-box')), keys)
        const counts = await valuesOf(page, '[data-edge]', 'data-count')
        const backs = await valuesOf(page, '[data-edge]', 'data-back')
        const drawn = await valuesOf(page, '[data-edge]', 'data-edge')
        t.strictSame(
          sorted(
            drawn.flatMap((edge, at) => [
              `${edge}: ${counts[at]}`,
              ...(backs[at] === null ? [] : [`${edge.split(' ').toReversed().join(' ')}: ${backs[at]}`])
            ])
          ),
          sorted(
            map.edges.map(
              (edge: { upstreamKey: string; downstreamKey: string; edgeCount: number }) =>
                `${edge.upstreamKey} ${edge.downstreamKey}: ${edge.edgeCount}`
            )
          )
        )
        t.equal(new Set(drawn.map((edge) => edge.split(' ').toSorted().join(' '))).size, drawn.length)
        const rects = await rectsOf(page)
        t.ok(rects.length >= keys.length)
        for (const [index, rect] of rects.entries())
          t.notOk(
            rects.slice(index + 1).some((other) => cover(rect, other)),
            `rectangle ${index}`
          )
      }
    )

  for (const width of [1440, 1024])
    t.test(`no domain is shown by choice, the map fits, and its letters are legible, ${width}`, async (t) => {
      const { page } = await openPage(t, browser, { url, token, path: 'map', width, height: 900 })
      await ready(page)
      t.equal(await boxOf(page, '').count(), 0)
      const canvas = await page.getByTestId('map-picture').boundingBox()
      for (const rect of await rectsOf(page))
        t.ok(canvas && rect.x >= canvas.x && rect.x + rect.width <= canvas.x + canvas.width)
      const sizes = await page.evaluate<number[]>(
        `[...document.querySelectorAll('.map text')].map((each) => parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a)`
      )
      t.ok(Math.min(...sizes) >= 11, String(Math.min(...sizes)))
      await page.getByRole('switch', { name: /^Show what is in no domain/ }).check()
      await boxOf(page, '').waitFor()
      t.equal(
        await page.getByRole('list', { name: 'Levels of the map' }).locator('[aria-current]').innerText(),
        'Domains'
      )
    })

  t.test('keys lead from level to level, the path and the back button lead out again', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'map?none=on', width: 1440, height: 900 })
    await ready(page)
    const title = (name: string): Promise<void> => page.getByRole('heading', { level: 1, name }).waitFor()
    const open = async (key: string, name: string): Promise<void> => {
      await page.getByTestId('map-picture').locator('a').first().waitFor()
      await page.locator('main').focus()
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate(`document.activeElement?.getAttribute('data-node')`)) === key) break
      }
      await page.keyboard.press('Enter')
      await title(name)
      await ready(page)
    }
    await open('', 'No domain')
    await open(system, 'Snowflake')
    await open('raw.stripe', 'raw.stripe')
    t.strictSame(
      await page.getByRole('navigation', { name: 'Place on the map' }).getByRole('link').allInnerTexts(),
      ['Map', 'No domain', 'Snowflake']
    )
    await page.goBack()
    await title('Snowflake')
    await page
      .getByRole('navigation', { name: 'Place on the map' })
      .getByRole('link', { name: 'Map' })
      .click()
    await title('Lineage of the whole catalog')
  })

  t.test('a schema is paged, and an asset opens its lineage', async (t) => {
    const path = inMap({ domain: '-', system, schema: 'raw.stripe' })
    const { page } = await openPage(t, browser, { url, token, path, width: 1440, height: 900 })
    await page.getByText('Showing 1 to 40 of 50').waitFor()
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByText('Showing 41 to 50 of 50').waitFor()
    t.match(page.url(), /start=40/)
    await page.getByRole('link', { name: 'Previous' }).click()
    await page.getByText('Showing 1 to 40 of 50').waitFor()
    await boxOf(page, 'urn:li:dataset:(urn:li:dataPlatform:snowflake,raw.stripe.orders,PROD)').click()
    await page.waitForURL(/\/ui\/lineage\?urn=/)
  })

  t.test('an unknown place says so, with a way back', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: inMap({ domain: '-', system: 'none' }) })
    await page.getByText('No asset is here.').waitFor()
    await page
      .getByRole('navigation', { name: 'Place on the map' })
      .getByRole('link', { name: 'Map' })
      .click()
    await ready(page)
  })

  t.test('a phone has the list, and it leads on', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'map', width: 390, height: 844 })
    const link = page.locator('[data-box]').getByRole('link', { name: 'Finance', exact: true })
    await link.waitFor()
    t.notOk(await page.getByTestId('map-picture').isVisible())
    t.ok(!(await isTooWide(page)), 'nothing is beside the page')
    await link.click()
    await page.getByRole('heading', { level: 1, name: 'Finance' }).waitFor()
    await page.locator('[data-box]').getByRole('link', { name: 'Revenue' }).waitFor()
  })

  t.test('passes axe in both themes', async (t) => {
    for (const theme of ['light', 'dark'] as const) {
      const { page } = await openPage(t, browser, { url, token, path: 'map', theme, reducedMotion: true })
      await ready(page)
      t.strictSame(await violationsOf(page), [], theme)
    }
  })
})
