/** The README and the tutorial run as they stand, in a checkout, from the first command on, where another program has port 8080. */
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { runPage } from './run-page.ts'
import { newestLoad, withCheckout } from './settings.ts'

t.setTimeout(1_800_000)

const defaultPort = 8080

/** The requests that another program on port 8080 gets; none if a program of the machine has it already. */
async function withStranger(t: Test): Promise<string[]> {
  const requests: string[] = []
  const stranger = createServer(({ method, url }, response) => {
    requests.push(`${method} ${url}`)
    response.end('a stranger')
  })
  t.teardown(() => {
    stranger.closeAllConnections()
    stranger.close()
  })
  await new Promise<void>((resolve, reject) => {
    stranger.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve()
      else reject(error)
    })
    stranger.listen(defaultPort, '127.0.0.1', resolve)
  })
  return requests
}

for (const page of ['README.md', 'docs/tutorial.md'])
  t.test(page, async (t) => {
    const requests = await withStranger(t)
    const { outputs } = await runPage(t, page, { folder: withCheckout(t), blanks: { ID: newestLoad } })
    t.match(outputs.join('\n'), /"total":\d/, 'the answer about lineage')
    t.strictSame(requests, [], 'the other program is not asked anything')
  })
