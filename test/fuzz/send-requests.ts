/** Sends random requests to a service, several at once, and reports answers that no client should get. */
import { Agent, request as httpRequest } from 'node:http'
import type { GraphQLSchema } from 'graphql'
import { createRandom } from './random.ts'
import { graphqlBody } from './graphql-requests.ts'
import { routeRequest, type FuzzRequest, type Route } from './route-requests.ts'

export type Service = { url: string; token: string }
export type Finding = { index: number; request: FuzzRequest; status: number; text: string }
export type Fuzzing = {
  seed: number
  first: number
  count: number
  concurrency: number
  schema: GraphQLSchema
  routes: readonly [Route, ...Route[]]
}

const graphqlShare = 0.5
const answerMaxMs = 20_000
const keptChars = 4_000

/** The request with an index; the same for the same seed. */
export function requestAt(
  { seed, schema, routes }: Pick<Fuzzing, 'seed' | 'schema' | 'routes'>,
  index: number
): FuzzRequest {
  const random = createRandom(seed, index)
  if (!random.chance(graphqlShare)) return routeRequest(random, routes)
  return {
    method: 'POST',
    path: '/api/graphql',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(graphqlBody(random, schema))
  }
}

/**
 * A bug of the server: a status of 5xx except for back-pressure, INTERNAL anywhere in the answer, or no
 * answer.
 */
const isFault = (status: number, text: string): boolean =>
  (status >= 500 && !(status === 503 && /"(?:UNAVAILABLE|OVERLOADED)"/.test(text))) ||
  status === 0 ||
  /"(?:code|reason)":"INTERNAL"/.test(text)

/** Returns the violations, and how often each status occurred. */
export async function sendRequests(
  service: Service,
  fuzzing: Fuzzing
): Promise<{ findings: Finding[]; statuses: Map<number, number> }> {
  const agent = new Agent({ keepAlive: true, maxSockets: fuzzing.concurrency })
  const findings: Finding[] = []
  const statuses = new Map<number, number>()
  let next = fuzzing.first
  const end = fuzzing.first + fuzzing.count
  async function work(): Promise<void> {
    for (let index = next++; index < end; index = next++) {
      const request = requestAt(fuzzing, index)
      const { status, text } = await send(service, request, agent)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (isFault(status, text)) findings.push({ index, request, status, text })
    }
  }
  await Promise.all(Array.from({ length: fuzzing.concurrency }, work))
  agent.destroy()
  return { findings, statuses }
}

/** Status 0 if the answer is incomplete. Event streams are closed after they have begun. */
function send(
  { url, token }: Service,
  { method, path, headers, body }: FuzzRequest,
  agent: Agent
): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const sent = httpRequest(
      `${url}`,
      {
        method,
        path,
        agent,
        timeout: answerMaxMs,
        headers: {
          authorization: `Bearer ${token}`,
          ...headers,
          ...(body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) })
        }
      },
      (response) => {
        const status = response.statusCode ?? 0
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          if (text.length < keptChars || /INTERNAL/.test(part)) text += part
        })
        response.on('end', () => {
          resolve({ status, text })
        })
        response.on('error', (error) => {
          resolve({ status: 0, text: String(error) })
        })
        if (String(response.headers['content-type']).startsWith('text/event-stream')) {
          resolve({ status, text: '' })
          sent.destroy()
        }
      }
    )
    sent.on('timeout', () => {
      sent.destroy(new Error('no answer in time'))
    })
    sent.on('error', (error) => {
      resolve({ status: 0, text: String(error) })
    })
    sent.end(body ?? undefined)
  })
}
