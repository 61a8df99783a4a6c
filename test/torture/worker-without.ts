/**
 * A worker process without the named rules: `node worker-without.js [--freeze-share 0.1] [RULE...]`. Only
 * the torture runs it. Its leases are short, and between the claim of a chunk and its application it may
 * stop for a while, like a frozen machine.
 */
import { parseArgs } from 'node:util'
import { allChunkGuards, type ChunkGuards } from '../../shared/catalog/loads/chunk-guards.ts'
import type { ApplyRecords } from '../../shared/catalog/loads/apply-chunk.ts'
import { rememberEntityIds } from '../../shared/catalog/write/entity-ids.ts'
import { applyRecords } from '../../shared/catalog/write/apply-records.ts'
import { allGuards, type Guards } from '../../shared/catalog/write/guards.ts'
import { createIsolationGate, type IsolationGate } from '../../shared/catalog/loads/isolation-gate.ts'
import { nudgeAgain } from '../../shared/catalog/loads/nudge-again.ts'
import { runChunk } from '../../shared/catalog/loads/run-chunk.ts'
import { sweep } from '../../shared/catalog/loads/sweep.ts'
import { connectDatabase } from '../../shared/db/connect.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { createLog } from '../../shared/platform/log.ts'
import { openQueue } from '../../shared/queue/chunk-queue.ts'
import { startChunkWorker } from '../../shared/queue/chunk-worker.ts'
import { startLoop } from '../../worker/loop.ts'

const leaseSeconds = 2
const quietSeconds = 2
const sweepEveryMs = 1_000
const frozenMs = 8_000

const { values, positionals } = parseArgs({
  options: { 'freeze-share': { type: 'string' } },
  allowPositionals: true
})
const leftOut = <Rules extends object>(rules: Rules): Rules => ({
  ...rules,
  ...Object.fromEntries(positionals.filter((name) => name in rules).map((name) => [name, false]))
})
const guards: Guards = leftOut(allGuards)
const chunkGuards: ChunkGuards = leftOut(allChunkGuards)

const ids = rememberEntityIds()
const apply: ApplyRecords = (tx, records, context, edges) =>
  applyRecords(tx, records, { ...context, guards }, edges)

function freezing(gate: IsolationGate, share: number): IsolationGate {
  const freeze = (): void => {
    if (Math.random() < share) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, frozenMs)
  }
  return {
    alone: (work) => gate.alone(work),
    together(work) {
      freeze()
      return gate.together(work)
    }
  }
}

const config = readConfig(process.env)
const log = createLog(config)
const db = connectDatabase({
  url: config.databaseUrl ?? '',
  poolMax: 3,
  applicationName: 'tributary-worker',
  statementTimeoutMs: config.statementTimeoutWorkerMs,
  lockTimeoutMs: 10_000,
  log
})
const queue = await openQueue(config, log)
const gate = freezing(createIsolationGate(), Number(values['freeze-share'] ?? 0))

await startChunkWorker({
  config,
  log,
  concurrency: 1,
  async look(chunkId, signal) {
    try {
      const { retryInMs } = await runChunk(db, queue, chunkId, {
        apply,
        ids,
        gate,
        signal,
        guards: chunkGuards,
        leaseSeconds
      })
      if (retryInMs !== undefined)
        setTimeout(() => {
          nudgeAgain(db, queue, chunkId).catch(() => {})
        }, retryInMs + 20)
    } catch (err) {
      log.warn({ err, chunkId }, 'a chunk could not be looked at')
    }
    return 'done'
  }
})
startLoop('sweep', sweepEveryMs, log, async () => {
  await sweep(db, queue, { guards: chunkGuards, quietSeconds })
})
