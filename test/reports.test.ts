/** What users of other catalogs have reported as wrong is right here: test/reports/README.md lists the reports. */
import t from 'tap'
import { trials } from './reports/all-trials.ts'
import { openWorld } from './reports/world.ts'
import { withServer } from './support/server.ts'

t.setTimeout(300_000)

for (const [subject, cases] of Object.entries(trials))
  t.test(subject, async (t) => {
    const server = await withServer(t, { withWorker: true })
    for (const [at, { name, reports, run }] of cases.entries())
      await t.test(name, async (t) => {
        await run(openWorld(server.rest, `${subject}${at}`))
        t.pass(reports.join(', '))
      })
  })
