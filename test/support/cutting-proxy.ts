/** A proxy that cuts uploads off where a test says so: what a network does, at a moment that is known. */
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

export type Cut =
  | {
      /** How many bytes of the upload go through before; the rest is never seen by the server. */
      afterBytes: number
      /** Runs while the upload stands still, before both ends are cut. */
      meanwhile?: () => Promise<void>
    }
  | 'the answer'

/** `uploads` counts the connections that carried one. */
export type CuttingProxy = { url: string; uploads: () => number }

/**
 * `cuts` happen in this order; when all have happened uploads go through whole, and everything else always does. The answer
 * is cut that says that the load was taken: a refusal goes through, and the cut waits for the next upload.
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

  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const address = proxy.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    uploads: () => uploads
  }
}
