/** Forwards TCP connections to one of several servers, as a proxy or a virtual address does for a primary. */
import { connect, createServer, type Socket } from 'node:net'

export type Forwarder = {
  port: number
  /** Cuts all connections, and refuses new ones until `to` is called. */
  cut(): void
  /** From now on, new connections go to this port of this machine. */
  to(port: number): void
  close(): Promise<void>
}

export async function startForwarder(): Promise<Forwarder> {
  let target: number | null = null
  const sockets = new Set<Socket>()
  const keep = (socket: Socket, other: () => Socket): void => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      other().destroy()
    })
  }
  const server = createServer((client) => {
    if (target === null) {
      client.destroy()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    keep(client, () => upstream)
    keep(upstream, () => client)
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const cut = (): void => {
    target = null
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut,
    to(port) {
      target = port
    },
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
