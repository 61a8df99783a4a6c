/** A proxy whose open connections can be made silent without being closed, as by a firewall that has forgotten them. */
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { Test } from 'tap'
import { listenUntilTeardown } from './listen.ts'

export type FreezingProxy = {
  port: number
  /** No byte passes any more on the connections that are open now. New ones are well. */
  freeze(): void
}

export async function withFreezingProxy(t: Test, target: NetConnectOpts): Promise<FreezingProxy> {
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(target)
    for (const [end, other] of [
      [client, server],
      [server, client]
    ] as const) {
      sockets.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        sockets.delete(end)
        other.destroy()
      })
      end.pipe(other)
    }
  })
  const port = await listenUntilTeardown(t, proxy, sockets)
  return {
    port,
    freeze() {
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
      }
    }
  }
}
