/** A proxy before Postgres that can end connections just as they begin, as a server does that shuts down or fails over. */
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { Test } from 'tap'
import { postgresOptions } from '../../shared/platform/postgres-url.ts'
import { listenUntilTeardown } from './listen.ts'

export type EndingProxy = {
  /** The database through the proxy. */
  url: string
  /** Cuts all connections. Each of the next `count` is told in one piece that it is ready, and that it ends. */
  end(count: number): void
  /** How many are still to be ended. */
  left(): number
}

/** What Postgres says when it is ready for the first query. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/** An error that ends the connection. */
function fatalError(): Buffer {
  const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', '']
  const body = Buffer.from(`${fields.join('\0')}\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** Passes a piece of the server's on, or does something else with it. `isReady`: the server awaits a query. */
type OnPiece = (piece: Buffer, client: Socket, isReady: boolean) => void

/** Passes all that clients send; `onConnection` returns for each connection what becomes of the answers. */
export async function withPostgresProxy(
  t: Test,
  databaseUrl: string,
  onConnection: () => OnPiece
): Promise<{ url: string; sockets: ReadonlySet<Socket> }> {
  const { host, port, user, password = '', database } = await postgresOptions(databaseUrl)
  const target: NetConnectOpts = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
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
    }
    client.pipe(server)
    const onPiece = onConnection()
    server.on('data', (piece: Buffer) => {
      onPiece(piece, client, piece.subarray(-readyForQuery.length).equals(readyForQuery))
    })
  })
  const own = await listenUntilTeardown(t, proxy, sockets)
  const url = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${own}/${database}`
  return { url, sockets }
}

export async function withEndingProxy(t: Test, databaseUrl: string): Promise<EndingProxy> {
  let left = 0
  const { url, sockets } = await withPostgresProxy(t, databaseUrl, () => {
    let hasBegun = false
    return (piece, client, isReady) => {
      const begins = !hasBegun && isReady
      hasBegun ||= begins
      if (!begins || left === 0) return client.write(piece)
      left -= 1
      client.end(Buffer.concat([piece, fatalError()]))
    }
  })
  return {
    url,
    end(count) {
      left = count
      for (const socket of sockets) socket.destroy()
    },
    left: () => left
  }
}
