/**
 * Search, the asset page and the lineage editor in a browser: by mouse and by keyboard, with hostile texts,
 * in both themes.
 */
import type { Page } from 'playwright-core'
import t from 'tap'
import {
  isTooWide,
  chooseIn,
  openBarMenu,
  openPage,
  press,
  skipWithoutChromium,
  until,
  violationsOf,
  withBrowser
} from '../support/browser.ts'
import { withServer, type TestServer } from '../support/server.ts'
import { withResolver } from '../support/with-resolver.ts'

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const hostile = `"><img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script>`

const pageOf = (name: string, urn: string, more = ''): string =>
  `${name}?urn=${encodeURIComponent(urn)}${more}`

async function propose(server: TestServer, urn: string, aspects: { [name: string]: object }): Promise<void> {
  const answer = await server.rest({
    method: 'POST',
    url: '/aspects?action=ingestProposalBatch',
    body: {
      proposals: Object.entries(aspects).map(([aspectName, json]) => ({
        entityType: urn.split(':')[2],
        entityUrn: urn,
        changeType: 'UPSERT',
        aspectName,
        aspect: { json }
      }))
    }
  })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
}

/** orders -> revenue -> report, and an unconnected `spare`; revenue has columns, tags and owners. */
async function fill(server: TestServer): Promise<void> {
  const field = (fieldPath: string): object => ({
    fieldPath,
    nativeDataType: 'bigint',
    type: { type: { 'com.linkedin.schema.NumberType': {} } },
    description: `about ${fieldPath}`
  })
  const schema = (...paths: string[]): object => ({
    schemaName: 's',
    platform: 'urn:li:dataPlatform:hive',
    version: 0,
    hash: '',
    platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
    fields: paths.map(field)
  })
  for (const name of ['orders', 'revenue', 'report', 'spare'])
    await propose(server, dataset(name), {
      datasetProperties: { name, description: `what ${name} holds`, customProperties: { team: 'shop' } }
    })
  await propose(server, dataset('orders'), { schemaMetadata: schema('id', 'amount') })
  await propose(server, dataset('revenue'), {
    schemaMetadata: schema('id', 'total'),
    globalTags: { tags: [{ tag: 'urn:li:tag:pii' }] },
    institutionalMemory: {
      // Only the first may become a link.
      elements: ['https://wiki.example/revenue', 'javascript:alert(1)'].map((url) => ({
        url,
        description: `at ${url}`,
        createStamp: { time: 1, actor: 'urn:li:corpuser:a' }
      }))
    },
    upstreamLineage: { upstreams: [{ dataset: dataset('orders'), type: 'TRANSFORMED' }] }
  })
  await propose(server, dataset('report'), {
    upstreamLineage: { upstreams: [{ dataset: dataset('revenue'), type: 'TRANSFORMED' }] }
  })
  for (const [id, name] of [
    ['finance', 'Finance'],
    ['sales', 'Sales']
  ] as const)
    await server.graphql(
      'mutation ($id: String!, $name: String!) { createDomain(input: { id: $id, name: $name }) }',
      {
        id,
        name
      }
    )
}

