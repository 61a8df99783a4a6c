/**
 * `npm run bench -- graph-ui`: the lineage graph in headless Chromium with 1,000 assets and 1,500 edges.
 * Measures the time until it is painted in a warm browser, with columns and without, and how smoothly it
 * moves. The same view in React Flow is measured in the same run, so the ratios carry over to other
 * machines.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { catalogClient } from '../../test/support/catalog-client.ts'
import { runCommand } from '../../test/torture/processes.ts'
import { startBenchPostgres } from '../lineage/bench-database.ts'
import { startApi, type ApiProcess } from '../lineage-http/api-process.ts'
import { assetUrn, columnEdgesOf, edgesOfCatalog, schemaOf, sizes } from './catalog.ts'
import { serveReactFlow } from './react-flow-site.ts'

const runsCount = 5
const panSteps = 60
const sliceCount = 500

type Figures = {
  paintMs: number
  /** The part of the paint time until the answer of the API arrived. */
  answerMs: number
  panP95Ms: number
  panLongestMs: number
  elements: number
}

export async function benchGraphUi(): Promise<object> {
  const postgres = await startBenchPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'tributary-graph-ui-'))
  let api: ApiProcess | null = null
  let browser: Browser | null = null
  try {
    const { db, url } = await postgres.newDatabase('graph_ui')
    await db.destroy()
    const created = await runCommand(['token', 'create', '--name', 'bench', '--scopes', 'admin'], {
      DATABASE_URL: url
    })
    const token = /trib_\w+/.exec(created)?.[0] ?? ''
    api = await startApi({ databaseUrl: url, token, folder })
    await fill(api)
    const flow = await serveReactFlow({ folder, api: api.url, token })
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-dev-shm-usage']
    })
    const query = `urn=${encodeURIComponent(assetUrn(0))}&dir=down&down=20&max=2000`
    const places: [string, string][] = [
      ['Tributary', `${api.url}/ui/lineage?${query}`],
      ['React Flow', `${flow.url}/?${query}`],
      ['React Flow, only what is visible', `${flow.url}/?${query}&culled=1`]
    ]
    const results: { [view: string]: { [name: string]: Figures } } = {}
    for (const [view, more] of [
      ['cards', ''],
      ['cards and columns', '&cols=1']
    ] as const) {
      results[view] = {}
      for (const [name, address] of places)
        results[view][name] = await measure(browser, { address: address + more, api: api.url, token })
    }
    await flow.stop()
    print(results)
    return { sizes, load: loadavg(), results }
  } finally {
    await browser?.close()
    await api?.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fill({ url, token }: ApiProcess): Promise<void> {
  const client = catalogClient(url, token)
  const schemas = Array.from({ length: sizes.assets }, (_, index) => schemaOf(index))
  for (let begin = 0; begin < schemas.length; begin += sliceCount) {
    const { status, json } = await client.send('POST', '/aspects?action=ingestProposalBatch', {
      proposals: schemas.slice(begin, begin + sliceCount)
    })
    if (status !== 200) throw new Error(JSON.stringify(json))
  }
  const edges = edgesOfCatalog()
  const toAdd = [
    ...edges.map(([from, to]) => ({ upstreamUrn: assetUrn(from), downstreamUrn: assetUrn(to) })),
    ...columnEdgesOf(edges)
  ]
  for (let begin = 0; begin < toAdd.length; begin += sliceCount) {
    const { json, data } = await client.graphql(
      'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
      { input: { edgesToAdd: toAdd.slice(begin, begin + sliceCount) } }
    )
    if (data === null) throw new Error(JSON.stringify(json))
  }
}

async function measure(
  browser: Browser,
  { address, api, token }: { address: string; api: string; token: string }
): Promise<Figures> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } })
  const signedIn = await context.request.post(`${api}/session`, { data: { token } })
  if (!signedIn.ok()) throw new Error(`not signed in: ${signedIn.status()}`)
  const page = await context.newPage()
  const paints: number[] = []
  const answers: number[] = []
  // The first run fills the caches.
  for (let run = 0; run <= runsCount; run += 1) {
    await page.goto(address)
    const paint = await untilPainted(page)
    const answer = Number(
      await page.evaluate(
        `Math.max(...performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/graphql')).map(({ responseEnd }) => responseEnd))`
      )
    )
    if (run === 0) continue
    paints.push(paint)
    answers.push(answer)
  }
  const elements = Number(await page.evaluate(`document.querySelectorAll('*').length`))
  const frames = await pan(page)
  await context.close()
  return {
    paintMs: Math.round(median(paints)),
    answerMs: Math.round(median(answers)),
    panP95Ms: Math.round(frames[Math.floor(frames.length * 0.95)] ?? NaN),
    panLongestMs: Math.round(frames.at(-1) ?? NaN),
    elements
  }
}

/** Milliseconds from the navigation to the first paint of the graph. */
async function untilPainted(page: Page): Promise<number> {
  const mark = `performance.getEntriesByName('graph:paint')[0]?.startTime ?? null`
  for (let turn = 0; turn < 1_200; turn += 1) {
    const found: unknown = await page.evaluate(mark)
    if (typeof found === 'number') return found
    await page.waitForTimeout(25)
  }
  throw new Error('the graph is not painted within 30 s')
}

/** Milliseconds between frames while the view is dragged, in ascending order. */
async function pan(page: Page): Promise<number[]> {
  await page.evaluate(`(() => {
    window.frames_ = []
    let last = performance.now()
    const next = () => { const now = performance.now(); window.frames_.push(now - last); last = now; requestAnimationFrame(next) }
    requestAnimationFrame(next)
  })()`)
  await page.mouse.move(1_000, 800)
  await page.mouse.down()
  for (let step = 1; step <= panSteps; step += 1) await page.mouse.move(1_000 - step * 12, 800 - step * 4)
  await page.mouse.up()
  const frames = (await page.evaluate('window.frames_')) as number[]
  return frames.sort((a, b) => a - b)
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

function print(results: { [view: string]: { [name: string]: Figures } }): void {
  console.log(
    `${sizes.assets} assets, ${sizes.edges} edges; load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`
  )
  for (const [view, by] of Object.entries(results)) {
    const own = by.Tributary
    for (const [name, figures] of Object.entries(by)) {
      const ratio =
        own && figures !== own ? `, ${(figures.paintMs / own.paintMs).toFixed(1)} times as long` : ''
      console.log(
        `${view}, ${name}: painted after ${figures.paintMs} ms${ratio} (answer after ${figures.answerMs} ms); pan p95 ${figures.panP95Ms} ms, longest ${figures.panLongestMs} ms; ${figures.elements} elements`
      )
    }
  }
}
