/** The pages about asking and sending over HTTP run as they stand. */
import t from 'tap'
import { openPythonEnvironment } from '../../dev/python-environment.ts'
import { runPage } from './run-page.ts'
import { withPostgres, withSample, withShop } from './settings.ts'

t.setTimeout(1_800_000)

const postgres = await withPostgres(t)
if (postgres !== null) {
  t.test('what depends on an asset', async (t) => {
    const { env } = await withShop(t, postgres)
    await runPage(t, 'docs/how-to/ask-what-depends-on-an-asset.md', { env })
  })

  t.test('what broke a dashboard', async (t) => {
    const { env } = await withSample(t, postgres)
    await runPage(t, 'docs/how-to/find-what-broke-a-dashboard.md', { env })
  })

  t.test('the reference of GraphQL', async (t) => {
    const { env } = await withShop(t, postgres)
    await runPage(t, 'docs/api.md', {
      env,
      files: { '.data/token': env.TRIBUTARY_TOKEN ?? '' },
      blanks: { '$(tributary url)': '$TRIBUTARY_URL' }
    })
  })

  t.test('the reference of REST', async (t) => {
    const { env } = await withShop(t, postgres)
    await runPage(t, 'docs/rest.md', { env })
  })

  t.test('OpenLineage', async (t) => {
    const { env } = await withShop(t, postgres)
    await runPage(t, 'docs/openlineage.md', { env })
  })

  t.test('OpenLineage from Python', async (t) => {
    const { env } = await withShop(t, postgres)
    const path = [await openPythonEnvironment()]
    await runPage(t, 'docs/guides/python.md', { env, path })
  })
}
