/** Runs a test against both lineage engines: the graph in memory, and SQL. */
import t, { type Test } from 'tap'
import { withServer, type TestServer } from './server.ts'

export type EngineName = 'memory' | 'sql'

/** Declares the test twice, each time on a separate server with the named engine. */
export function onBothEngines(
  name: string,
  body: (t: Test, server: TestServer, engine: EngineName) => Promise<void>
): void {
  for (const engine of ['memory', 'sql'] as const) {
    void t.test(`${name}, by ${engine}`, async (t) =>
      body(t, await withServer(t, { memory: engine === 'memory' }), engine)
    )
  }
}
