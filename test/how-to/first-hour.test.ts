/** The README and the tutorial run as they stand, in a checkout, from the first command on. */
import t from 'tap'
import { freePort } from '../support/free-port.ts'
import { runPage } from './run-page.ts'
import { newestLoad, withCheckout } from './settings.ts'

t.setTimeout(1_800_000)

for (const page of ['README.md', 'docs/tutorial.md'])
  t.test(page, async (t) => {
    const port = String(await freePort())
    const blanks = { 'http://127.0.0.1:8080': `http://127.0.0.1:${port}`, ID: newestLoad }
    const { outputs } = await runPage(t, page, { folder: withCheckout(t), env: { PORT: port }, blanks })
    t.match(outputs.join('\n'), /"total":\d/, 'the answer about lineage')
  })
