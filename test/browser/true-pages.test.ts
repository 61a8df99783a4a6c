/** Pages on a catalog of 4,000 assets in a browser: what they count and list is what the API answers. */
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openPage, skipWithoutChromium, withBrowser } from '../support/browser.ts'
import { csvRecords, ndjsonLines } from '../support/export-files.ts'
import {
  aspectRecord,
  chart,
  column,
  dataset,
  domain,
  loadLargeCatalog,
  loadRecords,
  readers,
  start
} from '../support/large-catalog.ts'
import { withServer, type TestServer } from '../support/server.ts'

type Stage = { server: TestServer; browser: Browser; url: string; token: string }

const pathOf = (urn: string, query = ''): string => `asset?urn=${encodeURIComponent(urn)}${query}`

async function downloadOf(page: Page): Promise<{ [name: string]: string }[]> {
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: /^Export CSV/ }).click()
  return csvRecords(readFileSync(await (await downloading).path(), 'utf8'))
}

t.test('pages of a catalog of 4,000 assets', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const { url, token } = server
  const browser = await withBrowser(t)
  await loadLargeCatalog(server)
  const stage: Stage = { server, browser, url, token }

  await t.test('the impact of a column has the domains and owners of its assets', (t) =>
    impactOfColumn(t, stage)
  )
  await t.test('a filter of search by domain includes its sub-domains', (t) => searchByDomain(t, stage))
  await t.test('the provenance of an asset has its own edges only', (t) => provenance(t, stage))
  await t.test('a list that is cut says so, and can be shown whole', (t) => cutLists(t, stage))
  await t.test('a load says what became of its records, and why some were rejected', (t) => rejects(t, stage))
  await t.test('entities of every type have the name and facts of the catalog, and only their actions', (t) =>
    entityPages(t, stage)
  )
  await t.test('a page whose script does not come says so', (t) => missingScripts(t, stage))
})

type Row = { degree: number; entity: RowEntity & { parent?: RowEntity } }
type RowEntity = { urn: string; type: string; ownership?: { owners: { owner: { urn: string } }[] } | null }

const impact = `query ($counts: LineageCountsInput!, $rows: ScrollAcrossLineageInput!) {
  lineageCounts(input: $counts) { total domains { domain { urn } count } }
  scrollAcrossLineage(input: $rows) { total searchResults { degree entity { ...owned ... on SchemaFieldEntity { parent { ...owned } } } } }
}
fragment owners on Ownership { owners { owner { ... on CorpUser { urn } ... on CorpGroup { urn } } } }
fragment owned on Entity { urn type
  ... on Dataset { ownership { ...owners } } ... on Chart { ownership { ...owners } } ... on Dashboard { ownership { ...owners } } }`

async function impactOfColumn(t: Test, { server, browser, url, token }: Stage): Promise<void> {
  const urn = column(start, 'amount')
  const groupingSpec = {
    groupingCriteria: [{ baseEntityType: 'SCHEMA_FIELD', groupingEntityType: 'SCHEMA_FIELD' }]
  }
  const { body } = await server.graphql(impact, {
    counts: { urn, direction: 'DOWNSTREAM', searchFlags: { groupingSpec } },
    rows: { urn, direction: 'DOWNSTREAM', foldColumns: false, count: 1_000 }
  })
  const { lineageCounts, scrollAcrossLineage } = body.data
  const rows: Row[] = scrollAcrossLineage.searchResults
  const ownersOf = ({ entity }: Row) =>
    (entity.parent ?? entity).ownership?.owners.map(({ owner }) => owner.urn) ?? []
  const domains = lineageCounts.domains.filter((each: { domain: object | null }) => each.domain)
  const owners = new Set(rows.flatMap(ownersOf))
  t.equal(domains.length, 18)
  t.equal(owners.size, 19)
  const dashboards = rows.filter(({ entity }) => entity.type === 'DASHBOARD')
  t.equal(dashboards.length, 2)

  const { page } = await openPage(t, browser, { url, token, path: pathOf(start, '&tab=impact&col=amount') })
  await page
    .getByTestId('impact-showing')
    .filter({ hasText: `all ${rows.length}` })
    .waitFor()
  await page.getByRole('heading', { name: `${domains.length} domains affected`, exact: true }).waitFor()
  await page.getByRole('heading', { name: `${owners.size} owners affected`, exact: true }).waitFor()
  const exported = await downloadOf(page)
  t.strictSame(
    exported.map((row) => [row.urn, row.owners]),
    rows.map((row) => [row.entity.urn, ownersOf(row).join(' ')])
  )
  for (const { entity } of dashboards) {
    const row = page.locator(`[data-row="${entity.urn}"]`)
    await page.getByRole('searchbox', { name: /^Text in name/ }).fill(entity.urn)
    await row.waitFor()
  }
  await page.getByRole('searchbox', { name: /^Text in name/ }).fill('')
  await page
    .getByTestId('impact-showing')
    .filter({ hasText: `all ${rows.length}` })
    .waitFor()
  const [first] = domains
  await page.getByRole('combobox', { name: 'Domain', exact: true }).selectOption(first.domain.urn)
  await page
    .getByTestId('impact-showing')
    .filter({ hasText: `all ${first.count}` })
    .waitFor()
  t.equal((await downloadOf(page)).length, first.count)
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.getByRole('combobox', { name: 'Column', exact: true }).selectOption('')
  await page.getByRole('heading', { name: '18 domains affected', exact: true }).waitFor()
  const whole = await downloadOf(page)
  t.equal(whole.find((row) => row.name === 'reader0')?.owners, 'urn:li:corpuser:owner0 urn:li:corpuser:ada')
}

