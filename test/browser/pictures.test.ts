/**
 * The pictures and the recording of the documentation, taken from the pages as they are. To take them again:
 * WRITE_PICTURES=1 npm test -- test/browser/pictures.test.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { animatedPng } from '../support/animated-png.ts'
import { openPage, skipWithoutChromium, withBrowser, type Theme } from '../support/browser.ts'
import { loadShopCatalog, orders } from '../support/shop-catalog.ts'
import { withServer } from '../support/server.ts'

const size = { width: 1440, height: 900 }
/** A page of one colour is far smaller. */
const leastBytes = 15_000
const signature = '89504e470d0a1a0a'
const recordingMaxBytes = 2_000_000
/** How long a step of the recording is shown, in milliseconds. */
const [keyMillis, lookMillis, readMillis] = [140, 900, 2_200]

t.test('the pictures of the documentation', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  const { rejectedLoad } = await loadShopCatalog(server)
  // A person who owns something, with a name that a reader may have met.
  const token = await server.tokenWith(['admin'], { actorUrn: 'urn:li:corpuser:ada' })
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
    ['load', `loads?id=${rejectedLoad}`, '#changed'],
    ['sql', 'sql', '.sql-column']
  ]
  for (const theme of ['light', 'dark'] as const satisfies readonly Theme[]) {
    const { page, goTo } = await openPage(t, browser, {
      url: server.url,
      token,
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

  await t.test(
    'the recording searches, opens the picture, follows a column, and lists the impact',
    async (t) => {
      const { page } = await openPage(t, browser, {
        url: server.url,
        token,
        reducedMotion: true,
        width: 1000,
        height: 640
      })
      const frames: { png: Buffer; millis: number }[] = []
      const show = async (millis: number): Promise<void> => {
        frames.push({ png: await page.screenshot(), millis })
      }
      const field = page.getByRole('combobox').first()
      await page.locator('#connected ~ ul li').first().waitFor()
      await show(lookMillis)
      await field.focus()
      for (const letter of 'orders') {
        await page.keyboard.type(letter)
        await show(keyMillis)
      }
      await page.getByRole('option').first().waitFor()
      await show(lookMillis)
      await page.keyboard.press('Enter')
      await page.locator('main .prose, main .card-line').first().waitFor()
      await page.waitForLoadState('networkidle')
      await show(readMillis)
      await page.goto(`${server.url}/ui/lineage?urn=${urn}&cols=1`)
      await page.locator('.graph [data-col-edge]').first().waitFor()
      await show(lookMillis)
      await page.locator(`[data-col="urn:li:schemaField:(${orders},amount)"]`).first().click()
      await page.getByText('Focused on').first().waitFor()
      await show(readMillis)
      await page.goto(`${server.url}/ui/asset?urn=${urn}&tab=impact&col=amount`)
      await page.locator('[role=row] a').first().waitFor()
      await show(readMillis)
      const recording = animatedPng(frames)
      const file = packagePath('docs/images/tour.png')
      if (process.env.WRITE_PICTURES === '1') writeFileSync(file, recording)
      for (const bytes of [recording, readFileSync(file)]) {
        t.ok(bytes.length < recordingMaxBytes, `${bytes.length} bytes`)
        const decoded = await page.evaluate(
          `(async () => {
          const data = Uint8Array.from(atob('${bytes.toString('base64')}'), (letter) => letter.charCodeAt(0))
          const decoder = new ImageDecoder({ type: 'image/png', data })
          await decoder.tracks.ready
          const last = decoder.tracks.selectedTrack.frameCount - 1
          const { image } = await decoder.decode({ frameIndex: last })
          return [last + 1, image.displayWidth, image.displayHeight, image.duration]
        })()`
        )
        t.strictSame(decoded, [frames.length, 1000, 640, readMillis * 1_000])
      }
    }
  )
})
