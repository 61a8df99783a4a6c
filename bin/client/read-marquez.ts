/** Reads the events of another server with Marquez' API: `GET /api/v1/events/lineage`, a page at a time. */
import type { IncomingMessage } from 'node:http'
import { parseEventText } from '../../shared/openlineage/event-text.ts'
import { Refusal } from '../failure.ts'
import { requireSuccess } from './ask.ts'
import { exchange } from './connection.ts'
import { isObject } from './load-view.ts'
import { unreachable, type Server } from './server.ts'

export type EventsPage = { events: unknown[]; totalCount: number | null }

/** The page is too large for memory. Ask for fewer events. */
export class PageTooLarge extends Refusal {}
/** An event of the page cannot be read. Ask for fewer events to find it. */
export class PageUnreadable extends Refusal {}

const pageMaxBytes = 48 * 1024 * 1024
const answerMaxMs = 120_000

/**
 * Throws PageTooLarge, PageUnreadable, ServerRefused, Refusal if nothing answers or not as Marquez does, and
 * the signal's reason.
 */
export async function readEventsPage(
  server: Server,
  { offset, limit, signal }: { offset: number; limit: number; signal: AbortSignal }
): Promise<EventsPage> {
  const query = new URLSearchParams({ sortDirection: 'asc', limit: String(limit), offset: String(offset) })
  const late = AbortSignal.timeout(answerMaxMs)
  let response: IncomingMessage
  let text: string
  try {
    response = await exchange(server, `api/v1/events/lineage?${query.toString()}`, {
      method: 'GET',
      signal: AbortSignal.any([signal, late])
    })
    text = await pageOf(response)
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof Refusal ? error : unreachable(server, error)
  }
  requireSuccess(server, response, text, { isNamed: true })
  return readPage(server, text)
}

async function pageOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of response) {
    if (!Buffer.isBuffer(part)) throw new TypeError('an answer without an encoding is read in buffers')
    bytes += part.length
    if (bytes > pageMaxBytes)
      throw new PageTooLarge(`A page of events has more than ${pageMaxBytes / 1024 / 1024} MiB.`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function readPage(server: Server, text: string): EventsPage {
  let answer: unknown
  try {
    answer = parseEventText(text, 'The answer')
  } catch (error) {
    if (/^\s*\{\s*"(events|totalCount)"\s*:/.test(text))
      throw new PageUnreadable(error instanceof Error ? error.message : String(error))
    answer = null
  }
  if (!isObject(answer) || !Array.isArray(answer.events))
    throw new Refusal(
      `${new URL(server.url).origin} has no events at /api/v1/events/lineage. Is this a Marquez server?`
    )
  return {
    events: answer.events,
    totalCount: typeof answer.totalCount === 'number' ? answer.totalCount : null
  }
}
