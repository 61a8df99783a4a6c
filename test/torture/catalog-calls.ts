/** The requests that the torture sends to the API, as any client would. */
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

export type Api = { url: string; token: string }

export type LoadState = {
  id: string
  state: string
  counts: { received: number; applied: number; unchanged: number; rejected: number }
  error: string | null
}

const headers = (api: Api, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${api.token}`,
  ...more
})

/** Waits until the API says that it is ready. */
export async function untilReady(api: Api, maxMs = 60_000): Promise<void> {
  const end = Date.now() + maxMs
  while (Date.now() < end) {
    const answer = await fetch(`${api.url}/health/ready`).catch(() => null)
    if (answer?.ok) return
    await sleep(100)
  }
  throw new Error('the API did not get ready')
}

/** Sends a load and returns its id. */
export async function sendLoad(
  api: Api,
  lines: Iterable<string>,
  parameters: Record<string, string>,
  more: Record<string, string> = {}
): Promise<string> {
  const answer = await fetch(
    `${api.url}/loads?${new URLSearchParams({ format: 'ndjson', ...parameters }).toString()}`,
    {
      method: 'POST',
      headers: headers(api, { 'content-type': 'application/x-ndjson', ...more }),
      body: Readable.toWeb(Readable.from(inPieces(lines), { objectMode: false })) as ReadableStream,
      duplex: 'half'
    } as RequestInit
  )
  const body = await answer.text()
  if (answer.status !== 202 && answer.status !== 200)
    throw new Error(`load refused: ${answer.status} ${body}`)
  return (JSON.parse(body) as LoadState).id
}

const pieceChars = 65_536

/**
 * Lines in blocks. Single lines would keep this process so busy that the first byte of another upload, with
 * which fetch sends the head of its request, could come later than the API waits.
 */
export function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = ''
  for (const line of lines) {
    piece += line
    if (piece.length < pieceChars) continue
    yield piece
    piece = ''
  }
  if (piece) yield piece
}

export async function readLoad(api: Api, id: string): Promise<LoadState> {
  const answer = await fetch(`${api.url}/loads/${id}`, { headers: headers(api) })
  return (await answer.json()) as LoadState
}

export const isTerminal = (load: Pick<LoadState, 'state'>): boolean =>
  ['done', 'failed', 'aborted', 'cancelled'].includes(load.state)

export type Reject = { line: number; code: string; message: string; field?: string | null; record: string }

/** All rejects of a load. */
export async function readRejects(api: Api, id: string): Promise<Reject[]> {
  const rejects: Reject[] = []
  for (;;) {
    const answer = await fetch(
      `${api.url}/loads/${id}/rejects?limit=1000&after=${rejects.at(-1)?.line ?? 0}`,
      { headers: headers(api) }
    )
    const page = (await answer.text())
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Reject)
    if (page.length === 0) return rejects
    rejects.push(...page)
  }
}

/** Sends a mutation under a request id; false if it was refused or its result is unknown. */
export async function mutate(
  api: Api,
  requestId: string,
  query: string,
  variables: object
): Promise<boolean> {
  try {
    const answer = await fetch(`${api.url}/api/graphql`, {
      method: 'POST',
      headers: headers(api, { 'content-type': 'application/json', 'x-request-id': requestId }),
      body: JSON.stringify({ query, variables })
    })
    const body = (await answer.json()) as { errors?: unknown[] }
    return answer.ok && !body.errors
  } catch {
    return false
  }
}

/** Sends one change proposal under a request id. */
export async function propose(api: Api, requestId: string, proposal: object): Promise<boolean> {
  try {
    const answer = await fetch(`${api.url}/aspects?action=ingestProposal`, {
      method: 'POST',
      headers: headers(api, { 'content-type': 'application/json', 'x-request-id': requestId }),
      body: JSON.stringify({ proposal })
    })
    await answer.text()
    return answer.ok
  } catch {
    return false
  }
}
