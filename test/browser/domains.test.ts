/**
 * The page of domains in a browser: the tree and its keys, counts, changes, many assets at once, lineage
 * between domains.
 */
import t from 'tap'
import type { Page } from 'playwright-core'
import {
  chooseIn,
  isTooWide,
  openMenu,
  openPage,
  press,
  skipWithoutChromium,
  violationsOf,
  withBrowser
} from '../support/browser.ts'
import { withServer, type TestServer } from '../support/server.ts'

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const domainUrn = (id: string): string => `urn:li:domain:${id}`

async function load(server: TestServer, records: readonly object[]): Promise<void> {
  const answer = await server.rest({
    method: 'POST',
    url: '/loads?format=ndjson&wait=25',
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' }
  })
  let { body, text } = answer
  // A machine that does other work too may need longer than one answer waits.
  while (['accepted', 'applying'].includes(body.state))
    ({ body, text } = await server.rest({ url: `/loads/${body.id}?wait=25` }))
  if (body.state !== 'done' || body.counts.rejected > 0) throw new Error(text)
}

const create = (id: string, name: string, parent?: string) => ({
  op: 'createDomain',
  id,
  name,
  ...(parent ? { parentDomain: domainUrn(parent) } : {})
})
const member = (name: string, domain: string) => [
  { op: 'upsertEntity', urn: dataset(name) },
  { op: 'setDomain', entityUrn: dataset(name), domainUrn: domainUrn(domain) }
]

/** The tree as it is shown: names in order. */
const namesIn = (page: Page): Promise<string[]> => page.locator('.tree-row .tree-name').allInnerTexts()
const row = (page: Page, id: string) => page.locator(`[data-domain="${domainUrn(id)}"]`)

type MapEdge = { upstreamKey: string; downstreamKey: string; edgeCount: number }

