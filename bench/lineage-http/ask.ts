/** Sends one GraphQL request at a time over kept connections, as one user's browser does. */
import { Agent, request } from 'node:http'

export type Answer = { data: unknown; extensions?: { lineage?: LineageExtension }; errors?: unknown }
export type LineageExtension = { complete?: boolean; engine?: string }

/** `ms` is from before the request until the whole answer has arrived, without parsing it. */
export type Asked = { answer: Answer; text: string; ms: number }
export type Ask = (query: string, variables: object) => Promise<Asked>

/** Throws if the answer contains an error. */
export function asker({ url, token }: { url: string; token: string }): Ask {
  const agent = new Agent({ keepAlive: true })
  return async (query, variables) => {
    const begun = performance.now()
    const text = await post(`${url}/api/graphql`, JSON.stringify({ query, variables }), {
      agent,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    })
    const ms = performance.now() - begun
    // a border: an answer that does not match the schema shows when it is compared
    const answer = JSON.parse(text) as Answer
    if (answer.errors !== undefined) throw new Error(`${query}: ${text.slice(0, 500)}`)
    return { answer, text, ms }
  }
}

function post(
  url: string,
  body: string,
  options: { agent: Agent; headers: Record<string, string> }
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', ...options }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => resolve(Buffer.concat(pieces).toString()))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
