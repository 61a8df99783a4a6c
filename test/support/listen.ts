/** Lets a server of a test listen on a free port. */
import type { Server, Socket } from 'node:net'
import type { Test } from 'tap'

/** Returns the port. At teardown the server is closed, and the sockets that are in the set then are destroyed. */
export async function listenUntilTeardown(
  t: Test,
  server: Server,
  sockets: ReadonlySet<Socket>,
  host = '127.0.0.1'
): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve)
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
