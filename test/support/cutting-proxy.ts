/** A proxy that cuts uploads at a chosen moment, as a network may do at any time. */
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { listenUntilTeardown } from './listen.ts'

export type Cut =
  | {
      /** Bytes of the upload that pass before the cut; the server never sees the rest. */
      afterBytes: number
      /** Runs while the upload is paused, before both ends are cut. */
      meanwhile?: () => Promise<void>
    }
  | 'the answer'

/** `uploads` counts the connections with an upload. */
export type CuttingProxy = { url: string; uploads: () => number }

/**
 * The `cuts` happen in this order; afterwards uploads pass completely, as everything else always does. A cut
 * of the answer waits for an answer that accepts the load: refusals pass.
 */
export async function withCuttingProxy(t: Test, target: string, cuts: readonly Cut[]): Promise<CuttingProxy> {
  const { port, hostname } = new URL(target)
  const sockets = new Set<Socket>()
  const left = [...cuts]
  let uploads = 0

  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname)
    for (const end of [client, server]) {
      sockets.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        client.destroy()
        server.destroy()
      })
    }
    client.once('data', (first) => {
      const isUpload = first.toString('latin1').startsWith('POST /loads?')
      if (isUpload) uploads += 1
      const [cut] = isUpload ? left : []
      client.unshift(first)
      if (cut === undefined || cut === 'the answer') client.pipe(server)
      else cutAfter(client, server, cut)
      if (cut === 'the answer') cutAnswer(client, server)
      else server.pipe(client)
    })
  })

  function cutAnswer(client: Socket, server: Socket): void {
    server.on('data', (part: Buffer) => {
      if (/^HTTP\/1.1 20/.test(part.toString('latin1'))) {
        left.shift()
        client.destroy()
      } else client.write(part)
    })
  }

  function cutAfter(client: Socket, server: Socket, { afterBytes, meanwhile }: Exclude<Cut, string>): void {
    let bytesLeft = afterBytes
    client.on('data', (chunk: Buffer) => {
      server.write(chunk.subarray(0, bytesLeft))
      bytesLeft -= chunk.length
      if (bytesLeft > 0) return
      client.pause()
      left.shift()
      const end = (): void => {
        client.destroy()
      }
      void (meanwhile?.() ?? Promise.resolve()).then(end, end)
    })
  }

  const ownPort = await listenUntilTeardown(t, proxy, sockets)
  return {
    url: `http://127.0.0.1:${ownPort}`,
    uploads: () => uploads
  }
}
