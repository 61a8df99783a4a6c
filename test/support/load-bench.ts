/** Loads without processes: a queue that a test can inspect, and a worker that the test runs step by step. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { rememberEntityIds } from '../../shared/catalog/write/entity-ids.ts'
import { applyRecords } from '../../shared/catalog/write/apply-records.ts'
import type { ApplyRecords } from '../../shared/catalog/loads/apply-chunk.ts'
import { allChunkGuards, type ChunkGuards } from '../../shared/catalog/loads/chunk-guards.ts'
import type { KnownIds } from '../../shared/catalog/lineage/known-ids.ts'
import type { LoadRequest } from '../../shared/catalog/loads/load-request.ts'
import { receiveLoad } from '../../shared/catalog/loads/receive-load.ts'
import {
  readLoad,
  readRejects,
  type LoadView,
  type RejectView
} from '../../shared/catalog/loads/read-load.ts'
import { runChunk, type Run, type RunOptions } from '../../shared/catalog/loads/run-chunk.ts'
import type { Db } from '../../shared/db/database.ts'
import { query, type Binding } from '../../shared/db/query.ts'
import type { Actor, JsonValue, Verdict } from '../../shared/model/changes.ts'
import type { ChunkQueue } from '../../shared/queue/chunk-queue.ts'
import { toUrn } from '../../shared/urn/urn.ts'
import { withDatabase, type TestDatabase } from './database.ts'

export const admin: Actor = {
  urn: toUrn('urn:li:corpuser:etl'),
  tokenId: null,
  scopes: ['admin'],
  domainUrns: null
}

export const dataset = (name: string | number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
export const entity = (name: string | number): JsonValue => ({ op: 'upsertEntity', urn: dataset(name) })
export const edge = (upstream: string | number, downstream: string | number): JsonValue => ({
  upstreamUrn: dataset(upstream),
  downstreamUrn: dataset(downstream)
})
export const removal = (upstream: string | number, downstream: string | number): JsonValue => ({
  op: 'removeEdge',
  upstreamUrn: dataset(upstream),
  downstreamUrn: dataset(downstream)
})

/** Reports every record as applied, and does nothing. */
export const pretend: ApplyRecords = async (_tx, records) =>
  records.map((record): Verdict => ({ line: record.line, outcome: 'applied' }))

export const guardsWithout = (...names: (keyof ChunkGuards)[]): ChunkGuards => ({
  ...allChunkGuards,
  ...Object.fromEntries(names.map((name) => [name, false]))
})

export async function rejectsOf(bench: { db: Db }, id: string): Promise<RejectView[]> {
  const rejects: RejectView[] = []
  for await (const reject of await readRejects(bench.db, admin, id, { after: 0, limit: 1_000 }))
    rejects.push(reject)
  return rejects
}

const toLine = (record: JsonValue): string => (typeof record === 'string' ? record : JSON.stringify(record))

async function* bodyOf(records: readonly JsonValue[]): AsyncGenerator<Buffer> {
  yield Buffer.from(records.map(toLine).join('\n'))
}

export type LoadBench = {
  db: Db
  url: string
  /** Chunks whose nudge has not been handled yet. */
  told: number[]
  queue: ChunkQueue
  rows: <Row>(sql: string, bindings?: readonly Binding[]) => Promise<Row[]>
  /** Submits records, and returns the accepted load, not yet applied. */
  submit: (
    records: readonly JsonValue[],
    request?: Partial<LoadRequest>,
    knownIds?: () => KnownIds | null
  ) => Promise<string>
  look: (chunkId: number, options?: Partial<RunOptions>) => Promise<Run>
  /** Handles nudges until there are none. Chunks that were handed back are nudged again when due. */
  drain: (options?: Partial<RunOptions>) => Promise<Run[]>
  load: (id: string) => Promise<LoadView>
  chunks: (loadId: string) => Promise<ChunkState[]>
  /** The stored records of a chunk. */
  payload: (chunkId: number) => Promise<Buffer | null>
}

export type ChunkState = {
  id: number
  pass: number
  state: string
  fence: number
  attempts: number
  faults: number
  crashes: number
  isIsolated: boolean
  recordCount: number
  hasPayload: boolean
}

export async function withLoadBench(
  t: Test,
  options: { apply?: RunOptions['apply'] } = {}
): Promise<LoadBench> {
  return loadBenchOn(await withDatabase(t), options)
}

/** The same on a database that the caller creates and drops. */
export function loadBenchOn(
  { db, url }: TestDatabase,
  options: { apply?: RunOptions['apply'] } = {}
): LoadBench {
  const told: number[] = []
  const queue: ChunkQueue = {
    nudge: async (nudges) => {
      told.push(...nudges.map((nudge) => nudge.chunkId))
      return true
    },
    depth: async () => told.length,
    close: async () => {}
  }
  const apply = options.apply ?? applyRecords
  // As in the worker, unless a test applies records in its own way.
  const ids = options.apply ? undefined : rememberEntityIds()
  const look: LoadBench['look'] = (chunkId, more = {}) =>
    runChunk(db, queue, chunkId, { apply, ids: more.apply ? undefined : ids, ...more })
  const rows: LoadBench['rows'] = (sql, bindings = []) => query(db, sql, bindings)

  return {
    db,
    url,
    told,
    queue,
    look,
    rows,
    submit: async (records, request = {}, knownIds = () => null) =>
      (
        await receiveLoad(
          db,
          queue,
          {
            actor: admin,
            requestId: null,
            format: 'ndjson',
            source: 'test',
            missingReferences: 'reject',
            ...request
          },
          bodyOf(records),
          knownIds
        )
      ).id,
    async drain(more = {}) {
      const runs: Run[] = []
      for (let id = told.shift(); id !== undefined; id = told.shift()) {
        const run = await look(id, more)
        runs.push(run)
        if (run.retryInMs !== undefined && runs.length < 400) {
          await sleep(run.retryInMs + 5)
          told.push(id)
        }
      }
      return runs
    },
    payload: async (chunkId) =>
      (await rows<{ payload: Buffer | null }>('select payload from chunk where id = ?', [chunkId]))[0]
        ?.payload ?? null,
    load: (id) => readLoad(db, admin, id),
    chunks: (loadId) =>
      rows<ChunkState>(
        `
      select id, pass, state, fence, attempts, faults, crashes, is_isolated as "isIsolated", record_count as "recordCount", payload is not null as "hasPayload"
      from chunk
      where load_id = ?::uuid
      order by id`,
        [loadId]
      )
  }
}
