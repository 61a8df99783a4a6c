/**
 * The page of loads in a browser: a file is checked and loaded, progress is live, rejects are shown, a load
 * is retried, cancelled and undone.
 */
import t from 'tap'
import { isTooWide, openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import type { ChunkQueue } from '../../shared/queue/chunk-queue.ts'
import { withServer, type TestServer } from '../support/server.ts'

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const lines = (...records: object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')
const entity = (name: string) => ({ op: 'upsertEntity', urn: dataset(name) })
const edge = (from: string, to: string) => ({ upstreamUrn: dataset(from), downstreamUrn: dataset(to) })

async function submit(server: TestServer, body: string, query = ''): Promise<string> {
  const answer = await server.rest({
    method: 'POST',
    url: `/loads?format=ndjson${query}`,
    body,
    headers: { 'content-type': 'application/x-ndjson' }
  })
  if (answer.status > 202) throw new Error(answer.text)
  return answer.body.id
}

t.test('the page of loads, with a worker', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t, { withWorker: true })
  const browser = await withBrowser(t)
  const { url, token } = server

  t.test('runs a file as a dry run, which changes nothing, and then loads it', async (t) => {
    const { page } = await openPage(t, browser, { url, token, path: 'loads' })
    await page.getByLabel('Choose a file').setInputFiles({
      name: 'mine.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from(lines(entity('a'), entity('b'), edge('a', 'b'), { op: 'removeEdge' }))
    })
    await page.getByRole('combobox', { name: 'Format' }).waitFor()
    t.equal(
      await page.getByRole('combobox', { name: 'Format' }).inputValue(),
      'ndjson',
      'the format is seen by its beginning'
    )
    await page.getByRole('button', { name: /^Dry run/ }).click()
    const tried = page.getByTestId('tried')
    await tried.getByText('Edges: 1 added, 0 removed').waitFor()
    await tried.getByText('Assets and domains: 2 created, 0 deleted; placeholders created: 0').waitFor()
    await tried.getByRole('grid', { name: 'Rejected records' }).waitFor()
    const counted = await server.graphql(`{ entityExists(urn: "${dataset('a')}") }`)
    t.equal(counted.body.data.entityExists, false)
    await page.getByRole('button', { name: 'Load it' }).click()
    await page.getByRole('heading', { name: /^Load [0-9a-f]{8}$/ }).waitFor()
    await page.locator('[data-state="done"]').waitFor()
    const id = new URL(page.url()).searchParams.get('id') ?? ''
    const { counts } = (await server.rest({ url: `/loads/${id}` })).body
    t.match(counts, { received: 4, applied: 3, rejected: 1 })
    for (const kind of ['applied', 'rejected'])
      t.equal(
        await page.locator(`[data-segment="${kind}"]`).getAttribute('data-count'),
        String(counts[kind]),
        `${kind} equals the API`
      )
    t.equal(await page.locator('[data-percent]').getAttribute('data-percent'), '100')
  })

  t.test('shows rejects with line, code, field and record, as plain text', async (t) => {
    const bad = { upstreamUrn: dataset('<img src=x onerror=alert(1)>'), downstreamUrn: dataset('a') }
    const id = await submit(server, lines(entity('a'), bad, { op: 'nonsense' }), '&wait=20')
    const { page } = await openPage(t, browser, { url, token, path: `loads?id=${id}` })
    const row = page.locator('[data-row="2"]')
    await row.waitFor()
    t.equal(await row.locator('[data-cell="line"]').innerText(), '2')
    t.equal(await row.locator('[data-cell="code"]').innerText(), 'MISSING_REFERENCE')
    t.equal(await row.locator('[data-cell="field"]').innerText(), 'upstreamUrn')
    await row.getByRole('button').click()
    const record = page.getByRole('dialog', { name: 'Record of line 2' }).getByLabel('Record of line 2')
    t.strictSame(JSON.parse(await record.innerText()), bad)
    t.equal(await page.locator('img').count(), 0)
    await page.getByRole('button', { name: 'Close' }).click()
    await page
      .getByRole('group', { name: 'Code' })
      .getByRole('button', { name: /^MISSING_REFERENCE/ })
      .click()
    await page.getByText('Showing 1 of 2').waitFor()
    t.equal(new URL(page.url()).searchParams.get('code'), 'MISSING_REFERENCE')
  })

  t.test('applies only the rejected records again', async (t) => {
    const id = await submit(
      server,
      lines(entity('c'), edge('later', 'c')),
      '&wait=20&missingReferences=reject'
    )
    await submit(server, lines(entity('later')), '&wait=20')
    const { page } = await openPage(t, browser, { url, token, path: `loads?id=${id}` })
    await page.getByRole('button', { name: 'Retry rejected' }).click()
    const dialog = page.getByRole('dialog', { name: 'Apply the rejected record again?' })
    await dialog.getByRole('button', { name: 'Retry rejected' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('[data-segment="applied"][data-count="2"]').waitFor()
    const { counts, state } = (await server.rest({ url: `/loads/${id}` })).body
    t.strictSame([state, counts.applied, counts.rejected], ['done', 2, 0])
    t.equal(await page.locator('[data-segment="rejected"]').count(), 0)
  })

  t.test('undoes a load after saying what is undone, and links both loads', async (t) => {
    const id = await submit(server, lines(entity('gone'), entity('gone')), '&wait=20')
    const { page } = await openPage(t, browser, { url, token, path: `loads?id=${id}` })
    await page.getByRole('button', { name: 'Undo' }).click()
    const dialog = page.getByRole('dialog', { name: 'Undo this load?' })
    await dialog
      .getByText('1 record changed something and will be undone. 1 record changed nothing.')
      .waitFor()
    await dialog.getByRole('button', { name: 'Show what it would change' }).click()
    const preview = dialog.getByTestId('undo-preview')
    await preview.getByText('2 changes would be undone.').waitFor()
    await preview.getByText('This would change').waitFor()
    await preview.getByText('Assets and domains: 0 created, 1 deleted; placeholders created: 0').waitFor()
    const { body: before } = await server.graphql(`{ entityExists(urn: "${dataset('gone')}") }`)
    t.equal(before.data.entityExists, true, 'the preview changes nothing')
    await dialog.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undoes').waitFor()
    await page.locator('[data-state="done"]').waitFor()
    await page.getByRole('link', { name: `Load ${id.slice(0, 8)}` }).click()
    await page.getByText('Undone by').waitFor()
    t.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0, 'not twice')
    const { body } = await server.graphql(`{ entityExists(urn: "${dataset('gone')}") }`)
    t.equal(body.data.entityExists, false)
  })

  t.test('passes axe in both themes, and fits into 320 pixels', async (t) => {
    const { loads } = (await server.rest({ url: '/loads?limit=50' })).body
    const rejected = loads.find(({ counts }: { counts: { rejected: number } }) => counts.rejected > 0)
    for (const theme of ['light', 'dark'] as const) {
      const { page, goTo } = await openPage(t, browser, {
        url,
        token,
        path: 'loads',
        theme,
        reducedMotion: true
      })
      await page.getByRole('grid').waitFor()
      t.strictSame(await violationsOf(page), [], `${theme}: list`)
      await goTo(`loads?id=${rejected.id}`)
      await page.getByRole('grid').waitFor()
      t.strictSame(await violationsOf(page), [], `${theme}: one load`)
      await page.setViewportSize({ width: 320, height: 640 })
      t.equal(await isTooWide(page), false)
      await goTo('loads')
      await page.getByRole('grid').waitFor()
      t.equal(await isTooWide(page), false)
    }
  })
})

t.test('a load that is followed', async (t) => {
  if (skipWithoutChromium(t)) return
  let isDown = false
  const queue: ChunkQueue = {
    nudge: async () => !isDown,
    depth: async () => (isDown ? null : 0),
    close: async () => {}
  }
  const server = await withServer(t, { queue })
  const browser = await withBrowser(t)
  const { url, token, db } = server
  const set = (id: string, applied: number) =>
    db.raw("update load set state = 'applying', applied = ? where id = ?", [applied, id])
  const three = lines(entity('a'), entity('b'), entity('c'), entity('d'))

  t.test('grows without a reload, and ends with the numbers of the database', async (t) => {
    const id = await submit(server, three)
    const { page } = await openPage(t, browser, { url, token, path: `loads?id=${id}` })
    await page.getByTestId('live').filter({ hasText: 'Live' }).waitFor()
    await page.locator('[data-segment="waiting"][data-count="4"]').waitFor()
    for (const [applied, percent] of [
      [1, '25'],
      [3, '75']
    ] as const) {
      await set(id, applied)
      await page.locator(`[data-segment="applied"][data-count="${applied}"]`).waitFor()
      t.equal(await page.locator('[data-percent]').getAttribute('data-percent'), percent)
    }
    await page.getByRole('button', { name: 'Cancel' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel this load?' })
    await dialog.getByText('3 records are applied and will stay. 1 record is left out.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).first().click()
    await page.getByText('Cancelled. 3 records had been applied.').waitFor()
    await page.locator('[data-state="cancelled"]').waitFor()
    t.equal((await server.rest({ url: `/loads/${id}` })).body.state, 'cancelled')
  })

  t.test('is polled while the stream is interrupted, and followed again afterwards', async (t) => {
    const id = await submit(server, three)
    const { page, complaints } = await openPage(t, browser, { url, token, path: `loads?id=${id}` })
    await page.getByTestId('live').filter({ hasText: 'Live' }).waitFor()
    await page.route('**/events', (route) => route.abort())
    await page.reload()
    await page.getByText('The live connection is cut').waitFor()
    await set(id, 2)
    await page.locator('[data-segment="applied"][data-count="2"]').waitFor()
    await page.unroute('**/events')
    await page.getByTestId('live').filter({ hasText: 'Live' }).waitFor()
    await set(id, 3)
    await page.locator('[data-segment="applied"][data-count="3"]').waitFor()
    t.ok(complaints.every((text) => text.includes('ERR_FAILED')))
    complaints.length = 0
  })

  t.test('shows that the queue is down, and other pages work', async (t) => {
    isDown = true
    const { page, goTo } = await openPage(t, browser, { url, token, path: 'loads' })
    await page.getByText('The queue does not answer.').waitFor()
    await goTo('domains')
    await page.getByRole('heading', { name: 'There are no domains yet.' }).waitFor()
    await goTo('loads')
    await page.getByText('The queue does not answer.').waitFor()
    isDown = false
    // Without a reload: the page asks again.
    await page.getByText('The queue does not answer.').waitFor({ state: 'detached' })
  })

  t.test('of others are hidden from a token without admin rights, and the list says so', async (t) => {
    await submit(server, three)
    const reader = await server.tokenWith(['read'])
    const { page } = await openPage(t, browser, { url, token: reader, path: 'loads' })
    await page.getByRole('heading', { name: 'Your token has sent no loads.' }).waitFor()
    await page.getByText('Only administrators see the loads of others.').waitFor()
  })

  t.test('that does not exist is named, with a link to the list', async (t) => {
    const { page, complaints } = await openPage(t, browser, {
      url,
      token,
      path: 'loads?id=11111111-1111-4111-8111-111111111111'
    })
    await page.getByText('The load 11111111-1111-4111-8111-111111111111 does not exist.').waitFor()
    await page.getByRole('link', { name: 'All loads' }).click()
    await page.getByRole('heading', { name: 'Loads', exact: true }).waitFor()
    t.ok(complaints.every((text) => text.includes('404')))
    complaints.length = 0
  })
})
