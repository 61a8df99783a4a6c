/** HTTP servers that are not ours: what a client meets when something stands in the way. */
import { createServer, type RequestListener } from 'node:http'
import type { Test } from 'tap'
import { freePort } from './redis.ts'

/** Where it listens; gone at teardown, with its connections. */
export async function withStandIn(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const port = await freePort()
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${port}`
}

/** One that gives one answer to everything. */
export function withAnswer(t: Test, status: number, body: string): Promise<string> {
  return withStandIn(t, (request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(body))
  })
}
