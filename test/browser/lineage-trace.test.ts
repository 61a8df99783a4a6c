/**
 * Real metadata of Tableau and dbt: someone who begins at a dashboard reaches its source columns, with mouse
 * clicks only and with keys only.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { packageRoot } from '../../shared/platform/paths.ts'
import { openPage, press, skipWithoutChromium, until, withBrowser } from '../support/browser.ts'
import { withServer } from '../support/server.ts'
import { skipUnless } from '../support/skip.ts'

const dashboard = 'urn:li:dashboard:(tableau,20e44c22-1ccd-301a-220c-7b6837d09a52)'
const chart = 'urn:li:chart:(tableau,8a6a269a-d6de-fae4-5050-513255b40ffc)'
const column = `urn:li:schemaField:(${chart},Custom SQL Query)`
const dataset = 'urn:li:dataset:(urn:li:dataPlatform:tableau,4644ccb1-2adc-cf26-c654-04ed1dcc7090,PROD)'

t.test('real metadata', async (t) => {
  if (skipWithoutChromium(t)) return
  const folder = process.env.TRIBUTARY_TEST_DATA ?? join(packageRoot, '..', 'shared', 'data')
  if (skipUnless(t, existsSync(join(folder, 'mcp')), 'no folder of real data: set TRIBUTARY_TEST_DATA'))
    return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  for (const [file, query] of [
    ['mcp/tableau.json', '&missingReferences=create'],
    ['dbt/small/manifest.json', ''],
    ['dbt/postgres/manifest.json', '']
  ] as const) {
    const { body: load } = await server.rest({
      method: 'POST',
      url: `/loads?wait=20${query}`,
      body: readFileSync(join(folder, file), 'utf8')
    })
    let report = load
    while (['queued', 'running', 'receiving'].includes(report.state))
      report = (await server.rest({ url: `/loads/${load.id}?wait=20` })).body
    t.match(report, { state: 'done', counts: { rejected: 0 } }, file)
  }

  const shown = `[...document.querySelectorAll('.graph [data-node]')].map((each) => each.getAttribute('data-node'))`
  const isShown = (page: Page, urn: string): Promise<void> =>
    until(page, `${shown}.includes(${JSON.stringify(urn)})`)
  /** The column of the chart, and every column that is upstream or downstream of it according to the API. */
  const path = async (): Promise<string[]> => {
    const { body } = await server.graphql(
      'query ($input: LineageGraphInput!) { lineageGraph(input: $input) { nodes { entity { urn } } } }',
      { input: { urn: column, upHops: 20, downHops: 20 } }
    )
    const found: string[] = body.data.lineageGraph.nodes.map(
      ({ entity }: { entity: { urn: string } }) => entity.urn
    )
    return found.sort()
  }
  const litIsThePath = async (t: Test, page: Page): Promise<void> => {
    const expected = await path()
    t.ok(expected.length > 1, 'the column of the chart comes from another')
    t.ok(expected.some((urn) => urn.startsWith(`urn:li:schemaField:(${dataset},`)))
    await until(
      page,
      `JSON.stringify([...document.querySelectorAll('[data-col][data-lit]')].map((each) => each.getAttribute('data-col')).sort()) === ${JSON.stringify(JSON.stringify(expected))}`
    )
  }
  const open = async (t: Test): Promise<Page> => {
    const { page } = await openPage(t, browser, {
      url: server.url,
      token: server.token,
      path: `asset?urn=${encodeURIComponent(dashboard)}`,
      width: 1_900,
      height: 1_000
    })
    return page
  }

  await t.test('a dashboard is traced to its columns by clicks alone', async (t) => {
    const page = await open(t)
    await page.getByRole('link', { name: 'Lineage', exact: true }).click()
    await isShown(page, chart)
    await page.locator(`[data-of="${chart}"][data-pill=UPSTREAM]`).click()
    await isShown(page, dataset)
    await page.getByTestId('columns').click()
    await page.locator(`.graph [data-col="${column}"]`).click()
    await page.mouse.move(5, 5)
    await litIsThePath(t, page)
    await page.locator(`.graph [data-node="${dataset}"] > .card`).click({ position: { x: 60, y: 14 } })
    await page.getByTestId('drawer').getByRole('link', { name: 'Open', exact: true }).click()
    await page.waitForURL((url) => url.pathname.endsWith('/ui/asset') && !url.search.includes('tab='))
  })

  await t.test('and by keys alone', async (t) => {
    const page = await open(t)
    await page.getByRole('link', { name: 'Lineage', exact: true }).waitFor()
    /** Presses Tab until the wanted element has the focus. */
    const tabTo = async (selector: string): Promise<void> => {
      for (let turn = 0; turn < 100; turn += 1) {
        await press(page, 'Tab')
        if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) === true`))
          return
      }
      throw new Error(`Tab does not lead to ${selector}`)
    }
    const focusIsOn = (urn: string): Promise<void> =>
      until(
        page,
        `document.activeElement?.parentElement?.getAttribute('data-node') === ${JSON.stringify(urn)}`
      )
    await tabTo('a[href*="tab=lineage"]')
    await press(page, 'Enter')
    await isShown(page, chart)
    await tabTo('.graph .card')
    await focusIsOn(dashboard)
    await press(page, 'ArrowLeft')
    await focusIsOn(chart)
    await press(page, '[')
    await isShown(page, dataset)
    await press(page, 'c')
    await page.locator('.graph [data-col]').first().waitFor()
    await press(page, 'Enter')
    await page.getByTestId('drawer-columns').locator('button').first().waitFor()
    await tabTo('[data-testid=drawer-columns] button')
    await press(page, 'Space')
    await litIsThePath(t, page)
    await press(page, 'Escape')
    await focusIsOn(chart)
    await press(page, 'ArrowLeft')
    await focusIsOn(dataset)
    await press(page, 'Escape')
    await page.getByTestId('column-focus').waitFor({ state: 'detached' })
  })

  await t.test('models of dbt lead to their upstream tables', async (t) => {
    const model = 'urn:li:dataset:(urn:li:dataPlatform:postgres,postgres.public.customers,PROD)'
    const { page } = await openPage(t, browser, {
      url: server.url,
      token: server.token,
      path: `lineage?urn=${encodeURIComponent(model)}&up=9&down=9`,
      width: 1_900
    })
    await page.getByTestId('status').waitFor()
    const { body } = await server.graphql(
      'query ($input: LineageGraphInput!) { lineageGraph(input: $input) { nodes { entity { urn } } } }',
      { input: { urn: model, upHops: 9, downHops: 9 } }
    )
    const expected: string[] = body.data.lineageGraph.nodes.map(
      ({ entity }: { entity: { urn: string } }) => entity.urn
    )
    t.ok(expected.length > 3)
    await page.getByRole('button', { name: 'Fit' }).click()
    await until(
      page,
      `JSON.stringify(${shown}.sort()) === ${JSON.stringify(JSON.stringify(expected.sort()))}`
    )
  })
})
