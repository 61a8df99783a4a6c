/** A server that answers as Marquez does, for what reads its events. */
import type { RequestListener } from 'node:http'
import type { JsonObject } from '../../shared/model/changes.ts'

/** The events that it has, and the queries that it was asked. */
export type Stored = { events: JsonObject[]; asked: string[] }

/** Answers as Marquez does; `trouble` may answer instead. */
export const marquez =
  (
    stored: Stored,
    trouble: (...args: Parameters<RequestListener>) => boolean = () => false
  ): RequestListener =>
  (request, response) => {
    const url = new URL(request.url ?? '', 'http://marquez')
    stored.asked.push(url.search)
    if (trouble(request, response)) return
    const [limit, offset] = [Number(url.searchParams.get('limit')), Number(url.searchParams.get('offset'))]
    const sorted = stored.events.toSorted((a, b) => (String(a.eventTime) < String(b.eventTime) ? -1 : 1))
    if (url.searchParams.get('sortDirection') !== 'asc') sorted.reverse()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ events: sorted.slice(offset, offset + limit), totalCount: sorted.length }))
  }
