/**
 * The impact table in a browser: the same numbers as the API, filters, a CSV with the same rows, fifty
 * thousand rows, the keyboard.
 */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { isTooWide, openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import { parseCsv } from '../support/export-files.ts'
import { withServer, type TestServer } from '../support/server.ts'

const dataset = (name: string, platform = 'hive'): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`
const start = dataset('start')
const field = (urn: string, path: string): string => `urn:li:schemaField:(${urn},${path})`

async function load(server: TestServer, records: readonly object[]): Promise<void> {
  const answer = await server.rest({
    method: 'POST',
    url: '/loads?format=ndjson&wait=25&missingReferences=create',
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' }
  })
  const { id, counts } = answer.body
  for (let waits = 0; waits < 20; waits += 1) {
    const { body } = await server.rest({ url: `/loads/${id}?wait=25` })
    if (body.state === 'done' && body.counts.rejected === 0) return
    if (body.state !== 'applying' && body.state !== 'accepted') throw new Error(JSON.stringify(body))
  }
  throw new Error(`the load does not end: ${JSON.stringify(counts)}`)
}

const edge = (upstreamUrn: string, downstreamUrn: string) => ({ upstreamUrn, downstreamUrn })
const entity = (urn: string, name: string) => ({ op: 'upsertEntity', urn, name })
const aspect = (entityUrn: string, aspectName: string, value: object) => ({
  entityType: 'dataset',
  entityUrn,
  changeType: 'UPSERT',
  aspectName,
  aspect: value
})

const pathOf = (query = ''): string => `asset?urn=${encodeURIComponent(start)}&tab=impact${query}`

/** Waits until the requested rows are shown, and returns the table's summary. */
async function shown(page: Page, count: number): Promise<void> {
  await page
    .getByTestId('impact-showing')
    .filter({ hasText: new RegExp(`^Showing all ${count.toLocaleString('en')}$`) })
    .waitFor()
}

const urnsIn = async (page: Page): Promise<(string | null)[]> =>
  Promise.all((await page.locator('[data-row]').all()).map((row) => row.getAttribute('data-row')))

/** The rows of the CSV that the button downloads, read by a separate parser. */
async function exported(page: Page): Promise<{ urns: string[]; names: string[]; text: string }> {
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: /^Export CSV/ }).click()
  const text = readFileSync(await (await downloading).path(), 'utf8')
  const [head = [], ...others] = parseCsv(text)
  const column = (name: string): string[] => others.map((row) => row[head.indexOf(name)] ?? '')
  return { urns: column('urn'), names: column('name'), text }
}

t.test('the impact table', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  const { url, token } = server
  const strange = ['=cmd|calc', 'a "quoted", name', 'two\nlines', '<img src=x onerror=alert(1)>', '+1']
  const near = strange.map((_, index) => dataset(`near${index}`))
  const far = ['far0', 'far1', 'far2'].map((name) => dataset(name, 'snowflake'))
  const last = ['last0', 'last1'].map((name) => dataset(name, 'snowflake'))
  await load(server, [
    { op: 'createDomain', id: 'sales', name: 'Sales' },
    entity(start, 'start'),
    ...near.map((urn, index) => entity(urn, strange[index] ?? '')),
    ...[...far, ...last].map((urn) => entity(urn, urn.split(',')[1] ?? '')),
    ...near.map((urn) => edge(start, urn)),
    ...far.map((urn) => edge(near[0] ?? '', urn)),
    edge(far[0] ?? '', last[0] ?? ''),
    edge(last[0] ?? '', last[1] ?? ''),
    edge(last[1] ?? '', start),
    ...far.map((entityUrn) => ({ op: 'setDomain', entityUrn, domainUrn: 'urn:li:domain:sales' })),
    aspect(start, 'schemaMetadata', {
      schemaName: 's',
      platform: 'urn:li:dataPlatform:hive',
      version: 0,
      hash: '',
      platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
      fields: ['id', 'amount'].map((fieldPath) => ({
        fieldPath,
        nativeDataType: 'int',
        type: { type: { 'com.linkedin.schema.NumberType': {} } }
      }))
    }),
    aspect(near[1] ?? '', 'ownership', {
      owners: [{ owner: 'urn:li:corpuser:ada', type: 'DATAOWNER' }],
      lastModified: { time: 0, actor: 'urn:li:corpuser:ada' }
    }),
    edge(field(start, 'amount'), field(near[0] ?? '', 'total'))
  ])

  t.test(
    'counts the chips as the API does, and each combination shows and exports the same rows',
    async (t) => {
      const { page } = await openPage(t, browser, { url, token, path: pathOf() })
      await shown(page, 10)
      const { body } = await server.graphql(
        'query ($urn: String!) { lineageCounts(input: { urn: $urn }) { degrees { degree count } } }',
        { urn: start }
      )
      for (const { degree, count } of body.data.lineageCounts.degrees)
        t.match(await page.locator(`[data-degree="${degree}"]`).innerText(), `(${count})`)
      const groups = ['1', '2', '3+']
      for (let bits = 0; bits < 8; bits += 1) {
        const chosen = groups.filter((_, index) => (bits & (1 << index)) !== 0)
        for (const group of groups) {
          const chip = page.locator(`[data-degree="${group}"]`)
          if ((await chip.getAttribute('aria-pressed')) !== String(chosen.includes(group))) await chip.click()
        }
        const { body: answer } = await server.graphql(
          'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { searchResults { entity { urn } } } }',
          {
            input: {
              urn: start,
              count: 100,
              orFilters: chosen.length > 0 ? [{ and: [{ field: 'degree', values: chosen }] }] : []
            }
          }
        )
        const urns = answer.data.scrollAcrossLineage.searchResults.map(
          ({ entity: { urn } }: { entity: { urn: string } }) => urn
        )
        await shown(page, urns.length)
        t.strictSame(await urnsIn(page), urns, `${chosen.join()} on the screen`)
        t.strictSame((await exported(page)).urns, urns, `${chosen.join()} in the CSV`)
      }
    }
  )

  t.test(
    'exports cells with commas, quotes and line breaks, and none that a spreadsheet would run',
    async (t) => {
      const { page } = await openPage(t, browser, { url, token, path: pathOf('&degree=1') })
      await shown(page, 5)
      const { names } = await exported(page)
      t.strictSame(names.sort(), strange.map((name) => (/^[=+]/.test(name) ? `'${name}` : name)).sort())
      t.equal(await page.locator('img').count(), 0, 'a name is text')
      t.ok((await page.getByRole('grid').innerText()).includes('=cmd|calc'), 'and shown as it is')
    }
  )

  t.test('shows no number in a chip while the server does not answer', async (t) => {
    const { page, complaints, goTo } = await openPage(t, browser, { url, token })
    await page.route('**/api/graphql', (route) =>
      route.request().postData()?.includes('query impactCounts') ? route.abort() : route.continue()
    )
    await goTo(pathOf())
    await page.getByText('The server cannot be reached.').first().waitFor()
    t.equal(await page.locator('[data-degree="1"]').first().innerText(), '1 hop')
    t.ok(complaints.every((text) => text.includes('ERR_FAILED')))
    complaints.length = 0
  })

  t.test('combines text, degree, platform, domain and owner, and keeps them in the address', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: pathOf() })
    await shown(page, 10)
    await page.getByRole('searchbox', { name: /^Text in name/ }).fill('far')
    await shown(page, 3)
    await page.locator('[data-degree="2"]').click()
    await shown(page, 3)
    await page.locator('[data-degree="2"]').click()
    await page.getByRole('searchbox', { name: /^Text in name/ }).fill('')
    await shown(page, 10)
    await page.locator('summary', { hasText: 'Platform' }).click()
    await page.getByRole('checkbox', { name: 'snowflake (5)' }).check()
    await shown(page, 5)
    await page.getByRole('combobox', { name: 'Domain', exact: true }).selectOption('none')
    await shown(page, 2)
    t.strictSame(await urnsIn(page), last)
    await page.reload()
    await shown(page, 2)
    t.strictSame((await exported(page)).urns, last)
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await shown(page, 10)
    await page.getByTestId('domains-affected').getByRole('link', { name: 'Sales (3)' }).click()
    await shown(page, 3)
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByTestId('owners-affected').getByRole('link', { name: 'ada (1)' }).click()
    await shown(page, 1)
    t.strictSame(await urnsIn(page), [near[1]])
    t.strictSame((await exported(page)).urns, [near[1]])
  })

  t.test('does not say how many owners are affected before it knows them', async (t) => {
    const { page } = await openPage(t, browser, { url, token })
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/api/graphql', async (route) => {
      if ((route.request().postData() ?? '').includes('scrollAcrossLineage')) await released
      await route.continue()
    })
    await page.goto(`${url}/ui/${pathOf()}`)
    const owners = page.getByTestId('owners-affected')
    await owners.getByRole('heading', { name: 'Counting the owners …' }).waitFor()
    release()
    await owners.getByRole('heading', { name: /^[1-9]\d* owners? affected$/ }).waitFor()
  })

  t.test('shows the impact of one column as columns, and its upstream columns', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: pathOf() })
    await page.getByRole('combobox', { name: 'Column', exact: true }).selectOption('amount')
    await shown(page, 1)
    t.strictSame(await urnsIn(page), [field(near[0] ?? '', 'total')])
    t.strictSame((await exported(page)).urns, [field(near[0] ?? '', 'total')])
    await page.getByRole('button', { name: 'Upstream' }).click()
    await page.getByRole('heading', { name: 'No upstream is known.' }).waitFor()
    await page.getByRole('combobox', { name: 'Column', exact: true }).selectOption('')
    await page.locator('[data-row]').first().waitFor()
    t.equal((await urnsIn(page))[0], last[1], 'the cycle is followed')
  })

  t.test('puts chosen rows into a domain, with undo', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: pathOf('&platforms=urn%3Ali%3AdataPlatform%3Asnowflake')
    })
    await shown(page, 5)
    for (const name of ['last0', 'last1'])
      await page.getByRole('checkbox', { name: `Choose ${name}` }).check()
    await page.getByRole('button', { name: 'Set domain' }).last().click()
    const dialog = page.getByRole('dialog', { name: 'Set the domain of 2 assets' })
    await dialog.getByRole('radio', { name: 'Sales' }).check()
    await dialog.getByRole('button', { name: 'Set domain' }).click()
    await page.getByText('2 assets now in Sales.').waitFor()
    const chip = page.getByTestId('domains-affected').getByRole('link', { name: /^Sales/ })
    await chip.filter({ hasText: '(5)' }).waitFor()
    // The rows are read again beside the counts, in requests of their own.
    for (const urn of last)
      await page.locator(`[data-row="${urn}"] [data-cell="domain"]`).filter({ hasText: 'Sales' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await chip.filter({ hasText: '(3)' }).waitFor()
    const { body } = await server.graphql(
      '{ domain(urn: "urn:li:domain:sales") { entities(input: { count: 0 }) { total } } }'
    )
    t.equal(body.data.domain.entities.total, 3)
  })

  t.test('sorts by a click on a column head, and moves between rows by keyboard', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: pathOf() })
    await shown(page, 10)
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
    await page.locator('[role="columnheader"][aria-sort="ascending"]').waitFor()
    t.equal(new URL(page.url()).searchParams.get('sort'), 'name')
    const first = page.locator('[data-row]').first()
    await first.focus()
    await page.keyboard.press('End')
    const focused = () => page.evaluate('document.activeElement?.getAttribute("aria-rowindex")')
    t.equal(await focused(), '11')
    await page.keyboard.press('Home')
    t.equal(await focused(), '2')
    await page.keyboard.press('Enter')
    await page.waitForURL((to) => to.searchParams.get('urn') !== start)
  })

  t.test('passes axe in both themes, and fits into 320 pixels', async (t) => {
    for (const theme of ['light', 'dark'] as const) {
      const { page } = await openPage(t, browser, { url, token, path: pathOf(), theme, reducedMotion: true })
      await shown(page, 10)
      t.strictSame(await violationsOf(page), [], theme)
      await page.setViewportSize({ width: 320, height: 640 })
      t.equal(await isTooWide(page), false)
    }
  })
})
