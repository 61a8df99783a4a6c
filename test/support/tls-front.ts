/**
 * A TLS server with a self-signed certificate in front of a plain one, as on hosting platforms. The
 * certificate is for `localhost`; it and its key are for tests only.
 */
import { readFileSync } from 'node:fs'
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { listenUntilTeardown } from './listen.ts'

export const testCertificateFile = packagePath('test/cases/tls/certificate.pem')
const keyFile = packagePath('test/cases/tls/key.pem')

const sslRequestBytes = 8

/**
 * `postgres` connections ask for encryption inside their protocol; `plain` connections, such as those of
 * Redis, begin with it.
 */
export type TlsFrontOptions = { protocol: 'postgres' | 'plain'; target: NetConnectOpts }

/** The port of the front on this machine; `encrypted` counts the encrypted connections. */
export type TlsFront = { port: number; encrypted(): number }

/** Starts the front; stopped at teardown, with all its connections. */
export async function withTlsFront(t: Test, options: TlsFrontOptions): Promise<TlsFront> {
  const sockets = new Set<Socket>()
  const material = { key: readFileSync(keyFile), cert: readFileSync(testCertificateFile) }
  let encrypted = 0

  function secure(socket: Socket): void {
    const plain = new TLSSocket(socket, { isServer: true, ...material })
    plain.on('secure', () => {
      encrypted += 1
    })
    join(plain)
  }

  function join(client: Socket): void {
    const server = connect(options.target)
    for (const end of [client, server]) {
      sockets.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        client.destroy()
        server.destroy()
      })
    }
    client.pipe(server).pipe(client)
  }

  const front = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (options.protocol === 'plain') {
      secure(socket)
      return
    }
    socket.once('data', (first) => {
      if (first.length === sslRequestBytes) {
        socket.write('S')
        secure(socket)
      } else {
        socket.unshift(first)
        join(socket)
      }
    })
  })
  const port = await listenUntilTeardown(t, front, sockets, '0.0.0.0')
  return {
    port,
    encrypted: () => encrypted
  }
}
