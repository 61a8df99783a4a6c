/** HTTP servers that stand for other programs, such as a proxy in front of ours. */
import { createServer, type RequestListener } from 'node:http'
import type { Test } from 'tap'
import { freePort } from './free-port.ts'

/** The server's address; closed at teardown, with its connections. */
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

/** A server with one answer to everything. */
export function withAnswer(t: Test, status: number, body: string): Promise<string> {
  return withStandIn(t, (request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(body))
  })
}
