/** A proxy that serves a server below a path prefix, as proxies in front of a catalog do. */
import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import type { Test } from 'tap'

const prefix = '/below'

export type PrefixProxy = {
  /** Known before the server is: `http://127.0.0.1:41234/below`. */
  url: string
  /** Where requests go: `http://127.0.0.1:41235`. */
  forwardTo: (target: string) => void
}

/** Stopped at teardown. It answers 404 outside its prefix, and 502 until it has a target. */
export async function withPrefixProxy(t: Test): Promise<PrefixProxy> {
  let target: string | null = null
  const proxy = createServer((incoming, outgoing) => {
    const path = incoming.url ?? ''
    if (target === null || !path.startsWith(`${prefix}/`)) {
      outgoing.writeHead(target === null ? 502 : 404).end()
      return
    }
    const forwarded = send(
      `${target}${path.slice(prefix.length)}`,
      {
        method: incoming.method ?? 'GET',
        headers: { ...incoming.headers, 'x-forwarded-host': incoming.headers.host ?? '' }
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      }
    )
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy listens on no port')
  return {
    url: `http://127.0.0.1:${address.port}${prefix}`,
    forwardTo(next) {
      target = next
    }
  }
}
