/** The pictures of the documentation, taken from the pages as they are. To take them again: WRITE_PICTURES=1 npm test -- test/browser/pictures.test.ts */
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { openPage, skipWithoutChromium, withBrowser, type Theme } from '../support/browser.ts'
import { loadShopCatalog, orders } from '../support/shop-catalog.ts'
import { withServer } from '../support/server.ts'

const size = { width: 1280, height: 800 }
/** A page of one colour is far smaller. */
const leastBytes = 15_000
const signature = '89504e470d0a1a0a'

t.test('the pictures of the documentation', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  const { rejectedLoad } = await loadShopCatalog(server)
  const urn = encodeURIComponent(orders)
  const domain = encodeURIComponent('urn:li:domain:finance')
  /** Each page, and what is there once it is whole. */
  const pages: readonly (readonly [string, string, string])[] = [
    ['home', '', '#connected ~ ul li'],
    ['search', 'search?q=orders', 'main .card-line'],
    ['asset', `asset?urn=${urn}`, 'main .prose, main .markdown'],
    ['columns', `lineage?urn=${urn}&cols=1`, '.graph [data-col-edge]'],
    ['lineage', `lineage?urn=${urn}`, '.graph [data-node]'],
    ['impact', `asset?urn=${urn}&tab=impact`, '[role=row] a'],
    ['domains', `domains?urn=${domain}`, '[role=row] a'],
    ['load', `loads?id=${rejectedLoad}`, '#changed']
  ]
  for (const theme of ['light', 'dark'] as const satisfies readonly Theme[]) {
    const { page, goTo } = await openPage(t, browser, {
      url: server.url,
      token: server.token,
      theme,
      reducedMotion: true,
      ...size
    })
    for (const [name, path, whole] of pages) {
      await goTo(path)
      await page.locator(whole).first().waitFor()
      await page.waitForLoadState('networkidle')
      const picture = await page.screenshot()
      const file = packagePath(`docs/images/${name}-${theme}.png`)
      if (process.env.WRITE_PICTURES === '1') writeFileSync(file, picture)
      const kept = readFileSync(file)
      for (const [which, bytes] of [
        ['taken', picture],
        ['kept', kept]
      ] as const) {
        t.equal(bytes.toString('hex', 0, 8), signature, `${name}, ${theme}, ${which}`)
        t.strictSame([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [size.width, size.height])
        t.ok(bytes.length > leastBytes, `${bytes.length} bytes`)
      }
    }
  }
})