async function searchByDomain(t: Test, { server, browser, url, token }: Stage): Promise<void> {
  const { page } = await openPage(t, browser, { url, token, path: 'search?q=*' })
  const facet = page.getByRole('group', { name: 'Domain', exact: true })
  for (const index of [0, 3, 5]) {
    const { body } = await server.graphql(
      'query ($urn: String!) { domain(urn: $urn) { direct: entities(input: { count: 0 }) { total } whole: entities(input: { count: 0, includeDescendants: true }) { total } } }',
      { urn: domain(`area${index}`) }
    )
    const { direct, whole } = body.data.domain
    t.ok(direct.total < whole.total, `${direct.total} of ${whole.total}`)
    const option = facet.locator('label').filter({ has: page.getByText(`Area ${index}`, { exact: true }) })
    t.match(await option.innerText(), new RegExp(`${whole.total}$`))
    await option.getByRole('checkbox').check()
    await page.getByRole('heading', { level: 1, name: `${whole.total} results`, exact: true }).waitFor()
    await page.getByRole('link', { name: new RegExp(`^Remove filter Area ${index}`) }).click()
    await page.getByRole('link', { name: /^Remove filter/ }).waitFor({ state: 'detached' })
  }
}

async function provenance(t: Test, { server, browser, url, token }: Stage): Promise<void> {
  for (const [urn, count] of [
    [start, readers.length],
    [readers[3] ?? start, 4],
    [readers[20] ?? start, 1],
    [chart('chart0'), 2]
  ] as const) {
    const { body } = await server.graphql(
      `query ($urn: String!) {
        up: entity(urn: $urn) { ... on EntityWithRelationships { lineage(input: { direction: UPSTREAM, count: 0 }) { total } } }
        down: entity(urn: $urn) { ... on EntityWithRelationships { lineage(input: { direction: DOWNSTREAM, count: 0 }) { total } } }
      }`,
      { urn }
    )
    t.equal(body.data.up.lineage.total + body.data.down.lineage.total, count)
    const { page } = await openPage(t, browser, { url, token, path: pathOf(urn, '&tab=statements') })
    const rows = page.locator('[data-row]')
    await rows.first().waitFor()
    const keys = await Promise.all((await rows.all()).map((row) => row.getAttribute('data-row')))
    t.ok(keys.every((key) => key?.includes(urn)))
    t.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), String(count + 1))
  }
}

async function cutLists(t: Test, { server, browser, url, token }: Stage): Promise<void> {
  const { page, goTo } = await openPage(t, browser, { url, token, path: pathOf(start, '&tab=impact') })
  for (const [list, count] of [
    ['domains-affected', 18],
    ['owners-affected', 19]
  ] as const) {
    const links = page.getByTestId(list).getByRole('link').filter({ hasNotText: 'In no domain' })
    const button = page.getByTestId(list).getByRole('button')
    await button.filter({ hasText: `Show all ${count}` }).waitFor()
    t.equal(await links.count(), 12)
    await button.click()
    t.equal(await links.count(), count)
    await button.filter({ hasText: 'Show fewer' }).click()
    t.equal(await links.count(), 12)
  }
  await goTo('search?q=*')
  const facet = page.getByRole('group', { name: 'Domain', exact: true })
  await facet.getByRole('button', { name: 'Show all 24' }).click()
  t.equal(await facet.getByRole('checkbox').count(), 25, 'those of the top level, the sub-domains, and none')
  // More domains than the list of a choice has.
  await loadRecords(
    server,
    Array.from({ length: 60 }, (_, index) => ({
      op: 'createDomain',
      id: `more${index}`,
      name: `More ${index}`
    }))
  )
  await goTo(pathOf(start))
  await page.getByRole('button', { name: 'Set domain' }).click()
  await page.getByText('50 of 84 domains are listed.').waitFor()
}

