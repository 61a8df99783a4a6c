/**
 * What a lineage view shows besides cards: paths, groups, a time window, an overview, long lists, long links,
 * and the keyboard everywhere.
 */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { catalogClient } from '../support/catalog-client.ts'
import { openBarMenu, openPage, press, skipWithoutChromium, until, withBrowser } from '../support/browser.ts'
import { doors, urnEdges, urnOfName } from '../support/graph.ts'
import { propose, write } from '../support/lineage-views.ts'
import { withServer } from '../support/server.ts'

const wideColumns = 1_000

t.test('views of the lineage graph', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t)
  const browser = await withBrowser(t)
  const children = Array.from({ length: 40 }, (_, index) => `n${String(index).padStart(2, '0')}`)
  const { urn } = await write(
    server,
    `s -> job:j -> d -> e; s -> chart:c -> dash:b; s -> job:k -> d; fan -> ${children.join(' & ')}; e -> old & new`,
    'views'
  )
  const now = Date.now()
  for (const [name, time] of [
    ['old', 1_000],
    ['new', now - 1_000]
  ] as const)
    await propose(server, urn(name), 'upstreamLineage', {
      upstreams: [{ dataset: urn('e'), type: 'COPY', auditStamp: { time, actor: 'urn:li:corpuser:etl' } }]
    })
  await doors[0]?.write(
    server,
    urnEdges(
      [
        ['s#k', 'chart:c#k'],
        ['chart:c#k', 'dash:b#k']
      ],
      'views'
    )
  )
  await propose(server, urn('d'), 'schemaMetadata', {
    schemaName: 'd',
    platform: 'urn:li:dataPlatform:hive',
    version: 0,
    hash: '',
    platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
    fields: Array.from({ length: wideColumns }, (_, index) => ({
      fieldPath: `column_${String(index).padStart(4, '0')}`,
      nativeDataType: 'int',
      type: { type: { 'com.linkedin.schema.NumberType': {} } }
    }))
  })
  const { createDomain, setDomain } = catalogClient(server.url, server.token)
  const sales = await createDomain({ id: 'views-sales', name: 'Sales' })
  for (const name of ['d', 'e', ...children.slice(0, 10)]) await setDomain(urn(name), sales)

  const open = async (t: Test, query: string, more: object = {}): Promise<Page> => {
    const { page } = await openPage(t, browser, {
      url: server.url,
      token: server.token,
      path: `lineage?${query}`,
      width: 1_600,
      height: 1_000,
      ...more
    })
    await page.locator('.graph [data-node], .as-list [data-node]').first().waitFor()
    return page
  }
  const from = (name: string): string => `urn=${encodeURIComponent(urn(name))}`
  const short = (name: string): string => encodeURIComponent(urn(name).replaceAll('urn:li:', '~'))
  const focusIsOn = (page: Page, name: string): Promise<void> =>
    until(
      page,
      `document.activeElement?.parentElement?.getAttribute('data-node') === ${JSON.stringify(urn(name))}`
    )
  const litNodes = `JSON.stringify([...document.querySelectorAll('[data-node][data-lit]')].map((each) => each.getAttribute('data-node')).sort())`
  const lit = (page: Page, ...names: string[]): Promise<void> =>
    until(
      page,
      `${litNodes} === ${JSON.stringify(JSON.stringify(names.map((each) => urn(each) as string).sort()))}`
    )
  const exportCsv = async (page: Page): Promise<string[]> => {
    await page.getByText('Export', { exact: true }).click()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByTestId('export-csv').click()])
    const chunks: Buffer[] = []
    for await (const chunk of await file.createReadStream()) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks).toString().trim().split('\r\n').slice(1)
  }

  await t.test('shortest paths are highlighted if jobs are hidden, before or afterwards', async (t) => {
    const page = await open(t, `${from('s')}&down=9&jobs=0&sel=${short('e')}`)
    await page.getByTestId('paths').click()
    await page.getByTestId('show-paths').click()
    await page.getByTestId('path-chip').getByText('2 shortest paths of 3 hops').waitFor()
    await page.mouse.move(5, 5)
    await lit(page, 's', 'd', 'e')
    await page.getByTestId('hide-jobs').uncheck()
    await lit(page, 's', 'job:j', 'job:k', 'd', 'e')

    const opened = await open(
      t,
      `${from('s')}&down=0&to=${short('e')}&e=d*1+${short('s')}&n=${short('job:j')}`
    )
    await opened.locator(`.graph [data-node="${urn('job:j')}"]`).waitFor()
    await opened.getByTestId('path-chip').getByText('2 shortest paths').waitFor()
    await opened.getByTestId('hide-jobs').check()
    await opened.mouse.move(5, 5)
    await lit(opened, 's', 'd', 'e')
  })

  await t.test('the keyboard keeps its card when the view moves, and brings it back into view', async (t) => {
    const page = await open(t, `${from('s')}&down=3`)
    await press(page, 'Tab')
    await page.getByTestId('find').focus()
    await page.keyboard.type('views.e')
    await press(page, 'Enter')
    await focusIsOn(page, 'e')
    const box = await page.getByTestId('graph').boundingBox()
    const [x, y] = [(box?.x ?? 0) + 30, (box?.y ?? 0) + 30]
    await page.mouse.move(x, y)
    // So far that the graph is out of view.
    for (let turn = 0; turn < 4; turn += 1) {
      await page.mouse.down()
      await page.mouse.move(x + 1_400, y + 800, { steps: 2 })
      await page.mouse.up()
      await page.mouse.move(x, y)
    }
    await until(page, `document.querySelectorAll('.graph [data-node]').length === 1`)
    t.equal(await page.locator('.graph .card[tabindex="0"]').count(), 1, 'the graph has its tab stop')
    await page.getByTestId('find').focus()
    await press(page, 'Tab')
    await focusIsOn(page, 'e')
    await press(page, 'Shift+Tab', 'Tab')
    await focusIsOn(page, 'e')
    await press(page, 'ArrowLeft')
    await focusIsOn(page, 'd')
    const card = await page.locator(`.graph [data-node="${urn('d')}"]`).boundingBox()
    t.ok((card?.x ?? -1) >= 0 && (card?.x ?? 9_999) < 1_600, 'the card with the focus is in view')
  })

  await t.test('? opens one list of keys, and the focus returns to the card', async (t) => {
    const page = await open(t, from('s'))
    await page.locator(`.graph [data-node="${urn('s')}"] > .card`).focus()
    await press(page, '?')
    await page.getByRole('dialog').waitFor()
    t.equal(await page.locator('dialog[open]').count(), 1)
    t.match(await page.locator('dialog[open]').innerText(), /Keys of the lineage graph/)
    await press(page, 'Escape')
    await page.locator('dialog[open]').waitFor({ state: 'detached' })
    await focusIsOn(page, 's')
  })

  await t.test('columns of charts and dashboards are chosen with the keyboard', async (t) => {
    const page = await open(t, `${from('s')}&down=2&cols=1`)
    for (const name of ['chart:c', 'dash:b']) {
      await page.locator(`.graph [data-node="${urn(name)}"] > .card`).focus()
      await press(page, 'Enter')
      await page.getByTestId('drawer-columns').getByText('k', { exact: true }).waitFor()
      for (let turn = 0; turn < 30; turn += 1) {
        await press(page, 'Tab')
        if (await page.evaluate(`document.activeElement?.closest('[data-testid=drawer-columns]') !== null`))
          break
      }
      await press(page, 'Enter')
      await page.getByTestId('column-focus').getByText('3 columns in 3 assets').waitFor()
      await press(page, 'Escape')
      await focusIsOn(page, name)
      await press(page, 'Escape')
      await page.getByTestId('column-focus').waitFor({ state: 'detached' })
    }
  })

  await t.test(
    'every column of a wide table can be reached in the details, and they are counted',
    async (t) => {
      const page = await open(t, `${from('d')}&cols=1&sel=${short('d')}`)
      await page.getByTestId('drawer-listed').getByText('1,000 of 1,000 listed.').waitFor()
      const wide = page.locator(`.graph [data-node="${urn('d')}"]`)
      t.equal(await wide.locator('[data-col]').count(), 8)
      t.equal(await wide.getByTestId('more-columns').locator('text').textContent(), '+992 more')
      t.ok((await page.getByTestId('drawer-columns').locator('li').count()) < 60)
      await page.getByTestId('drawer-columns').locator('li').first().hover()
      await page.mouse.wheel(0, 100_000)
      await page.getByTestId('drawer-columns').getByText('column_0999').click()
      await page.getByTestId('column-focus').getByText('column_0999').waitFor()
      await page.locator('.drawer').getByRole('searchbox').fill('_09')
      await page.getByTestId('drawer-listed').getByText('100 of 1,000 listed.').waitFor()
    }
  )

  await t.test('groups open and close, and CSV, list and find contain their assets', async (t) => {
    const page = await open(t, `${from('fan')}&e=d+${short('fan')}&group=domain`)
    await page.getByTestId('status').getByText('Showing 41 of 41 assets').waitFor()
    await page.getByRole('button', { name: 'Fit' }).click()
    await page.locator('[data-group]').waitFor()
    t.equal(await page.locator('[data-group]').getAttribute('data-count'), '10')
    await page.locator('[data-group] [data-title]').dispatchEvent('click')
    await page.getByTestId('group').waitFor()
    t.equal(await page.getByTestId('group').getAttribute('data-count'), '10')
    await page.getByRole('button', { name: 'Fit' }).click()
    await until(page, `document.querySelectorAll('.graph [data-node]').length === 31`)
    t.match(await page.getByTestId('status').innerText(), /Showing 41 of 41 assets/)
    const lines = await exportCsv(page)
    t.equal(lines.length, 41)
    t.ok(lines.some((line) => line.includes('views.n03')))
    const edge = page.locator(`[data-edge="${urn('fan')} -> group ${sales}"]`)
    t.equal(await edge.getAttribute('data-kind'), 'merged')
    await page.getByTestId('find').fill('views.n03')
    await press(page, 'Enter')
    await focusIsOn(page, 'n03')
    t.equal(await page.locator('[data-group]').count(), 1, 'its group was opened')

    await page.getByLabel('Group by').selectOption('platform')
    await page.locator('[data-group="hive"]').waitFor()
    t.equal(await page.locator('[data-group]').count(), 1)
    t.equal(await page.locator('[data-group]').getAttribute('data-count'), '41')

    const narrow = await open(
      t,
      `${from('fan')}&e=d+${short('fan')}&group=domain&g=${encodeURIComponent('~domain:views-sales')}`,
      {
        width: 360,
        height: 800
      }
    )
    await until(narrow, `document.querySelectorAll('.as-list [data-node]').length === 41`)
  })

  await t.test('the mini map shows the view, and moves it', async (t) => {
    const page = await open(t, `${from('fan')}&e=d+${short('fan')}`)
    const map = page.getByTestId('mini-map')
    await map.waitFor()
    const look = `document.querySelector('[data-testid=mini-map] rect').getAttribute('y')`
    const before = Number(await page.evaluate(look))
    const box = await map.locator('svg').boundingBox()
    await page.mouse.move((box?.x ?? 0) + 95, (box?.y ?? 0) + 4)
    await page.mouse.down()
    await until(page, `Number(${look}) < ${before}`)
    const top = Number(await page.evaluate(look))
    await page.mouse.move((box?.x ?? 0) + 95, (box?.y ?? 0) + 116, { steps: 4 })
    await page.mouse.up()
    await until(page, `Number(${look}) > ${top} + 500`)
    const few = await open(t, from('s'))
    t.equal(await few.getByTestId('mini-map').count(), 0, 'few cards need none')
  })

  await t.test('a time window shows the edges used in it, and is in the link', async (t) => {
    const page = await open(t, from('e'))
    await page.locator(`.graph [data-node="${urn('old')}"]`).waitFor()
    await page.getByTestId('time').selectOption('week')
    await page.locator(`.graph [data-node="${urn('old')}"]`).waitFor({ state: 'detached' })
    t.equal(await page.locator(`.graph [data-node="${urn('new')}"]`).count(), 1)
    t.match(page.url(), /&since=\d+/)
    await page.reload()
    await page.locator(`.graph [data-node="${urn('new')}"]`).waitFor()
    t.equal(await page.locator(`.graph [data-node="${urn('old')}"]`).count(), 0)
    t.equal(await page.getByTestId('time').inputValue(), 'week')
    await page.getByTestId('time').selectOption('all')
    await page.locator(`.graph [data-node="${urn('old')}"]`).waitFor()
  })

  await t.test(
    'the link of a view with many expansions shows the same elsewhere, however long it is',
    async (t) => {
      const picks = children.map((name) => `&n=${short(name)}`).join('')
      const closed = Array.from({ length: 110 }, (_, index) => `&x=u+${short(`none${index}`)}`).join('')
      const page = await open(
        t,
        `${from('fan')}&down=0&sel=${short('n07')}&cols=1&e=d*40+${short('fan')}${picks}${closed}`
      )
      // Any change rewrites the address.
      await page.getByTestId('hide-jobs').check()
      await page.getByTestId('long-link').waitFor()
      const state = async (of: Page): Promise<unknown> => {
        await of.getByTestId('drawer').waitFor()
        return of.evaluate(
          `JSON.stringify([document.querySelector('[data-testid=status]').textContent.split('.')[0], document.querySelector('[data-selected]')?.getAttribute('data-node'), document.querySelector('[data-testid=columns]').checked, document.querySelector('[data-testid=hide-jobs]').checked])`
        )
      }
      const first = await state(page)
      t.match(String(first), /Showing 41 of 41/)
      const link = page.url()
      t.ok(new URL(link).search.length < 200)
      t.ok(link.length > 7_000)
      await page.reload()
      t.equal(await state(page), first)
      await page.getByTestId('hide-jobs').uncheck()
      await until(page, `!document.querySelector('[data-testid=hide-jobs]').checked`)
      await page.goBack()
      await until(page, `document.querySelector('[data-testid=hide-jobs]').checked`)
      const cut = await open(t, new URL(link).search.slice(1))
      await cut.getByTestId('cut-link').waitFor()
    }
  )

  await t.test('a link copied from any state shows the same cards, columns and choice', async (t) => {
    const page = await open(t, `${from('s')}&down=3&cols=1`)
    await page.locator(`.graph [data-col="${urnOfName('s#k', 'views')}"]`).click()
    await page.getByTestId('column-focus').waitFor()
    await page.locator(`.graph [data-node="${urn('d')}"] > .card`).click({ position: { x: 40, y: 30 } })
    await page.getByTestId('drawer').waitFor()
    await (await openBarMenu(page, 'Copy')).getByRole('button', { name: 'Copy link' }).click()
    const link = String(await page.evaluate('navigator.clipboard.readText()'))
    t.equal(link, page.url())
    const picture = `JSON.stringify(['data-node', 'data-col', 'data-col-edge', 'data-edge'].map((name) => [...document.querySelectorAll('.graph [' + name + ']')].map((each) => each.getAttribute(name)).sort()).concat(document.querySelector('[data-selected]')?.getAttribute('data-node'), document.querySelector('[data-testid=column-focus]')?.textContent))`
    await page.getByRole('button', { name: 'Fit' }).click()
    const there = await open(t, link.slice(link.indexOf('?') + 1))
    await there.getByTestId('column-focus').waitFor()
    await there.getByRole('button', { name: 'Fit' }).click()
    await page.mouse.move(5, 5)
    await until(there, `${picture} === ${JSON.stringify(await page.evaluate(picture))}`)
  })
})
