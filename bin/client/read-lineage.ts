/** Reads lineage from the server's export, line by line: entities nearest first, then the edges among them. */
import type { IncomingMessage } from 'node:http'
import { exitCodes, Refusal } from '../failure.ts'
import { requireSuccess, textOf } from './ask.ts'
import { exchange } from './connection.ts'
import { isObject } from './load-view.ts'
import { parseJson, type Server } from './server.ts'

export type Direction = 'UPSTREAM' | 'DOWNSTREAM'

/** `degree` is 0 where the lineage begins. Other fields are kept for JSON output. */
export type LineageNode = {
  urn: string
  degree: number
  type: string
  name: string
  platform: string | null
  exists: boolean
}
export type LineageEdge = { upstream: string; downstream: string; degree: number }

export type LineageLines = {
  complete: boolean
  truncatedBy: string | null
  /** Number of entities reached, without the start. */
  total: number
  /**
   * Throws Refusal if the connection ends early, because the answer is then incomplete. Stopping early closes
   * the connection.
   */
  lines: () => AsyncGenerator<{ node: LineageNode } | { edge: LineageEdge }>
}

/** Throws ServerRefused, or Refusal if the server does not answer. */
export async function openLineage(
  server: Server,
  query: Readonly<Record<string, string>>
): Promise<LineageLines> {
  const { header, lines } = await openExport(server, 'lineage/export', {
    ...query,
    format: 'ndjson',
    of: 'graph'
  })
  const total = header('x-lineage-total')
  if (total === null) throw notTributary(server)
  return {
    complete: header('x-lineage-complete') === 'true',
    truncatedBy: header('x-lineage-truncated-by'),
    total: Number(total),
    async *lines() {
      for await (const line of lines()) yield readLine(server, line)
    }
  }
}

/** `lines` throws Refusal if the connection ends early. */
export type Export = { header: (name: string) => string | null; lines: () => AsyncGenerator<string> }

/** Any export of the server, line by line. Throws ServerRefused, or Refusal if nothing answers. */
export async function openExport(
  server: Server,
  path: string,
  query: Readonly<Record<string, string>>
): Promise<Export> {
  const response = await exchange(server, `${path}?${new URLSearchParams(query).toString()}`, {
    method: 'GET'
  })
  const header = (name: string): string | null => [response.headers[name]].flat()[0] ?? null
  if (response.statusCode !== 200) requireSuccess(server, response, await textOf(response).catch(() => ''))
  if (header('x-lineage-total') === null && header('content-disposition') === null) {
    response.destroy()
    throw notTributary(server)
  }
  return { header, lines: () => linesOf(server, response) }
}

async function* linesOf(server: Server, body: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const text of body.setEncoding('utf8')) {
      const lines = (rest + String(text)).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    throw new Refusal(
      `The answer of ${new URL(server.url).origin} was cut off, so it is incomplete. Try again, perhaps with fewer hops.`,
      exitCodes.unreachable,
      { cause: error }
    )
  }
  if (rest !== '') yield rest
}

function readLine(server: Server, line: string): { node: LineageNode } | { edge: LineageEdge } {
  const value = parseJson(server, line)
  if (!isObject(value)) throw notTributary(server)
  const { urn, upstream, downstream, degree, type, name, platform, exists } = value
  if (typeof upstream === 'string' && typeof downstream === 'string')
    return { edge: { upstream, downstream, degree: Number(degree) } }
  if (typeof urn !== 'string') throw notTributary(server)
  return {
    node: {
      ...value,
      urn,
      degree: Number(degree),
      type: String(type),
      name: String(name),
      platform: typeof platform === 'string' ? platform : null,
      exists: exists === true
    }
  }
}

const notTributary = (server: Server): Refusal =>
  new Refusal(
    `Unexpected answer from ${new URL(server.url).origin}. Is this a Tributary server?`,
    exitCodes.unreachable
  )