async function rejects(t: Test, { server, browser, url, token }: Stage): Promise<void> {
  const bad = (name: string) => ({ upstreamUrn: dataset(name), downstreamUrn: start })
  const good = [readers[0], readers[1]].map((urn) => ({ op: 'upsertEntity', urn, name: 'named again' }))
  const query = '&missingReferences=reject'
  const submit = (records: readonly object[], more = '') =>
    loadRecords(server, records, { query: `${query}${more}`, rejects: true })
  const some = await submit([...good, bad('absent'), { op: 'nonsense' }, { op: 'nonsense' }])
  const none = await submit(good)
  const all = await submit([bad('absent')])
  const tried = await submit(
    [...good.map((record) => ({ ...record, name: 'tried' })), bad('absent')],
    '&dryRun=true'
  )
  const { page, goTo } = await openPage(t, browser, { url, token, path: `loads?id=${some.id}` })
  const chip = page.locator('[data-state="done"]')
  const shows = async (id: string, words: string, tone: string): Promise<void> => {
    await goTo(`loads?id=${id}`)
    await chip.waitFor()
    t.equal(await chip.innerText(), words)
    t.match(await chip.getAttribute('class'), new RegExp(`\\b${tone}\\b`))
    await goTo('loads')
    const inList = page.locator(`[data-row="${id}"] [data-state]`)
    await inList.waitFor()
    t.equal(await inList.innerText(), words, 'and in the list')
  }
  await shows(some.id, 'Done · 3 rejected', 'warn')
  await shows(none.id, 'Done', 'good')
  await shows(all.id, 'Done · 1 rejected', 'bad')
  await shows(tried.id, 'Dry run · Done · 1 would be rejected', 'warn')

  await goTo(`loads?id=${tried.id}`)
  await page.getByText('2 would be applied').waitFor()
  t.notMatch(await page.getByRole('main').innerText(), /\d applied/)
  await goTo(`loads?id=${some.id}`)
  const { text } = await server.rest({ url: `/loads/${some.id}/rejects` })
  const messages = [...new Set(ndjsonLines<{ message: string }>(text).map(({ message }) => message))]
  t.equal(messages.length, 2)
  const reasons = page.getByRole('list', { name: 'Why' })
  for (const message of messages) {
    const reason = reasons.getByRole('listitem').filter({ hasText: message })
    await reason.waitFor()
    const box = await reason.boundingBox()
    t.ok(box && box.width < 1_280, 'in full, not beyond the edge')
  }
  t.match(await reasons.innerText(), /^2 records, /)
}

async function missingScripts(t: Test, { browser, url, token }: Stage): Promise<void> {
  const { page, complaints, goTo } = await openPage(t, browser, { url, token })
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const [name, script] of [
    ['domains', '**/assets/domains-*.js'],
    ['loads', '**/assets/loads-*.js'],
    ['tokens', '**/assets/tokens-*.js']
  ] as const) {
    await page.route(script, (route) => route.abort())
    await page.getByRole('navigation').getByRole('link', { name, exact: false }).first().click()
    await page.getByText('The script of the page could not be loaded').waitFor()
    await page.unroute(script)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    t.equal(new URL(page.url()).pathname, `/ui/${name}`)
  }
  for (const name of ['', 'explorer', 'reference']) {
    await page.route('**/assets/*.js', (route) => route.abort())
    await goTo(name)
    const reload = page.getByRole('link', { name: 'reload the page' })
    await reload.waitFor()
    await page.unroute('**/assets/*.js')
    await reload.click()
    await reload.waitFor({ state: 'detached' })
  }
  t.strictSame(
    complaints.filter((text) => !/ERR_FAILED|dynamically imported|script of the page/.test(text)),
    []
  )
  complaints.length = 0
}

