/** The whole way from a search to the impact of a column, by keys alone, with the focus in sight at each step. */
import t from 'tap'
import { openPage, press, skipWithoutChromium, until, withBrowser } from '../support/browser.ts'
import { doors, urnEdges, urnOfName } from '../support/graph.ts'
import { write } from '../support/lineage-views.ts'
import { withServer } from '../support/server.ts'

t.test('search, asset, lineage, expand, columns and impact work with the keyboard alone', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t)
  const browser = await withBrowser(t)
  await write(server, 'raw -> staged -> sales -> report', 'keys')
  await doors[0]?.write(
    server,
    urnEdges(
      [
        ['staged#k', 'sales#k'],
        ['sales#k', 'report#k']
      ],
      'keys'
    )
  )
  const { page } = await openPage(t, browser, { url: server.url, token: server.token, width: 1_600 })

  const hidden: string[] = []
  /** Notes a place of the focus that nobody sees: no outline, and for parts of a drawing, no stroke of the focus. */
  const look = async (): Promise<void> => {
    const place: unknown = await page.evaluate(`(() => {
      const at = document.activeElement
      const shape = at.querySelector(':scope > .frame') ?? at
      const isSeen = [at, shape].some((each) => {
        const { outlineStyle, outlineWidth, stroke } = getComputedStyle(each)
        const probe = document.createElement('i')
        probe.style.color = 'var(--focus)'
        document.body.append(probe)
        const focus = getComputedStyle(probe).color
        probe.remove()
        return (outlineStyle !== 'none' && outlineWidth !== '0px') || stroke === focus
      })
      return isSeen && at.matches(':focus-visible') ? null : at.outerHTML.slice(0, 120)
    })()`)
    if (place !== null) hidden.push(String(place))
  }
  const tabTo = async (selector: string): Promise<void> => {
    for (let turn = 0; turn < 100; turn += 1) {
      await press(page, 'Tab')
      await look()
      if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) === true`)) return
    }
    throw new Error(`Tab does not lead to ${selector}`)
  }
  const isShown = (name: string): Promise<void> =>
    page.locator(`.graph [data-node="${urnOfName(name, 'keys')}"]`).waitFor()

  await page.getByRole('heading', { level: 1 }).waitFor()
  await press(page, '/')
  await look()
  await page.keyboard.type('sales')
  await page.getByRole('option', { name: 'sales' }).waitFor()
  await press(page, 'ArrowDown', 'Enter')
  await page.getByRole('heading', { name: 'keys.sales', level: 1 }).waitFor()
  await tabTo('.tabs a[href*="tab=lineage"]')
  await press(page, 'Enter')
  await isShown('report')
  await tabTo('.graph .card')
  await press(page, 'ArrowLeft')
  await until(
    page,
    `document.activeElement?.parentElement?.getAttribute('data-node') === ${JSON.stringify(urnOfName('staged', 'keys'))}`
  )
  await look()
  await press(page, '[')
  await isShown('raw')
  await press(page, 'c')
  await page.locator('.graph [data-col]').first().waitFor()
  await look()
  await press(page, 't')
  await page.getByRole('grid', { name: 'Impact' }).waitFor()
  await tabTo('select[aria-label="Domain"], [role=row]')
  await tabTo('[role=row]')
  await press(page, 'Enter')
  await page.getByRole('heading', { name: 'keys.report', level: 1 }).waitFor()
  t.strictSame(hidden, [], 'places of the focus that are not in sight')
})
