/** The page of a job and of its run in a browser: why it failed, and what it did. */
import t from 'tap'
import { isTooWide, openPage, skipWithoutChromium, violationsOf, withBrowser } from '../support/browser.ts'
import { facet } from '../support/openlineage.ts'
import { withServer } from '../support/server.ts'

const job = 'urn:li:dataJob:(urn:li:dataFlow:(spark,etl,nightly),etl.load)'
const long = `column "${'x'.repeat(3_000)}" does not exist`

t.test('the pages of a job and its run', async (t) => {
  if (skipWithoutChromium(t)) return
  const server = await withServer(t)
  const { url, token } = server
  const browser = await withBrowser(t)
  const { status } = await server.rest({
    method: 'POST',
    url: '/api/v1/lineage',
    body: {
      eventTime: new Date().toISOString(),
      eventType: 'FAIL',
      producer: 'https://example.org/spark',
      run: {
        runId: 'r1',
        facets: {
          processing_engine: facet({ name: 'spark', version: '3' }),
          errorMessage: facet({ message: long, stackTrace: 'at <script>alert(1)</script>' })
        }
      },
      job: {
        namespace: 'nightly',
        name: 'etl.load',
        facets: {
          sql: facet({ query: 'insert into b\nselect * from a' }),
          sourceCodeLocation: facet({ type: 'git', url: 'https://git.example/etl/load.py' })
        }
      },
      inputs: [
        {
          namespace: 'postgres://db:5432',
          name: 'shop.a',
          inputFacets: {
            dataQualityAssertions: facet({
              assertions: [
                { assertion: 'not_null', success: false, column: 'id' },
                { assertion: 'unique', success: true, column: 'id' }
              ]
            })
          }
        }
      ],
      outputs: [
        {
          namespace: 'postgres://db:5432',
          name: 'shop.b',
          outputFacets: { outputStatistics: facet({ rowCount: 12_345, size: 99 }) }
        }
      ]
    }
  })
  t.equal(status, 201)
  for (const [name, path] of [
    ['the last run of the job', `asset?urn=${encodeURIComponent(job)}&tab=runs`],
    ['the run', `asset?urn=${encodeURIComponent('urn:li:dataProcessInstance:r1')}&tab=run`]
  ] as const)
    for (const theme of ['light', 'dark'] as const)
      await t.test(`${name}, ${theme}`, async (t) => {
        const { page } = await openPage(t, browser, { url, token, path, theme, width: 480 })
        await page.getByTestId('run-error').getByText('does not exist').waitFor()
        const text = await page.getByRole('main').innerText()
        for (const part of [
          'Failed',
          '1 of 2 failed',
          'not_null · id',
          '12,345 rows, 99 bytes',
          'insert into b',
          'https://git.example/etl/load.py'
        ])
          t.ok(text.includes(part), part)
        await page.getByText('Stack trace').click()
        t.ok(await page.getByText('at <script>alert(1)</script>').isVisible())
        t.notOk(await isTooWide(page))
        t.strictSame(await violationsOf(page), [])
      })
})
