/**
 * Every number on a lineage page equals the API's: graph, line of counts, CSV, impact table and asset page,
 * on random graphs.
 */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { openPage, skipWithoutChromium, until, withBrowser } from '../support/browser.ts'
import { fc } from '../support/fast-check.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { write } from '../support/lineage-views.ts'
import { withServer } from '../support/server.ts'

/** Each takes a minute on a busy machine. */
const cases = 5

const names = ['a', 'b', 'c', 'job:d', 'e', 'job:f', 'chart:g', 'h']
const isDataset = (index: number): boolean => names[index]?.includes(':') === false
/** The pairs of types that can have an edge: between datasets, from and to jobs, and to charts. */
const isLineage = (from: number, to: number): boolean =>
  from !== to && (isDataset(from) || (names[from]?.startsWith('job:') === true && isDataset(to)))

/** Edges between any two, so that there are cycles, diamonds and disconnected parts. */
const anyGraph = fc.record({
  edges: fc.uniqueArray(fc.tuple(fc.nat(names.length - 1), fc.nat(names.length - 1)), {
    minLength: 4,
    maxLength: 14,
    selector: ([from, to]) => `${from} ${to}`
  }),
  columns: fc.uniqueArray(fc.tuple(fc.constantFrom(0, 1, 2), fc.constantFrom(0, 1, 2)), {
    maxLength: 5,
    selector: ([from, to]) => `${from} ${to}`
  }),
  hidesJobs: fc.boolean(),
  up: fc.nat(3),
  down: fc.nat(3)
})

const graphQuery = `query ($input: LineageGraphInput!) { lineageGraph(input: $input) {
  nodes { entity { urn } side degree upstreamCount downstreamCount hiddenUpstream hiddenDownstream }
  edges { upstreamUrn downstreamUrn level }
  totals { upstream downstream both columnEdges } complete
} }`
const countsQuery = `query ($input: LineageCountsInput!) { lineageCounts(input: $input) { total complete exactDegrees { degree count } } }`
const scrollQuery = `query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { total searchResults { degree entity { urn } } } }`

type Node = {
  entity: { urn: string }
  side: string
  degree: number | null
  upstreamCount: number
  downstreamCount: number
  hiddenUpstream: number
  hiddenDownstream: number
}
type Edge = { upstreamUrn: string; downstreamUrn: string; level: string }

