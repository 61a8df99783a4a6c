/** Loads from the REST API; docs/loading.md explains each field. */
import { rest, restText } from './request.ts'

export type LoadCounts = { received: number; applied: number; unchanged: number; rejected: number }

export type LoadReport = {
  edges: { added: number; removed: number }
  columnEdges: { added: number; removed: number }
  /** `deleted` is missing in reports of older versions. */
  domains: { created: number; deleted?: number; set: number; unset: number }
  entities: {
    created: number
    deleted?: number
    placeholders: number
    byType: { type: string; created: number }[]
  }
  affected: {
    assets: { count: number; urns: string[] }
    domains: { count: number; urns: string[] }
    complete: boolean
  }
  wouldFail: boolean
}

export type Load = {
  id: string
  state: 'receiving' | 'accepted' | 'applying' | 'done' | 'failed' | 'aborted' | 'cancelled'
  format: string
  mode: string
  source: string
  actor: string
  atomic: boolean
  dryRun: boolean
  counts: LoadCounts
  snapshot?: {
    sweep: string
    stated: number | null
    toRemove: number | null
    kept: number | null
    removed: number
  }
  error: string | null
  createdAt: number
  finishedAt: number | null
  report?: LoadReport
  undoes?: string
  undoneBy?: string
  ignoredColumns?: string[]
  warnings?: { count: number; messages: string[] }
}

export type Reject = { line: number; code: string; message: string; field: string | null; record: string }

const pathOf = (id: string): string => `loads/${encodeURIComponent(id)}`

/** Throws ApiError, as all functions here do. */
export const readLoad = (id: string): Promise<Load> => rest(pathOf(id))

export const listLoads = (
  { state, cursor, limit }: { state: string | null; cursor: string | null; limit: number },
  signal?: AbortSignal
): Promise<{ loads: Load[]; nextCursor: string | null }> =>
  rest(
    `loads?${new URLSearchParams({ limit: String(limit), ...(state ? { state } : {}), ...(cursor ? { cursor } : {}) })}`,
    signal ? { signal } : {}
  )

/** The stream of server-sent events with the changes of a load; relative to a page. */
export const eventsAddress = (id: string): string => `../${pathOf(id)}/events`
export const rejectsPath = (id: string, query: { [name: string]: string } = {}): string =>
  `${pathOf(id)}/rejects?${new URLSearchParams(query)}`

export async function readRejects(
  id: string,
  { after, limit }: { after: number; limit: number },
  signal?: AbortSignal
): Promise<Reject[]> {
  const text = await restText(
    rejectsPath(id, { after: String(after), limit: String(limit) }),
    signal ? { signal } : {}
  )
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Reject)
}

export const retryLoad = (
  id: string,
  { force = false, createsMissing = false }: { force?: boolean; createsMissing?: boolean }
): Promise<Load> =>
  rest(
    `${pathOf(id)}/retry?${new URLSearchParams({
      ...(force ? { force: 'true' } : {}),
      ...(createsMissing ? { missingReferences: 'create' } : {})
    })}`,
    { method: 'POST' }
  )
export const cancelLoad = (id: string): Promise<Load> => rest(`${pathOf(id)}/cancel`, { method: 'POST' })
export const undoLoad = (id: string): Promise<Load> => rest(`${pathOf(id)}/undo`, { method: 'POST' })
/** A dry run: a load that reports what the undo would change. */
export const tryUndo = (id: string): Promise<Load> =>
  rest(`${pathOf(id)}/undo?dryRun=true`, { method: 'POST' })

export type Submission = {
  body: Blob
  isGzipped: boolean
  /** The name of the format; empty to let the server detect it. */
  format: string
  source: string
  mode: string
  createsMissing: boolean
  isDryRun: boolean
}

/** Resolves when the load has ended, or after a while. */
export function submitLoad({
  body,
  isGzipped,
  format,
  source,
  mode,
  createsMissing,
  isDryRun
}: Submission): Promise<Load> {
  const params = new URLSearchParams({
    ...(format ? { format } : {}),
    ...(source ? { source } : {}),
    ...(mode ? { mode } : {}),
    ...(isDryRun ? { dryRun: 'true', wait: '25' } : {}),
    missingReferences: createsMissing ? 'create' : 'reject'
  })
  return rest(`loads?${params}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/octet-stream',
      ...(isGzipped ? { 'content-encoding': 'gzip' } : {})
    },
    body
  })
}

/** Whether the queue answers. Without it loads are accepted, but applied later than usual. */
export const readHealth = (signal?: AbortSignal): Promise<{ status: string; queue: string }> =>
  rest('health/ready', signal ? { signal } : {})