async function entityPages(t: Test, { server, browser, url, token }: Stage): Promise<void> {
  const [product, tag, term, group, ada] = [
    'urn:li:dataProduct:p1',
    'urn:li:tag:t1',
    'urn:li:glossaryTerm:g1',
    'urn:li:corpGroup:c1',
    'urn:li:corpuser:ada'
  ] as const
  const placeholder = dataset('only.mentioned')
  await loadRecords(server, [
    aspectRecord('dataProduct', product, 'dataProductProperties', {
      name: 'Revenue',
      description: 'all revenue',
      assets: [{ destinationUrn: start }]
    }),
    { op: 'setDomain', entityUrn: product, domainUrn: domain('area1') },
    aspectRecord('tag', tag, 'tagProperties', { name: 'Personal', description: 'about people' }),
    aspectRecord('glossaryTerm', term, 'glossaryTermInfo', {
      name: 'Turnover',
      definition: 'what is sold',
      termSource: 'INTERNAL'
    }),
    { op: 'setDomain', entityUrn: term, domainUrn: domain('area2') },
    aspectRecord('corpuser', ada, 'corpUserInfo', {
      active: true,
      displayName: 'Ada L.',
      title: 'Engineer',
      email: 'ada@example.org'
    }),
    aspectRecord('corpGroup', group, 'corpGroupInfo', {
      displayName: 'Crew',
      description: 'who works here',
      admins: [],
      members: [],
      groups: []
    }),
    aspectRecord('dataset', start, 'globalTags', { tags: [{ tag }] }),
    { upstreamUrn: placeholder, downstreamUrn: start }
  ])
  const { page, goTo } = await openPage(t, browser, { url, token })
  const main = page.getByRole('main')
  const opens = async (urn: string, name: string, texts: readonly string[]): Promise<void> => {
    await goTo(pathOf(urn))
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    for (const text of texts) await main.getByText(text, { exact: true }).first().waitFor()
    t.equal(await main.getByText('Nobody has described it.').count(), texts.length === 0 ? 1 : 0, name)
  }
  const setDomain = main.locator('summary, button').filter({ hasText: /^(Set domain|Domain)$/ })
  await opens(product, 'Revenue', ['all revenue', 'Area 1'])
  t.equal(await setDomain.count(), 1)
  await main
    .getByRole('region', { name: 'Assets' })
    .getByRole('link', { name: 'start', exact: true })
    .waitFor()
  await opens(term, 'Turnover', ['what is sold', 'Area 2'])
  t.equal(await setDomain.count(), 1)
  await opens(tag, 'Personal', ['about people'])
  t.equal(await setDomain.count(), 0)
  await opens(group, 'Crew', ['who works here'])
  t.equal(await setDomain.count(), 0)
  await goTo(pathOf(ada))
  await page.getByRole('heading', { level: 1, name: 'Ada L.', exact: true }).waitFor()
  await main.getByText('User · Engineer').waitFor()
  t.equal(
    await main.getByRole('link', { name: 'ada@example.org' }).getAttribute('href'),
    'mailto:ada@example.org'
  )
  t.equal(await setDomain.count(), 0)
  t.equal(await main.getByTestId('domain').count(), 0, 'a user is in no domain, and the page denies none')
  await opens(column(start, 'amount'), 'start.amount', ['what amount means', 'int'])
  t.equal(await setDomain.count(), 0)
  t.equal(await main.getByRole('link', { name: 'Edit lineage' }).count(), 0)
  const { body } = await server.graphql(
    'query ($urn: String!) { scrollAcrossLineage(input: { urn: $urn, direction: DOWNSTREAM, foldColumns: false }) { total } }',
    { urn: column(start, 'amount') }
  )
  const { total } = body.data.scrollAcrossLineage
  await page
    .getByTestId('downstream-count')
    .filter({ hasText: `${total} downstream` })
    .click()
  await page
    .getByTestId('impact-showing')
    .filter({ hasText: `all ${total}` })
    .waitFor()
  t.equal((await downloadOf(page)).length, total)
  await goTo(pathOf(column(readers[0] ?? start, 'total')))
  await page.getByTestId('domain').filter({ hasText: 'Part 0' }).waitFor()
  await main.getByRole('link', { name: 'Ada L.', exact: true }).waitFor()
  await goTo(pathOf(start))
  await main.getByRole('link', { name: 'Personal', exact: true }).waitFor()
  await goTo(pathOf(placeholder))
  await page.getByText('Nothing describes this asset yet').waitFor()
  t.equal(await setDomain.count(), 0)
  await goTo(pathOf(start, '&tab=impact&dir=up'))
  await page.locator(`[data-row="${placeholder}"]`).waitFor()
  t.equal(await page.locator(`[data-row="${placeholder}"]`).getByRole('checkbox').isDisabled(), true)
}
