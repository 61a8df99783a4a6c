/** The lineage graph in a browser: whatever is clicked or typed, it shows the same as the API. */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { naiveClosure } from '../cases/column-closure.ts'
import {
  isTooWide,
  openPage,
  skipWithoutChromium,
  until,
  violationsOf,
  withBrowser
} from '../support/browser.ts'
import { doors, urnEdges, urnOfName } from '../support/graph.ts'
import { write } from '../support/lineage-views.ts'
import { withServer } from '../support/server.ts'

/** A cycle, a diamond, jobs, a long edge and columns. Tests start at `s`. */
const flow =
  'u -> a -> s; u -> b -> s; s -> job:j -> d1; s -> d2 -> d3 -> d4; x -> d2; d4 -> d5 -> d4; d5 -> d5; s -> d4'
const columnEdges = [
  ['a#k', 's#k'],
  ['s#k', 'd2#k'],
  ['s#k', 'd2#l'],
  ['s#m', 'd2#m'],
  ['d2#k', 'd3#k'],
  ['d3#k', 'd4#k']
] as const
const hubChildren = 5_000

t.test('the lineage graph', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t)
  const browser = await withBrowser(t)
  const { urn } = await write(server, flow, 'flow')
  await doors[0]?.write(
    server,
    urnEdges(
      columnEdges.map(([from, to]) => [from, to]),
      'flow'
    )
  )
  await doors[0]?.write(
    server,
    urnEdges(
      Array.from({ length: hubChildren }, (_, index): [string, string] => ['hub', `c${index}`]),
      'hub'
    )
  )

  type Opened = { page: Page; complaints: string[]; requests: { columns: boolean }[] }
  const open = async (t: Test, query: string, more: object = {}): Promise<Opened> => {
    const { page, complaints } = await openPage(t, browser, {
      url: server.url,
      token: server.token,
      path: 'asset',
      width: 2_600,
      height: 1_200,
      ...more
    })
    const requests: { columns: boolean }[] = []
    page.on('request', (request) => {
      const body: unknown = request.url().endsWith('/api/graphql') ? request.postDataJSON() : null
      if (
        typeof body === 'object' &&
        body !== null &&
        'variables' in body &&
        JSON.stringify(body).includes('query lineage(')
      )
        requests.push({ columns: JSON.stringify(body.variables).includes('"columns":true') })
    })
    await page.goto(`${server.url}/ui/lineage?${query}`)
    await page.locator('[data-node]').first().waitFor()
    return { page, complaints, requests }
  }
  const start = `urn=${encodeURIComponent(urn('s'))}`
  const names = new Map(
    ['u', 'a', 'b', 's', 'job:j', 'd1', 'd2', 'd3', 'd4', 'd5', 'x'].map((name) => [
      urn(name) as string,
      name
    ])
  )
  /** Names of the cards, once the expected graph is shown. */
  const cards = async (page: Page): Promise<string[]> => {
    const found = (await page.evaluate(
      `[...document.querySelectorAll('.graph [data-node]')].map((each) => each.getAttribute('data-node'))`
    )) as string[]
    return found.map((each) => names.get(each) ?? each).sort()
  }
  const settled = async (page: Page, expected: readonly string[]): Promise<void> => {
    const wanted = JSON.stringify(expected.map((name) => urn(name) as string).sort())
    await until(
      page,
      `JSON.stringify([...document.querySelectorAll('.graph [data-node]')].map((each) => each.getAttribute('data-node')).sort()) === ${JSON.stringify(wanted)}`
    ).catch(() => {})
    t.strictSame(await cards(page), [...expected].sort())
  }
  const card = (page: Page, name: string) => page.locator(`.graph [data-node="${urn(name)}"] > .card`)
  const placeOf = async (page: Page, name: string): Promise<{ x: number; y: number }> => {
    const box = await card(page, name).locator('.frame').boundingBox()
    return { x: box?.x ?? NaN, y: box?.y ?? NaN }
  }
  const pill = (page: Page, name: string, direction: string) =>
    page.locator(`.graph [data-of="${urn(name)}"][data-pill="${direction}"]`)
  const isNear = (a: { x: number; y: number }, b: { x: number; y: number }): boolean =>
    Math.abs(a.x - b.x) < 1 && Math.abs(a.y - b.y) < 1
  const near = ['a', 'b', 's', 'job:j', 'd2', 'd4']

  await t.test('begins with one hop on each side, and requests no columns', async (t) => {
    const { page, requests } = await open(t, start)
    await settled(page, near)
    t.equal(await page.locator('[data-col], [data-col-edge]').count(), 0)
    t.strictSame(requests, [{ columns: false }])
    t.match(await page.getByTestId('status').innerText(), /^Showing 6 of 10 assets; 4 are hidden\./)
  })

  await t.test('degrees on the cards are those of the API', async (t) => {
    const { page } = await open(t, `${start}&up=9&down=9`)
    await page.getByRole('button', { name: 'Fit' }).click()
    await settled(page, ['u', 'a', 'b', 's', 'job:j', 'd1', 'd2', 'd3', 'd4', 'd5'])
    for (const direction of ['UPSTREAM', 'DOWNSTREAM']) {
      const { body } = await server.graphql(
        'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { searchResults { degree entity { urn } } } }',
        { input: { urn: urn('s'), direction, count: 100 } }
      )
      for (const { degree, entity } of body.data.scrollAcrossLineage.searchResults)
        t.equal(
          await page.locator(`[data-node="${entity.urn}"]`).getAttribute('data-degree'),
          String(degree),
          entity.urn
        )
    }
  })

  await t.test(
    'a pill adds exactly the next neighbours, the card stays, and − takes them back',
    async (t) => {
      const { page, requests } = await open(t, start)
      await settled(page, near)
      const before = await placeOf(page, 'd2')
      await pill(page, 'd2', 'DOWNSTREAM').click()
      await settled(page, [...near, 'd3'])
      t.ok(isNear(before, await placeOf(page, 'd2')), 'the card does not move')
      t.match(await page.getByTestId('status').innerText(), /1 asset added\./)
      t.equal(requests.length, 2, 'one request for one change')
      await pill(page, 'd2', 'DOWNSTREAM').click()
      await settled(page, near)
      await page.goBack()
      await settled(page, [...near, 'd3'])
      await pill(page, 's', 'UPSTREAM').click()
      await settled(page, ['s', 'job:j', 'd2', 'd3', 'd4'])
    }
  )

  await t.test(
    'columns are drawn when they are switched on, and nothing of them stays when they are off',
    async (t) => {
      const { page, requests } = await open(t, `${start}&down=3`)
      const before = await placeOf(page, 's')
      await page.getByTestId('columns').check()
      await page.getByTestId('column-edges').waitFor({ state: 'attached' })
      t.equal(await page.getByTestId('column-edges').getAttribute('data-count'), String(columnEdges.length))
      t.equal(await page.locator('[data-col-edge]').count(), columnEdges.length)
      t.ok(isNear(before, await placeOf(page, 's')), 'the start does not move')
      t.strictSame(
        requests.map(({ columns }) => columns),
        [false, true]
      )
      await page.getByTestId('columns').uncheck()
      await page.getByTestId('column-edges').waitFor({ state: 'detached' })
      t.equal(await page.locator('[data-col], [data-col-edge]').count(), 0)
      t.ok(isNear(before, await placeOf(page, 's')))
      for (let turn = 0; turn < 5; turn += 1) {
        await page.getByTestId('columns').check()
        await page.getByTestId('columns').uncheck()
      }
      await until(page, `document.querySelectorAll('[data-col]').length === 0`)
    }
  )

  await t.test('a chosen column shows its whole path, also after a reload, until Escape', async (t) => {
    const { page } = await open(t, `${start}&down=3&cols=1`)
    const column = urnOfName('s#k', 'flow')
    await page.locator(`[data-col="${column}"]`).click()
    await page.getByTestId('column-focus').waitFor()
    const lit = async (): Promise<string[]> => {
      await until(page, `document.querySelector('[data-dim-columns]') !== null`)
      return (
        (await page.evaluate(
          `[...document.querySelectorAll('[data-col][data-lit]')].map((each) => each.getAttribute('data-col'))`
        )) as string[]
      ).sort()
    }
    await page.mouse.move(5, 5)
    const expected = [...naiveClosure(columnEdges, 's#k')]
      .map((name) => urnOfName(name, 'flow') as string)
      .sort()
    t.strictSame(await lit(), expected)
    t.match(page.url(), /&col=/)
    t.match(await page.getByTestId('column-focus').innerText(), /6 columns in 5 assets/)
    await page.reload()
    await page.getByTestId('column-focus').waitFor()
    t.strictSame(await lit(), expected)
    await card(page, 's').focus()
    await page.keyboard.press('Escape')
    await page.getByTestId('column-focus').waitFor({ state: 'detached' })
    await until(page, "document.querySelector('[data-col][data-lit]') === null")
  })

  await t.test('a diamond has each card once', async (t) => {
    const { page } = await open(t, `${start}&up=2&down=0`)
    await settled(page, ['u', 'a', 'b', 's'])
    for (const [from, to] of ['u a', 'u b', 'a s', 'b s'].map((pair) => pair.split(' ')))
      t.equal(await page.locator(`[data-edge="${urn(from ?? '')} -> ${urn(to ?? '')}"]`).count(), 1)
  })

  await t.test('no two cards overlap, edges lead to the right, and loops are dashed', async (t) => {
    const { page } = await open(t, `${start}&up=9&down=9`)
    await page.getByRole('button', { name: 'Fit' }).click()
    await settled(page, ['u', 'a', 'b', 's', 'job:j', 'd1', 'd2', 'd3', 'd4', 'd5'])
    t.equal(
      await page.evaluate(`(() => {
        const boxes = [...document.querySelectorAll('[data-node] > .card > .frame')].map((each) => each.getBoundingClientRect())
        return boxes.filter((a, i) => boxes.some((b, j) => i < j && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length
      })()`),
      0
    )
    t.equal(
      await page.locator('[data-edge][data-loop]').count(),
      2,
      'the cycle of d4 and d5, and the asset that feeds itself'
    )
    t.match(
      String(await page.evaluate(`getComputedStyle(document.querySelector('.edge.loop')).strokeDasharray`)),
      /\d/
    )
    t.match(await page.getByTestId('status').innerText(), /2 loops\./)
    const backwards =
      await page.evaluate(`[...document.querySelectorAll('[data-edge]:not([data-loop])')].filter((each) => {
      const [from, to] = each.getAttribute('data-edge').split(' -> ').map((id) => document.querySelector('[data-node="' + id + '"]')?.getBoundingClientRect())
      return from && to && from.left >= to.left
    }).length`)
    t.equal(backwards, 0)
  })

  await t.test('a hub of 5,000 shows ten neighbours, and a stack with exactly the others', async (t) => {
    const hub = urnOfName('hub', 'hub')
    const { page } = await open(t, `urn=${encodeURIComponent(hub)}`)
    await page.getByRole('button', { name: 'Fit' }).click()
    await page.getByTestId('stack').waitFor()
    t.equal(await page.locator('[data-node]').count(), 11)
    t.equal(await page.getByTestId('stack').getAttribute('data-count'), '4990')
    await page.getByTestId('stack').locator('.card').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('4,990 of 4,990 listed.').waitFor()
    await dialog.getByTestId('stack-names').locator('li').first().waitFor()
    t.ok((await dialog.locator('li').count()) < 60, 'only what is in view is drawn')
    await dialog.getByRole('searchbox').fill('c4999')
    await dialog.getByText('1 of 4,990 listed.').waitFor()
    t.equal(await dialog.locator('li').count(), 1, 'the last of all')
    await dialog.getByRole('checkbox').first().check()
    await dialog.getByRole('button', { name: 'Add 1 asset' }).click()
    await page.getByTestId('status').getByText('Showing 12 of').waitFor()
    await page.getByRole('button', { name: 'Fit' }).click()
    await until(page, `document.querySelector('[data-testid=stack]')?.getAttribute('data-count') === '4989'`)
    await page.getByTestId('stack').locator('.card').click()
    await page.getByTestId('add-next').click()
    await page.getByTestId('status').getByText('Showing 22 of').waitFor()
    await page.getByRole('button', { name: 'Fit' }).click()
    await until(page, `document.querySelector('[data-testid=stack]')?.getAttribute('data-count') === '4979'`)
    t.match(await page.getByTestId('status').innerText(), /Showing 22 of 5,001 assets/)
  })

  await t.test('hidden jobs are bridged', async (t) => {
    const { page } = await open(t, start)
    await page.getByTestId('hide-jobs').check()
    await settled(page, ['a', 'b', 's', 'd1', 'd2', 'd4'])
    t.equal(await page.locator(`[data-edge="${urn('s')} -> ${urn('d1')}"]`).count(), 1)
  })

  await t.test('an edge that crosses the view is drawn, even if both its ends are outside', async (t) => {
    const { page } = await open(t, `${start}&up=0&down=9`)
    await settled(page, ['s', 'job:j', 'd1', 'd2', 'd3', 'd4', 'd5'])
    const graph = page.getByTestId('graph')
    const box = await graph.boundingBox()
    await page.mouse.move((box?.x ?? 0) + 700, (box?.y ?? 0) + 300)
    // Between s and d4, which are so close that no card fits between them.
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('Tab')
    await card(page, 'd2').focus()
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('+')
    await until(page, `Number(document.querySelector('.graph').dataset.scale) > 1.9`)
    t.equal(await page.locator(`[data-edge="${urn('s')} -> ${urn('d4')}"]`).count(), 1)
  })

  await t.test('Find moves to a card, Re-centre changes the start, and Back returns', async (t) => {
    const { page } = await open(t, start)
    await page.getByTestId('find').fill('d2')
    await page.keyboard.press('Enter')
    await until(
      page,
      `document.activeElement?.parentElement?.getAttribute('data-node') === ${JSON.stringify(urn('d2'))}`
    )
    await page.keyboard.press('Enter')
    await page.getByTestId('recentre').click()
    await settled(page, ['s', 'x', 'd2', 'd3'])
    t.equal(await page.locator('[data-side=START]').getAttribute('data-node'), urn('d2'))
    await page.goBack()
    await settled(page, near)
  })

  await t.test('all shortest paths to a card are shown and highlighted', async (t) => {
    const { page } = await open(
      t,
      `${start}&down=3&sel=${encodeURIComponent(urn('d3').replaceAll('urn:li:', '~'))}`
    )
    await page.getByTestId('paths').click()
    await page.getByTestId('show-paths').click()
    await page.getByTestId('path-chip').getByText('1 shortest path of 2 hops').waitFor()
    await page.mouse.move(5, 5)
    t.strictSame(
      (
        (await page.evaluate(
          `[...document.querySelectorAll('[data-node][data-lit]')].map((each) => each.getAttribute('data-node'))`
        )) as string[]
      ).sort(),
      [urn('s'), urn('d2'), urn('d3')].sort()
    )
  })

  await t.test('an unknown asset has a page that says so', async (t) => {
    const { page, complaints } = await openPage(t, browser, {
      url: server.url,
      token: server.token,
      path: `lineage?urn=${encodeURIComponent(urn('nobody'))}`
    })
    await page.getByTestId('not-found').waitFor()
    t.match(await page.getByTestId('not-found').innerText(), urn('nobody'))
    t.strictSame(
      complaints.filter((each) => !/400|404/.test(each)),
      []
    )
    complaints.length = 0
  })

  await t.test('the keyboard moves between cards, expands and chooses them, and shows columns', async (t) => {
    const { page } = await open(t, start)
    await settled(page, near)
    await card(page, 's').focus()
    await page.keyboard.press('ArrowRight')
    await until(
      page,
      `document.activeElement?.parentElement?.getAttribute('data-node') !== ${JSON.stringify(urn('s'))}`
    )
    await card(page, 'd2').focus()
    await page.keyboard.press(']')
    await settled(page, [...near, 'd3'])
    await page.keyboard.press('}')
    await settled(page, near)
    await page.keyboard.press('c')
    await page.locator('[data-col]').first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByTestId('drawer').waitFor()
    t.match(
      await card(page, 'd2').getAttribute('aria-label'),
      /^flow\.d2, dataset, hive, PROD, 1 hop downstream, 2 upstream, 1 downstream/
    )
    await card(page, 'd2').focus()
    await page.keyboard.press('Escape')
    await page.getByTestId('drawer').waitFor({ state: 'detached' })
    await page.keyboard.press('t')
    await page.waitForURL(/tab=impact/)
  })

  await t.test('hovering highlights everything upstream and downstream without a request', async (t) => {
    const { page, requests } = await open(t, `${start}&up=9&down=9`)
    await page.getByRole('button', { name: 'Fit' }).click()
    const count = requests.length
    await card(page, 'd3').hover()
    await until(page, `document.querySelector('[data-dim]') !== null`)
    const lit = (await page.evaluate(
      `[...document.querySelectorAll('[data-node][data-lit]')].map((each) => each.getAttribute('data-node'))`
    )) as string[]
    t.strictSame(lit.map((each) => names.get(each) ?? each).sort(), [
      'a',
      'b',
      'd2',
      'd3',
      'd4',
      'd5',
      's',
      'u'
    ])
    t.equal(requests.length, count)
  })

  await t.test('exports contain every card, and the SVG is self-contained', async (t) => {
    const { page } = await open(t, `${start}&up=9&down=9`)
    const exported = async (format: string): Promise<string> => {
      await page.getByText('Export', { exact: true }).click()
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByTestId(`export-${format}`).click()
      ])
      const chunks: Buffer[] = []
      for await (const chunk of await file.createReadStream()) chunks.push(Buffer.from(chunk))
      return Buffer.concat(chunks).toString(format === 'png' ? 'latin1' : 'utf8')
    }
    const svg = await exported('svg')
    t.equal(svg.match(/data-item="card"/g)?.length, 10)
    const alone = await page.context().newPage()
    await alone.goto(`data:image/svg+xml,${encodeURIComponent(svg)}`)
    t.equal(await alone.evaluate('document.querySelectorAll("[data-item=card]").length'), 10)
    const csv = await exported('csv')
    t.equal(csv.trim().split('\r\n').length, 11)
    t.match(await exported('png'), /^\x89PNG/)
  })

  await t.test('an error keeps the previous picture, and Retry loads the next', async (t) => {
    const { page, complaints } = await open(t, start)
    await settled(page, near)
    await page.route('**/api/graphql', (route) =>
      route.fulfill({
        status: 500,
        json: { errors: [{ message: 'broken', extensions: { code: 'INTERNAL' } }] }
      })
    )
    await pill(page, 'd2', 'DOWNSTREAM').click()
    await page.getByRole('alert').getByText('broken').waitFor()
    await settled(page, near)
    await page.unroute('**/api/graphql')
    await page.getByRole('alert').getByRole('button').click()
    await settled(page, [...near, 'd3'])
    t.ok(complaints.every((each) => each.includes('500')))
    complaints.length = 0
  })

  for (const theme of ['light', 'dark'] as const)
    await t.test(`axe finds nothing in the ${theme} theme`, async (t) => {
      const { page } = await open(
        t,
        `${start}&cols=1&sel=${encodeURIComponent(urn('s').replaceAll('urn:li:', '~'))}`,
        { theme }
      )
      await page.locator('[data-col]').first().waitFor()
      t.strictSame(await violationsOf(page), [])
    })

  await t.test('a narrow screen has a list, and does not scroll sideways', async (t) => {
    const { page } = await open(t, start, { width: 320, height: 700 })
    await page.getByTestId('as-list').waitFor()
    t.equal(await page.getByTestId('as-list').locator('[data-node]').count(), 6)
    t.equal(await isTooWide(page), false)
  })

  await t.test('with reduced motion nothing moves by itself', async (t) => {
    const { page } = await open(t, start, { reducedMotion: true })
    const duration = String(
      await page.evaluate(`getComputedStyle(document.querySelector('.graph .node')).transitionDuration`)
    )
    t.match(duration, /^0s/)
  })
})