/** Picks a domain in the open dialog. */
async function setDomain(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Set the domain of 1 asset' })
  await dialog.getByLabel('Find the domain').fill(name)
  await dialog.getByRole('radio', { name }).check()
  await dialog.getByRole('button', { name: 'Set domain' }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Keeps the answers to questions that contain a text until they are released. */
async function holdAnswers(
  page: Page,
  text = ''
): Promise<{ asked: Promise<void>; release: () => Promise<void> }> {
  const asked = withResolver()
  const released = withResolver()
  const held: Promise<void>[] = []
  await page.route('**/api/graphql', async (route) => {
    if (!(route.request().postData() ?? '').includes(text)) return route.continue()
    const answer = async (): Promise<void> => {
      await released.promise
      // The page may have given up the question itself.
      await route.continue().catch(() => {})
    }
    held.push(answer())
    asked.resolve()
    await held.at(-1)
  })
  return {
    asked: asked.promise,
    async release() {
      released.resolve()
      await Promise.all(held)
      await page.unroute('**/api/graphql')
    }
  }
}

t.test('the pages of assets', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t)
  const { url, token } = server
  const browser = await withBrowser(t)

  // Applied before the rest is sent, because the other records refer to it.
  await t.test('an empty catalog teaches the first load, in each format', async (t) => {
    const { page } = await openPage(t, browser, { url, token })
    await page.getByRole('heading', { name: 'The catalog is empty' }).waitFor()
    for (const [format, command] of [
      ['CSV', 'tributary load lineage.csv'],
      ['dbt', 'manifest.json'],
      ['OpenLineage', 'OPENLINEAGE_URL'],
      ['A database', 'datahub-rest']
    ] as const) {
      await page.getByRole('tab', { name: format }).click()
      t.match(await page.getByRole('tabpanel').innerText(), command)
      t.match(await page.getByRole('tabpanel').innerText(), url)
    }
  })

  await fill(server)

  t.test('typing shows options, Enter opens the chosen one, Escape closes them', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'search?q=*' })
    await page.getByRole('heading', { name: 'results' }).waitFor()
    await press(page, '/')
    await page.keyboard.type('reven')
    const field = page.getByRole('combobox', { name: 'Search assets' })
    await page.getByRole('option', { name: 'revenue' }).waitFor()
    t.equal(await field.getAttribute('aria-expanded'), 'true')
    await press(page, 'Escape')
    t.equal(await field.getAttribute('aria-expanded'), 'false')
    await press(page, 'ArrowDown')
    t.ok(await field.getAttribute('aria-activedescendant'))
    await press(page, 'Enter')
    await page.getByRole('heading', { name: 'revenue', level: 1 }).waitFor()
  })

  t.test('an answer that comes late never replaces a newer one', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'search?q=*' })
    const answers = await holdAnswers(page, '"query":"ord"')
    const field = page.getByRole('combobox', { name: 'Search assets' })
    await field.fill('ord')
    await answers.asked
    await field.fill('spare')
    await page.getByRole('option', { name: 'spare' }).waitFor()
    await answers.release()
    // Asked after the late answer has been sent, so that the page has had it.
    await page.evaluate("fetch('../session').then((answer) => answer.text())")
    const options = page.getByRole('listbox').getByRole('option')
    t.strictSame(await options.count(), 1)
    t.match(await options.innerText(), 'spare')
  })

  t.test('a pasted URN opens its page, and an unknown one is named as unknown', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'search?q=*' })
    const field = page.getByRole('combobox', { name: 'Search assets' })
    await field.fill(dataset('report'))
    await field.press('Enter')
    await page.getByRole('heading', { name: 'report', level: 1 }).waitFor()
    await field.fill(dataset('reven'))
    await field.press('Enter')
    await page.getByRole('heading', { name: 'This asset is not in the catalog' }).waitFor()
    t.match(await page.getByRole('main').innerText(), dataset('reven'))
  })

  t.test('filters narrow the results, and are in the address', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'search?q=*' })
    await page.getByRole('heading', { name: '6 results' }).waitFor()
    await page.getByRole('checkbox', { name: 'Dataset' }).check()
    await page.getByRole('heading', { name: '4 results' }).waitFor()
    t.match(decodeURIComponent(page.url()), 'f=_entityType:DATASET')
    await page.reload()
    await page.getByRole('heading', { name: '4 results' }).waitFor()
    await page.getByRole('link', { name: 'Remove filter' }).click()
    await page.getByRole('heading', { name: '6 results' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: '4 results' }).waitFor()
  })

  t.test('an empty result says what to try', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'search?q=zzzz' })
    await page.getByText('Nothing matches “zzzz”.').waitFor()
  })

  t.test('a domain is set, changed and taken away, each with undo', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: pageOf('asset', dataset('revenue')) })
    const chip = page.getByTestId('domain')
    const choose = async (name: string): Promise<void> => {
      await setDomain(page, name)
      await page.getByTestId('domain').filter({ hasText: name }).waitFor()
    }
    await page.getByRole('button', { name: 'Set domain' }).click()
    await choose('Finance')
    await chooseIn(page, 'Domain', 'Change domain')
    await choose('Sales')
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await chip.filter({ hasText: 'Finance' }).waitFor()
    await chooseIn(page, 'Domain', 'Take out of its domain')
    await chip.filter({ hasText: 'No domain' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await chip.filter({ hasText: 'Finance' }).waitFor()
    const { body } = await server.graphql(
      'query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }',
      {
        urn: dataset('revenue')
      }
    )
    t.match(body, { data: { dataset: { domain: { domain: { urn: 'urn:li:domain:finance' } } } } })
  })

  t.test('the page of an asset shows all its details', async (t) => {
    const { page, goTo } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('asset', dataset('revenue'))
    })
    const main = page.getByRole('main')
    await page.getByText('what revenue holds').waitFor()
    t.match(await main.innerText(), /pii[\s\S]*team[\s\S]*shop/)
    t.equal(await page.getByTestId('upstream-count').innerText(), '1 upstream')
    t.equal(await page.getByTestId('downstream-count').innerText(), '1 downstream')
    t.equal(await page.getByRole('link', { name: 'at https://wiki.example/revenue' }).count(), 1)
    t.equal(await main.locator('a[href^="javascript:"]').count(), 0, 'only web addresses open by a click')
    await goTo(pageOf('asset', dataset('revenue'), '&tab=columns'))
    await page.getByText('about total').waitFor()
    await goTo(pageOf('asset', dataset('revenue'), '&tab=statements'))
    await page.getByRole('row').filter({ hasText: 'upstreamLineage' }).first().waitFor()
    t.equal(await page.getByRole('row').filter({ hasText: 'upstreamLineage' }).count(), 2)
    await goTo(pageOf('asset', dataset('revenue'), '&tab=raw'))
    await page.getByRole('region', { name: 'datasetProperties' }).waitFor()
  })

  t.test('the start page shows the most connected assets, with the numbers of the API', async (t) => {
    const { page } = await openPage(t, browser, { url, token })
    const section = page.getByRole('region', { name: 'Most connected' })
    const link = section.getByRole('link', { name: /upstream/ }).first()
    await link.waitFor()
    const { body } = await server.graphql(
      '{ mostConnected(input: { count: 6 }) { entity { urn } upstreamCount downstreamCount } }'
    )
    const shown = await section.getByRole('listitem').all()
    t.equal(shown.length, body.data.mostConnected.length)
    for (const [index, { entity, upstreamCount, downstreamCount }] of body.data.mostConnected.entries()) {
      const row = shown[index]
      t.equal(await row?.locator('a').first().getAttribute('title'), entity.urn)
      t.match(await row?.innerText(), `${upstreamCount} upstream, ${downstreamCount} downstream`)
    }
    await link.click()
    await page.locator('[data-node]').first().waitFor()
  })

  t.test('every page can be copied as a link, as GraphQL that answers, and as a command', async (t) => {
    const { page, goTo } = await openPage(t, browser, { url, token })
    const copied = async (name: string): Promise<string> => {
      await page.evaluate("navigator.clipboard.writeText('')")
      await (await openBarMenu(page, 'Copy')).getByRole('button', { name, exact: true }).click()
      await until(page, "navigator.clipboard.readText().then((text) => text !== '')")
      return String(await page.evaluate('navigator.clipboard.readText()'))
    }
    for (const path of [
      '',
      'search?q=rev*&f=platform%3Aurn%3Ali%3AdataPlatform%3Ahive',
      pageOf('asset', dataset('revenue')),
      pageOf('asset', dataset('revenue'), '&tab=impact'),
      pageOf('lineage', dataset('revenue')),
      pageOf('edit-lineage', dataset('revenue')),
      'domains',
      pageOf('domains', 'urn:li:domain:finance'),
      'loads',
      'tokens'
    ]) {
      await goTo(path)
      t.equal(await copied('Copy link'), page.url(), path)
      t.match(await copied('Copy as command'), /^(tributary|curl) /, path)
      const { query, variables } = JSON.parse(await copied('Copy as GraphQL'))
      const { body } = await server.graphql(query, variables)
      t.equal(body.errors, undefined, `${path}: ${JSON.stringify(body.errors)}`)
    }
  })

  t.test('older versions of an aspect are read on its page', async (t) => {
    await propose(server, dataset('spare'), {
      datasetProperties: { name: 'spare', description: 'newer words' }
    })
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('asset', dataset('spare'), '&tab=raw')
    })
    const aspect = page.getByRole('region', { name: 'datasetProperties' })
    await aspect.getByText('newer words').waitFor()
    await aspect.getByLabel('Version of datasetProperties').selectOption('1')
    await aspect.getByText('what spare holds').waitFor()
  })

  t.test('edges are added and removed after a preview of their effect, with undo', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('edit-lineage', dataset('revenue'))
    })
    const upstream = page.getByRole('region', { name: 'Upstream: what it is made from' })
    await upstream.locator('summary').click()
    await upstream.getByRole('combobox').fill('spare')
    await upstream.getByRole('option', { name: 'spare' }).click()
    await upstream.getByRole('button', { name: 'Remove the edge with orders' }).click()
    const preview = page.getByRole('region', { name: 'What would change' })
    await preview.getByText('2 assets become downstream of spare: revenue, report').waitFor()
    await preview.getByText('2 assets are no longer downstream of orders: revenue, report').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The lineage has been changed.').waitFor()
    const upstreams = async (): Promise<string[]> => {
      const { body } = await server.graphql(
        'query ($urn: String!) { dataset(urn: $urn) { lineage(input: { direction: UPSTREAM }) { relationships { entity { urn } } } } }',
        { urn: dataset('revenue') }
      )
      return (
        body.data as {
          dataset: { lineage: { relationships: { entity: { urn: string } }[] } }
        }
      ).dataset.lineage.relationships.map(({ entity }) => entity.urn)
    }
    t.strictSame(await upstreams(), [dataset('spare')])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('The change has been undone.').waitFor()
    t.strictSame(await upstreams(), [dataset('orders')])
  })

  t.test('columns are connected by keyboard and by drag', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('edit-lineage', dataset('revenue'))
    })
    const from = page.getByRole('group', { name: 'Columns of orders' })
    const to = page.getByRole('group', { name: 'Columns of revenue' })
    await from.getByRole('button', { name: 'amount' }).press('Enter')
    await to.getByRole('button', { name: 'total' }).press('Enter')
    await page.getByRole('button', { name: 'Connect' }).press('Enter')
    await page.getByText('amount → total').waitFor()
    await from.getByRole('button', { name: 'id' }).dragTo(to.getByRole('button', { name: 'id' }))
    await page.getByText('id → id').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The lineage has been changed.').waitFor()
    const { body } = await server.graphql(
      'query ($urn: String!) { lineageGraph(input: { urn: $urn, columns: true }) { totals { columnEdges } } }',
      { urn: dataset('revenue') }
    )
    t.match(body, { data: { lineageGraph: { totals: { columnEdges: 2 } } } })
  })

  t.test('an address that names no asset shows a page that helps', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'asset?urn=revenue' })
    await page.getByRole('heading', { name: 'This asset is not in the catalog' }).waitFor()
    await page.getByRole('link', { name: 'revenue' }).waitFor()
  })

  t.test('the count of upstreams of a column leads to its lineage', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('asset', dataset('revenue'), '&tab=columns')
    })
    await page.getByRole('link', { name: 'trace the lineage of total' }).click()
    await page.locator('[data-col]').first().waitFor()
    const column = `urn:li:schemaField:(${dataset('revenue')},total)`
    t.equal(await page.locator(`[data-col="${column}"]`).count(), 1)
    t.match(await page.getByRole('main').innerText(), 'Focused on revenue.total')
  })

  t.test('Enter takes no option that was found for an earlier text', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('edit-lineage', dataset('report'))
    })
    const upstream = page.getByRole('region', { name: 'Upstream: what it is made from' })
    await upstream.locator('summary').click()
    const field = upstream.getByRole('combobox')
    await field.fill('orders')
    // Before anything is typed, the list has everything.
    await upstream.getByRole('option', { name: 'spare' }).waitFor({ state: 'detached' })
    await upstream.getByRole('option', { name: 'orders' }).waitFor()
    const answers = await holdAnswers(page)
    await field.fill('spare')
    await field.press('Enter')
    await answers.asked
    await answers.release()
    await upstream.getByRole('option', { name: 'spare' }).waitFor()
    t.equal(await upstream.getByText('new', { exact: true }).count(), 0)
    await field.press('Enter')
    await upstream.getByRole('listitem').filter({ hasText: 'spare' }).waitFor()
  })

  t.test('a tab continues after the same person has signed in again in another tab', async (t) => {
    const { page, context, complaints } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('asset', dataset('spare'))
    })
    await page.getByRole('heading', { name: 'spare', level: 1 }).waitFor()
    await context.request.post(`${url}/session`, { data: { token } })
    await page.getByRole('button', { name: 'Set domain' }).click()
    await setDomain(page, 'Sales')
    await page.getByTestId('domain').filter({ hasText: 'Sales' }).waitFor()
    t.ok(
      complaints.every((text) => text.includes('403')),
      'the browser notes the refusals'
    )
    complaints.length = 0
  })

  t.test('a request on its way while another tab signs in is answered, and the page stays', async (t) => {
    const { page, context, complaints } = await openPage(t, browser, {
      url,
      token,
      path: pageOf('asset', dataset('spare'))
    })
    await page.getByRole('heading', { name: 'spare', level: 1 }).waitFor()
    const ended = await context.cookies()
    await context.request.post(`${url}/session`, { data: { token } })
    const answered: number[] = []
    await page.route(
      '**/api/graphql',
      async (route) => {
        const cookie = ended.map(({ name, value }) => `${name}=${value}`).join('; ')
        const response = await route.fetch({ headers: { ...route.request().headers(), cookie } })
        answered.push(response.status())
        await route.fulfill({ response })
      },
      { times: 1 }
    )
    await page.getByRole('link', { name: 'Impact', exact: true }).click()
    await page.getByText('No downstream is known.').first().waitFor()
    t.strictSame(answered, [401])
    await page.getByRole('heading', { name: 'spare', level: 1 }).waitFor()
    t.ok(
      complaints.every((text) => /401|403/.test(text)),
      'the browser notes the refusals'
    )
    complaints.length = 0
  })

  t.test('every page has a title of its own', async (t) => {
    const { page, goTo } = await openPage(t, browser, { url, token })
    const titles: string[] = []
    for (const path of ['', 'search?q=*', 'domains', 'loads', 'tokens']) {
      await goTo(path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      titles.push(await page.title())
    }
    t.strictSame(titles, [
      'Tributary',
      'Search · Tributary',
      'Domains · Tributary',
      'Loads · Tributary',
      'Tokens · Tributary'
    ])
  })

  t.test('a token that may only read sees no buttons for changes', async (t) => {
    const reader = await server.tokenWith(['read'])
    const { page, goTo } = await openPage(t, browser, {
      url,
      token: reader,
      path: pageOf('asset', dataset('report'))
    })
    await page.getByRole('heading', { name: 'report', level: 1 }).waitFor()
    t.equal(await page.getByRole('button', { name: 'Set domain' }).count(), 0)
    t.equal(await page.getByRole('link', { name: 'Edit lineage' }).count(), 0)
    await goTo(pageOf('edit-lineage', dataset('report')))
    await page.getByText('Your token may only read.').waitFor()
  })

  t.test('texts of the catalog are shown as text, whatever they contain', async (t) => {
    const urn = `urn:li:dataset:(urn:li:dataPlatform:hive,x'${hostile.replaceAll(/[(),\s]/g, '')},PROD)`
    await propose(server, urn, {
      datasetProperties: {
        name: hostile,
        description: hostile,
        customProperties: { [hostile]: hostile },
        externalUrl: 'javascript:document.title="pwned"'
      },
      upstreamLineage: { upstreams: [{ dataset: dataset('orders'), type: 'COPY' }] }
    })
    const { page, goTo } = await openPage(t, browser, { url, token, path: pageOf('asset', urn) })
    for (const tab of ['details', 'impact', 'statements', 'raw']) {
      await goTo(pageOf('asset', urn, `&tab=${tab}`))
      await page.getByRole('heading', { name: 'img src=x', level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      t.not(await page.title(), 'pwned', tab)
      t.equal(await page.locator('main img, main script').count(), 0, tab)
    }
    await goTo(`search?q=${encodeURIComponent(hostile)}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await goTo(pageOf('edit-lineage', urn))
    await page.getByRole('heading', { name: 'Edit the lineage' }).waitFor()
    t.not(await page.title(), 'pwned')
  })

  t.test('sign-in leads only to pages of this UI', async (t) => {
    const { page, complaints } = await openPage(t, browser, {
      url,
      token: null,
      path: 'sign-in?next=//evil.example/'
    })
    await page.getByLabel('Access token', { exact: true }).fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: '5 assets in the catalog' }).waitFor()
    t.match(page.url(), `${url}/ui/`)
    complaints.length = 0
  })

  t.test(
    'no page has a fault that axe-core finds, in either theme, nor scrolls sideways at 320 pixels',
    async (t) => {
      for (const theme of ['light', 'dark'] as const)
        for (const path of [
          '',
          'search?q=*',
          pageOf('asset', dataset('revenue')),
          pageOf('asset', dataset('revenue'), '&tab=columns'),
          pageOf('asset', dataset('revenue'), '&tab=statements'),
          pageOf('asset', dataset('revenue'), '&tab=raw'),
          pageOf('edit-lineage', dataset('revenue')),
          pageOf('asset', 'urn:li:dataset:(urn:li:dataPlatform:hive,nothing,PROD)'),
          'reference'
        ]) {
          const { page } = await openPage(t, browser, { url, token, path, theme, reducedMotion: true })
          await page.getByRole('heading').first().waitFor()
          await page.waitForLoadState('networkidle')
          t.strictSame(await violationsOf(page), [], `${theme} ${path}`)
          if (theme === 'light') {
            await page.setViewportSize({ width: 320, height: 640 })
            t.equal(await isTooWide(page), false, `${path} at 320 pixels`)
          }
        }
    }
  )

  t.test('the explorer sends requests as the signed-in person', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'explorer' })
    // The editor is ready when it shows the first query; before that there is nothing to execute.
    await page.locator('.graphiql-query-editor').filter({ hasText: 'searchAcrossEntities' }).waitFor()
    await page.getByRole('button', { name: 'Execute query' }).click()
    await page.locator('.result-window').filter({ hasText: 'searchResults' }).waitFor()
  })
})
