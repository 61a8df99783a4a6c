/**
 * One HTTP request, byte for byte as the test wants it: repeated headers, no length, an interrupted body, no
 * valid HTTP.
 */
import { request } from 'node:http'
import { connect } from 'node:net'

export type RawRequest = {
  method: string
  path: string
  headers?: { [name: string]: string | string[] }
  body?: Buffer
  /** Sends the body without Content-Length. */
  isChunked?: boolean
  /** Sends this many bytes of the body and disconnects. */
  abortAfterBytes?: number
}

/** `status` is 0 if the test itself disconnected. `headers` are in lower case. */
export type RawAnswer = { status: number; headers: { [name: string]: string }; text: string }

const goneAway: RawAnswer = { status: 0, headers: {}, text: '' }

/** Rejects only if the server closes the connection without an answer. */
export const sendRaw = (
  baseUrl: string,
  { method, path, headers = {}, body, isChunked = false, abortAfterBytes }: RawRequest
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const length = body && !isChunked ? { 'content-length': String(body.length) } : {}
    const outgoing = request(
      new URL(baseUrl),
      { method, path, headers: { ...headers, ...length }, agent: false },
      (incoming) => {
        const parts: Buffer[] = []
        incoming.on('data', (part: Buffer) => parts.push(part))
        const finish = (): void =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(
              Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
            ),
            text: Buffer.concat(parts).toString('utf8')
          })
        incoming.on('end', finish)
        incoming.on('error', reject)
      }
    )
    outgoing.on('error', reject)
    if (abortAfterBytes !== undefined) {
      outgoing.removeListener('error', reject)
      outgoing.on('error', () => resolve(goneAway))
      outgoing.write(body?.subarray(0, abortAfterBytes), () => {
        setTimeout(() => {
          outgoing.destroy()
          resolve(goneAway)
        }, 100)
      })
      return
    }
    if (isChunked && body)
      for (let at = 0; at < body.length; at += 65_536) outgoing.write(body.subarray(at, at + 65_536))
    outgoing.end(isChunked ? undefined : body)
  })

/**
 * Sends raw bytes and returns the server's reply: until it closes the connection, or until the head of its
 * answer is complete.
 */
export function sendBytes(
  baseUrl: string,
  bytes: string,
  until: 'close' | 'head' = 'close'
): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let text = ''
    socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (data) => {
      text += data.toString()
      if (until === 'head' && text.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}