t.test('numbers of the lineage pages', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t)
  const browser = await withBrowser(t)
  const { page } = await openPage(t, browser, {
    url: server.url,
    token: server.token,
    width: 2_400,
    height: 1_400
  })
  const ask = async (query: string, input: JsonObject) => {
    const { body } = await server.graphql(query, { input })
    if (body.errors) throw new Error(JSON.stringify(body.errors))
    return Object.values(body.data)[0] as ReturnType<typeof JSON.parse>
  }
  /** Waits until the page shows what is expected; otherwise reports what it shows. */
  const shows = async (of: Page, expression: string, expected: unknown): Promise<void> => {
    const text = JSON.stringify(expected)
    await until(of, `JSON.stringify(${expression}) === ${JSON.stringify(text)}`).catch(async () => {
      throw new Error(
        `${expression}\nshows    ${JSON.stringify(await of.evaluate(expression))}\nexpected ${text}`
      )
    })
  }
  const saved = async (press: () => Promise<void>): Promise<string[][]> => {
    const downloading = page.waitForEvent('download')
    await press()
    // Names in these graphs never need quotes, but URNs contain commas.
    return readFileSync(await (await downloading).path(), 'utf8')
      .replace('\ufeff', '')
      .trim()
      .split(/\r?\n/)
      .map((line) =>
        [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
      )
  }
  const columnOf = ([head = [], ...rows]: string[][], name: string): string[] =>
    rows.map((row) => row[head.indexOf(name)] ?? '')

  let namespaces = 0
  await fc.assert(
    fc.asyncProperty(anyGraph, async ({ edges, columns, hidesJobs, up, down }) => {
      namespaces += 1
      const namespace = `numbers${namespaces}`
      const text = [
        'a -> b',
        ...edges.flatMap(([from, to]) => (isLineage(from, to) ? [`${names[from]} -> ${names[to]}`] : [])),
        ...columns.flatMap(([from, to]) => (from === to ? [] : [`${names[from]}#k -> ${names[to]}#k`]))
      ].join('; ')
      const { urn } = await write(server, text, namespace)
      const start = urn('a')
      const input = { urn: start, upHops: up, downHops: down, hideJobs: hidesJobs, columns: true }
      const { nodes, edges: found, totals, complete } = await ask(graphQuery, input)
      const [all, shown]: [Node[], Edge[]] = [nodes, found]

      await page.goto(
        `${server.url}/ui/lineage?urn=${encodeURIComponent(start)}&up=${up}&down=${down}&cols=1${hidesJobs ? '&jobs=0' : ''}`
      )
      await page.getByTestId('column-status').waitFor()
      await page.getByRole('button', { name: 'Fit' }).click()
      const attributes = (selector: string, ...names: string[]): string =>
        `[...document.querySelectorAll('${selector}')].map((each) => ${JSON.stringify(names)}.map((name) => each.getAttribute(name)).join(' ')).sort()`
      await shows(
        page,
        attributes('.graph [data-node]', 'data-node', 'data-degree', 'data-side'),
        all.map(({ entity, degree, side }) => [entity.urn, degree ?? '', side].join(' ')).sort()
      )
      const ids = (level: string): string[] => [
        ...new Set(
          shown
            .filter((each) => each.level === level)
            .map(({ upstreamUrn, downstreamUrn }) => `${upstreamUrn} -> ${downstreamUrn}`)
        )
      ]
      const assetEdges = ids('ASSET').filter((id) => {
        const [from, to] = id.split(' -> ')
        return from !== to
      })
      await shows(page, attributes('[data-edge]:not([data-kind=stack])', 'data-edge'), assetEdges.sort())
      await shows(page, attributes('[data-col-edge]', 'data-col-edge'), ids('COLUMN').sort())
      const aside = all.filter(({ side }) => side === 'ASIDE').length
      const total = totals.upstream + totals.downstream - totals.both + 1
      const hidden = total - (all.length - aside)
      await shows(
        page,
        `document.querySelector('[data-testid=status]').textContent.split('.')[0]`,
        `Showing ${all.length - aside} of ${complete ? '' : 'at least '}${total} ${total === 1 ? 'asset' : 'assets'}${hidden > 0 ? `; ${hidden} are hidden` : ''}`
      )
      await shows(
        page,
        `document.querySelector('[data-testid=column-status]').textContent.match(/\\d+ column edges?/)[0]`,
        `${totals.columnEdges} column edge${totals.columnEdges === 1 ? '' : 's'}`
      )
      const csv = await saved(async () => {
        await page.getByText('Export', { exact: true }).click()
        await page.getByTestId('export-csv').click()
      })
      const cells = ['urn', 'side', 'degree', 'upstream', 'downstream'].map((name) => columnOf(csv, name))
      t.strictSame(
        columnOf(csv, 'urn').map((_, place) => cells.map((column) => column[place]).join(' ')),
        all.map(({ entity, side, degree, upstreamCount, downstreamCount }) =>
          [entity.urn, side, degree ?? '', upstreamCount, downstreamCount].join(' ')
        ),
        `the CSV of ${text}`
      )

      for (const direction of ['UPSTREAM', 'DOWNSTREAM'] as const) {
        const counts = await ask(countsQuery, { urn: start, direction })
        const { total: reached, searchResults } = await ask(scrollQuery, {
          urn: start,
          direction,
          count: 100
        })
        const rows: { degree: number; entity: { urn: string } }[] = searchResults
        t.equal(counts.total, reached)
        const hops = direction === 'UPSTREAM' ? up : down
        const near = await ask(graphQuery, {
          urn: start,
          upHops: direction === 'UPSTREAM' ? hops : 0,
          downHops: direction === 'UPSTREAM' ? 0 : hops
        })
        t.strictSame(
          (near.nodes as Node[]).map(({ entity }) => entity.urn).sort(),
          [start, ...rows.filter(({ degree }) => degree <= hops).map(({ entity }) => entity.urn)].sort(),
          'so many hops of the graph are the rows of that degree'
        )
        t.equal(counts.total, rows.length)
        const whole = await ask(graphQuery, {
          urn: start,
          upHops: direction === 'UPSTREAM' ? 20 : 0,
          downHops: direction === 'UPSTREAM' ? 0 : 20
        })
        t.strictSame(
          (whole.nodes as Node[]).map(({ entity }) => entity.urn).sort(),
          [start, ...rows.map(({ entity }) => entity.urn)].sort(),
          'the graph and the table have the same assets'
        )
        t.equal(direction === 'UPSTREAM' ? whole.totals.upstream : whole.totals.downstream, reached)
        await page.goto(`${server.url}/ui/asset?urn=${encodeURIComponent(start)}`)
        const side = direction === 'UPSTREAM' ? 'upstream' : 'downstream'
        await page.getByTestId(`${side}-count`).getByText(`${reached} ${side}`).waitFor()
        if (reached === 0) continue
        await page.goto(
          `${server.url}/ui/asset?urn=${encodeURIComponent(start)}&tab=impact${direction === 'UPSTREAM' ? '&dir=up' : ''}`
        )
        await page
          .getByTestId('impact-showing')
          .getByText(`Showing all ${reached}`, { exact: true })
          .waitFor()
        const expected = rows.map(({ entity }) => entity.urn).sort()
        await shows(page, attributes('[data-row]', 'data-row'), expected)
        const table = await saved(() => page.getByRole('link', { name: /^Export CSV/ }).click())
        const degrees = columnOf(table, 'degree')
        t.strictSame(
          columnOf(table, 'urn')
            .map((each, place) => `${each} ${degrees[place]}`)
            .sort(),
          rows.map(({ degree, entity }) => `${entity.urn} ${degree}`).sort(),
          `the CSV of the table ${side} in ${text}`
        )
      }
    }),
    { numRuns: cases, endOnFailure: true }
  )
})