t.test('the page of domains', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  const { url, token } = server
  await load(server, [
    create('sales', 'Sales'),
    create('orders', 'Orders', 'sales'),
    create('returns', 'Returns', 'orders'),
    create('finance', 'Finance'),
    ...['s1', 's2'].flatMap((name) => member(name, 'sales')),
    ...['o1', 'o2', 'o3'].flatMap((name) => member(name, 'orders')),
    ...member('r1', 'returns'),
    ...member('f1', 'finance'),
    ...['x1', 'x2', 'x3'].map((name) => ({ op: 'upsertEntity', urn: dataset(name) })),
    { upstreamUrn: dataset('o1'), downstreamUrn: dataset('f1') },
    { upstreamUrn: dataset('o2'), downstreamUrn: dataset('f1') },
    { upstreamUrn: dataset('s1'), downstreamUrn: dataset('o1') },
    { upstreamUrn: dataset('s1'), downstreamUrn: dataset('o3') },
    { upstreamUrn: dataset('r1'), downstreamUrn: dataset('s2') }
  ])

  t.test('loads only the top level, and the children of each opened domain once', async (t) => {
    const { page } = await openPage(t, browser, { url, token })
    const asked: (string | null)[] = []
    page.on('request', (request) => {
      const body = request.postData() ?? ''
      if (body.includes('query domainLevel(')) asked.push(JSON.parse(body).variables.parent)
    })
    await page.getByRole('link', { name: 'Domains', exact: true }).click()
    await row(page, 'sales').waitFor()
    t.strictSame(await namesIn(page), ['Finance', 'Sales'])
    t.strictSame(asked, [null])
    await row(page, 'sales').locator('.tree-toggle').click()
    await row(page, 'orders').waitFor()
    await row(page, 'sales').locator('.tree-toggle').click()
    await row(page, 'orders').waitFor({ state: 'detached' })
    await row(page, 'sales').locator('.tree-toggle').click()
    await row(page, 'orders').waitFor()
    t.strictSame(asked, [null, domainUrn('sales')])
  })

  t.test('moves in the tree by keyboard', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'domains' })
    await row(page, 'finance').waitFor()
    await row(page, 'finance').focus()
    const focused = () => page.evaluate('document.activeElement?.dataset.domain')
    const steps: [string, string][] = [
      ['ArrowDown', 'sales'],
      ['Home', 'finance'],
      ['End', 'sales'],
      ['ArrowUp', 'finance'],
      ['s', 'sales']
    ]
    for (const [key, id] of steps) {
      await page.keyboard.press(key)
      t.equal(await focused(), domainUrn(id), key)
    }
    await page.keyboard.press('ArrowRight')
    await row(page, 'orders').waitFor()
    t.equal(await row(page, 'sales').getAttribute('aria-expanded'), 'true')
    await press(page, 'ArrowRight', 'ArrowRight')
    await row(page, 'returns').waitFor()
    await page.keyboard.press('ArrowRight')
    t.equal(await focused(), domainUrn('returns'))
    t.equal(await row(page, 'returns').getAttribute('aria-level'), '3')
    await press(page, 'ArrowLeft', 'ArrowLeft')
    t.equal(await focused(), domainUrn('orders'))
    t.equal(await row(page, 'orders').getAttribute('aria-expanded'), 'false')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor()
  })

  t.test('counts the listed assets, with sub-domains and without', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: `domains?urn=${domainUrn('sales')}` })
    const counts = page.getByTestId('domain-counts')
    await counts.waitFor()
    t.equal(await counts.innerText(), '2 direct, 6 with sub-domains')
    await page
      .getByTestId('members-showing')
      .filter({ hasText: /^Showing all 6$/ })
      .waitFor()
    const grid = page.getByRole('grid', { name: 'Assets: Sales' })
    t.equal(await grid.locator('[data-row]').count(), 6)
    await row(page, 'sales').filter({ hasText: '6 assets' }).waitFor()
    await page.getByRole('switch', { name: 'Include sub-domains' }).click()
    await page
      .getByTestId('members-showing')
      .filter({ hasText: /^Showing all 2$/ })
      .waitFor()
    t.equal(await grid.locator('[data-row]').count(), 2)
    t.match(await row(page, 'sales').innerText(), /2/)
    t.equal(new URL(page.url()).searchParams.get('sub'), 'off')
    await page.getByRole('searchbox', { name: 'Find among these assets' }).fill('s2')
    await page
      .getByTestId('members-showing')
      .filter({ hasText: /^Showing all 1$/ })
      .waitFor()
  })

  t.test('creates, renames and deletes domains, and says what each change affects', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'domains' })
    await page.getByRole('button', { name: 'New domain' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('<i>Legal</i>')
    await page.getByRole('dialog').getByRole('button', { name: 'New domain' }).click()
    await page.getByRole('heading', { name: '<i>Legal</i>', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'New domain' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('<i>Legal</i>')
    await page.getByRole('dialog').getByRole('button', { name: 'New domain' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await chooseIn(page, 'More', 'Rename or describe')
    await page.getByRole('textbox', { name: 'Name' }).fill('Law')
    await page.getByRole('textbox', { name: 'Description' }).fill('Contracts')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Law', level: 1 }).waitFor()
    await page.getByText('Contracts').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { name: '<i>Legal</i>', level: 1 }).waitFor()
    await chooseIn(page, 'More', 'Delete')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('It contains no assets.').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('<i>Legal</i> is deleted.').waitFor()
    await row(page, 'sales').click()
    await chooseIn(page, 'More', 'Delete')
    await dialog.getByText('It has 1 sub-domain. Move or delete it first.').waitFor()
    await dialog.getByText('2 assets will be in no domain:').waitFor()
    t.equal(await dialog.getByRole('button', { name: 'Delete' }).isDisabled(), true)
  })

  t.test(
    'moves a domain by a dialog with the keyboard, takes it back, and moves it by dragging',
    async (t) => {
      const { page } = await openPage(t, browser, { url, token, path: `domains?urn=${domainUrn('orders')}` })
      const parentOf = async () =>
        (
          await server.graphql(
            `{ domain(urn: "${domainUrn('orders')}") { parentDomains { domains { urn } } } }`
          )
        ).body.data.domain.parentDomains.domains
      await openMenu(page, 'More')
      await page.getByRole('button', { name: 'Move' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByLabel('Find the domain').waitFor()
      await page.keyboard.type('Finance')
      const choice = page.getByRole('radio', { name: 'Finance' })
      await choice.waitFor()
      t.equal(await page.getByRole('radio', { name: /Returns/ }).count(), 0, 'not below itself')
      await choice.focus()
      await page.keyboard.press(' ')
      await page.keyboard.press('Enter')
      await page.getByText('Orders is now in Finance.').waitFor()
      t.strictSame(await parentOf(), [{ urn: domainUrn('finance') }])
      // Otherwise the path of before the move would be taken for that after the undo.
      await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Finance' }).waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Sales' }).waitFor()
      t.strictSame(await parentOf(), [{ urn: domainUrn('sales') }])
      await row(page, 'orders').waitFor()
      await row(page, 'orders').dragTo(row(page, 'finance'))
      await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Finance' }).waitFor()
      t.strictSame(await parentOf(), [{ urn: domainUrn('finance') }])
      await server.graphql(
        `mutation { moveDomain(input: { resourceUrn: "${domainUrn('orders')}", parentDomain: "${domainUrn('sales')}" }) }`
      )
    }
  )

  t.test('puts many assets into a domain, and takes them out again', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: `domains?urn=${domainUrn('finance')}` })
    await page.getByRole('button', { name: 'Add assets' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add assets to Finance' })
    for (const name of ['x1', 'x2']) {
      await dialog.getByLabel('Search assets').first().fill(name)
      await dialog.getByRole('checkbox', { name: `Choose ${name}` }).check()
    }
    await dialog.getByRole('button', { name: 'Add 2 assets' }).click()
    await page.getByText('2 assets now in Finance.').waitFor()
    await page.getByText('3 direct, 3 with sub-domains').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('1 direct, 1 with sub-domains').waitFor()
    await page.getByRole('button', { name: 'Add assets' }).click()
    for (const name of ['x1', 'x2']) {
      await dialog.getByLabel('Search assets').first().fill(name)
      await dialog.getByRole('checkbox', { name: `Choose ${name}` }).check()
    }
    await dialog.getByRole('button', { name: 'Add 2 assets' }).click()
    await page.getByText('3 direct, 3 with sub-domains').waitFor()
    await page.getByRole('checkbox', { name: 'Choose x1' }).check()
    await page.getByRole('button', { name: 'Take out of the domain' }).click()
    await page.getByText('2 direct, 2 with sub-domains').waitFor()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('3 direct, 3 with sub-domains').waitFor()
    const { body } = await server.graphql(
      `{ domain(urn: "${domainUrn('finance')}") { entities(input: { count: 0 }) { total } } }`
    )
    t.equal(body.data.domain.entities.total, 3)
  })

  t.test('draws lineage between domains with the counts of the API', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'domains' })
    const arrow = page.locator('[data-edge]')
    await arrow.first().waitFor({ state: 'attached' })
    const { body } = await server.graphql('{ lineageMap { edges { upstreamKey downstreamKey edgeCount } } }')
    t.strictSame(
      await Promise.all(
        (await arrow.all()).map(async (each) => [
          await each.getAttribute('data-edge'),
          await each.getAttribute('data-count')
        ])
      ),
      body.data.lineageMap.edges.map((edge: MapEdge) => [
        `${edge.upstreamKey} ${edge.downstreamKey}`,
        String(edge.edgeCount)
      ])
    )
    await page.locator(`svg [data-node="${domainUrn('finance')}"]`).click()
    await page.getByRole('heading', { name: 'Finance', level: 1 }).waitFor()
    await page.getByRole('heading', { name: 'Lineage of Finance with other domains' }).waitFor()
    await page.locator('[data-edge][data-count="2"]').waitFor({ state: 'attached' })
  })

  t.test('draws lineage between the sub-domains of a domain with the counts of the API', async (t) => {
    const { page } = await openPage(t, browser, {
      url,
      token,
      path: `domains?urn=${encodeURIComponent(domainUrn('sales'))}`
    })
    const map = page.getByRole('region', { name: 'Lineage between the sub-domains of Sales' })
    await map.locator('[data-edge]').first().waitFor({ state: 'attached' })
    const { body } = await server.graphql(
      'query ($urn: String!) { lineageMap(input: { domain: $urn }) { edges { upstreamKey downstreamKey edgeCount } } }',
      { urn: domainUrn('sales') }
    )
    const wanted: string[] = body.data.lineageMap.edges.map(
      ({ upstreamKey, downstreamKey, edgeCount }: MapEdge) => `${upstreamKey} ${downstreamKey} ${edgeCount}`
    )
    t.equal(wanted.length, 2)
    const [edge, count, back] = await Promise.all(
      ['data-edge', 'data-count', 'data-back'].map((name) => map.locator('[data-edge]').getAttribute(name))
    )
    t.strictSame(
      [`${edge} ${count}`, `${edge?.split(' ').toReversed().join(' ')} ${back}`].toSorted(),
      wanted.toSorted(),
      'both directions are one arrow'
    )
    await map.locator(`svg [data-node="${domainUrn('orders')}"]`).click()
    await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor()
  })

  t.test('offers no changes to a person who may only read', async (t) => {
    const reader = await server.tokenWith(['read'])
    const { page } = await openPage(t, browser, {
      url,
      token: reader,
      path: `domains?urn=${domainUrn('sales')}`
    })
    await page.getByTestId('domain-counts').waitFor()
    for (const name of ['New domain', 'Add assets'])
      t.equal(await page.getByRole('button', { name }).count(), 0, name)
    t.equal(await page.getByRole('main').locator('summary', { hasText: 'More' }).count(), 0)
  })

  t.test('names a domain that does not exist', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'domains?urn=urn:li:domain:nowhere' })
    await page.getByText('The domain urn:li:domain:nowhere does not exist.').waitFor()
    await row(page, 'sales').click()
    await page.getByRole('heading', { name: 'Sales', level: 1 }).waitFor()
  })

  t.test('passes axe in both themes, and fits into 320 pixels', async (t) => {
    for (const theme of ['light', 'dark'] as const) {
      const { page } = await openPage(t, browser, {
        url,
        token,
        path: `domains?urn=${domainUrn('sales')}`,
        theme,
        reducedMotion: true
      })
      await page.getByRole('grid').waitFor()
      await page.locator('[data-edge]').first().waitFor({ state: 'attached' })
      t.strictSame(await violationsOf(page), [], theme)
      await chooseIn(page, 'More', 'Move')
      await page.getByRole('radio').first().waitFor()
      t.strictSame(await violationsOf(page), [], `${theme}: dialog`)
      await page.keyboard.press('Escape')
      await page.setViewportSize({ width: 320, height: 640 })
      t.equal(await isTooWide(page), false)
    }
  })
})

t.test('ten thousand domains', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  const { url, token } = server
  // A hundred at the top level. Below each there is a chain of five, and its other domains are direct
  // children.
  await load(
    server,
    Array.from({ length: 10_000 }, (_, index) => {
      if (index < 100) return create(`d${index}`, `Domain ${index}`)
      const parent = index < 600 ? index - 100 : index % 100
      return create(`d${index}`, index === 555 ? 'Needle' : `Domain ${index}`, `d${parent}`)
    })
  )
  const { page } = await openPage(t, browser, { url, token })
  await page.getByRole('link', { name: 'Domains', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Domains', exact: true }).click()
  await page.locator('.tree-row').first().waitFor()
  t.ok((await page.locator('.tree-row').count()) <= 60, 'few rows are drawn')
  await page.getByRole('searchbox', { name: 'Find a domain' }).fill('need')
  await page.getByText('1 domain found').waitFor()
  await row(page, 'd555').waitFor()
  t.strictSame(await namesIn(page), [
    'Domain 55',
    'Domain 155',
    'Domain 255',
    'Domain 355',
    'Domain 455',
    'Needle'
  ])
})
