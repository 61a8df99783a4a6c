/** Sends an attack and reads its answer without keeping it, because some answers have a hundred megabytes. */
import { request } from 'node:http'
import type { Attack } from './attack.ts'
import type { Service } from './bystander.ts'

/**
 * `reasons`: those of all errors in the answer, each once; REJECTED if a load has rejects. `status` 0: the
 * connection was cut off.
 */
export type Fired = { status: number; reasons: string[]; bytes: number; ms: number }

/** GraphQL writes errors after the data. */
const keptChars = 16_384
const answerMaxMs = 120_000

/**
 * `sent` is the body of the attack. It is made beforehand, because making it takes so long that it would be
 * measured as the other client's time.
 */
export function fire(
  { url, token }: Service,
  { method = 'POST', path, contentType = 'application/json' }: Attack,
  sent: string | Buffer | null
): Promise<Fired> {
  const startedAt = performance.now()
  return new Promise((resolve) => {
    let [status, bytes, begin, end] = [0, 0, '', '']
    const done = (): void => {
      const text = `${begin}\n${end}`
      const reasons = [...text.matchAll(/"(?:reason|code)":"([A-Z_]+)"/g)].map(([, reason = '']) => reason)
      if (/"rejected":[1-9]/.test(text)) reasons.push('REJECTED')
      resolve({ status, reasons: [...new Set(reasons)], bytes, ms: performance.now() - startedAt })
    }
    const outgoing = request(
      `${url}${path}`,
      {
        method,
        agent: false,
        timeout: answerMaxMs,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': contentType,
          ...(sent === null ? {} : { 'content-length': Buffer.byteLength(sent) })
        }
      },
      (answer) => {
        answer.on('data', (piece: Buffer) => {
          bytes += piece.length
          const text = piece.toString('latin1')
          if (begin.length < keptChars) begin += text.slice(0, keptChars)
          end = (end + text).slice(-keptChars)
        })
        answer.on('end', () => {
          status = answer.statusCode ?? 0
          done()
        })
        answer.on('error', done)
      }
    )
    outgoing.on('error', done).on('timeout', () => {
      outgoing.destroy()
    })
    outgoing.end(sent ?? undefined)
  })
}

export const isExpected = ({ expected }: Pick<Attack, 'expected'>, { status, reasons }: Fired): boolean =>
  expected.some(
    (one) =>
      one.status === status &&
      (one.reason === null
        ? reasons.length === 0
        : reasons.length > 0 &&
          reasons.every((reason) => expected.some((allowed) => allowed.reason === reason)))
  )
