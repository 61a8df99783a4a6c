/**
 * One run of the torture: contested loads, calls and deletes at once, while workers are killed and Redis is flushed;
 * then everything is compared with the fold of what was accepted.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { isTerminal, mutate, propose, readLoad, readRejects, sendLoad, type Api } from './catalog-calls.ts'
import { differences, edgeText, foldAccepted, type AcceptedChange } from './oracle.ts'
import type { Kept } from './processes.ts'
import { linesOf, pick, type Edge, type Random, type Workload } from './workload.ts'

export type Setup = { db: Db, api: Api, workers: Kept[], redisUrl: string | null, random: Random, workload: Workload, kills: number, flushes: number, log: (line: string) => void }

export type Outcome = { faults: string[], figures: Record<string, number> }

type Call = { requestId: string } & ({ op: 'add' | 'remove', edge: Edge } | { op: 'delete', urn: string })

const settleMaxMs = 60_000

export async function torture(setup: Setup): Promise<Outcome> {
  const { api, workload, log } = setup
  const made = await sendLoad(api, workload.entities.map((urn) => `${JSON.stringify({ op: 'upsertEntity', urn })}\n`), { source: 'setup' })
  await untilTerminal(setup, [made], 120_000)

  const begun = Date.now()
  const loadIds = await Promise.all(workload.loads.map((load) => sendLoad(api, linesOf(workload, load), { source: load.source })))
  log(`3 loads accepted after ${Date.now() - begun} ms`)
  const stop = new AbortController()
  const calls: Call[] = []
  const callers = [callOften(setup, calls, stop.signal), deleteOften(setup, calls, stop.signal)]
  const kills = await killWhileHolding(setup, loadIds)
  const lastFault = Date.now()
  stop.abort()
  await Promise.all(callers)
  const isSettled = await untilTerminal(setup, loadIds, settleMaxMs)
  const figures = { kills, calls: calls.length, settleMs: Date.now() - lastFault, totalMs: Date.now() - begun }
  const faults = isSettled ? [] : [`a load was not terminal ${settleMaxMs} ms after the last fault`]
  if (kills < setup.kills) faults.push(`only ${kills} of ${setup.kills} kills met a worker that held a chunk: the loads ended first`)
  return { faults: [...faults, ...await compare(setup, loadIds, calls)], figures }
}

async function untilTerminal({ api, log }: Setup, ids: readonly string[], maxMs: number): Promise<boolean> {
  const end = Date.now() + maxMs
  while (Date.now() < end) {
    const loads = await Promise.all(ids.map((id) => readLoad(api, id)))
    if (loads.every(isTerminal)) return true
    await sleep(200)
  }
  for (const id of ids) log(JSON.stringify(await readLoad(api, id)))
  return false
}

/** Kills a worker only while a chunk row says that it is applying it, and counts the kill only if the row still says so afterwards. */
async function killWhileHolding({ db, api, workers, redisUrl, random, kills, flushes, log }: Setup, loadIds: readonly string[]): Promise<number> {
  let count = 0
  let flushed = 0
  while (count < kills) {
    const loads = await Promise.all(loadIds.map((id) => readLoad(api, id)))
    if (loads.every(isTerminal)) return count
    const worker = pick(random, workers)
    const pid = worker.pid()
    const held = await query<{ id: number, fence: number }>(db, `
      select id, fence from chunk where state = 'applying' and lease_until > now() and claimed_by like '%:' || ?::text limit 1`, [String(pid)])
    const [chunk] = held
    if (!chunk || pid === undefined) {
      await sleep(5)
      continue
    }
    await worker.kill()
    const [after] = await query<{ id: number }>(db, "select id from chunk where id = ? and fence = ? and state = 'applying'", [chunk.id, chunk.fence])
    if (after) {
      count += 1
      log(`kill ${count}: worker ${pid} while it held chunk ${chunk.id} (fence ${chunk.fence})`)
    }
    if (redisUrl && flushed < flushes && count >= ((flushed + 1) * kills) / (flushes + 1)) {
      const redis = new Redis(redisUrl)
      await redis.flushall()
      await redis.quit()
      flushed += 1
      log(`flushed Redis (${flushed})`)
    }
    await sleep(500 + random() * 500)
  }
  return count
}

const updateLineage = 'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }'

async function callOften({ api, random, workload }: Setup, calls: Call[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const edge = pick(random, workload.edges)
    const op = random() < 0.5 ? 'add' as const : 'remove' as const
    const requestId = randomUUID()
    calls.push({ requestId, op, edge })
    await mutate(api, requestId, updateLineage, { input: op === 'add' ? { edgesToAdd: [edge] } : { edgesToRemove: [edge] } })
    await sleep(20)
  }
}

async function deleteOften({ api, random, workload }: Setup, calls: Call[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const urn = pick(random, workload.victims)
    const requestId = randomUUID()
    calls.push({ requestId, op: 'delete', urn })
    await propose(api, requestId, { entityType: 'dataset', entityUrn: urn, changeType: 'DELETE', aspectName: 'datasetKey' })
    await sleep(random() * 500)
    await propose(api, randomUUID(), { entityType: 'dataset', entityUrn: urn, changeType: 'UPSERT', aspectName: 'datasetProperties', aspect: { value: JSON.stringify({ name: 'again' }), contentType: 'application/json' } })
    await sleep(1_000)
  }
  for (const urn of workload.victims) {
    await propose(api, randomUUID(), { entityType: 'dataset', entityUrn: urn, changeType: 'UPSERT', aspectName: 'datasetProperties', aspect: { value: '{"name":"again"}', contentType: 'application/json' } })
  }
}

async function compare(setup: Setup, loadIds: readonly string[], calls: readonly Call[]): Promise<string[]> {
  const { db, api, workload, log } = setup
  const faults: string[] = []
  const accepted: AcceptedChange[] = []
  const seqs = new Map((await query<{ id: string, seq: number }>(db, 'select id, seq from load where id = any(?::uuid[])', [loadIds])).map((row) => [row.id, row.seq]))
  for (const [index, id] of loadIds.entries()) {
    const load = workload.loads[index]
    if (!load) throw new Error('a load without a plan')
    const state = await readLoad(api, id)
    const rejects = new Map((await readRejects(api, id)).map((reject) => [reject.line, reject]))
    const { received, applied, unchanged, rejected } = state.counts
    if (received !== load.lines.length || applied + unchanged + rejected !== received) faults.push(`load ${id}: ${JSON.stringify(state.counts)} do not add up to ${load.lines.length}`)
    if (rejects.size !== rejected) faults.push(`load ${id}: ${rejected} rejected, ${rejects.size} kept`)
    load.lines.forEach(({ op, edge: number }, at) => {
      const edge = workload.edges[number]
      if (!edge) throw new Error('an edge without ends')
      const reject = rejects.get(at + 1)
      if (reject && !workload.victims.some((urn) => edge.upstreamUrn === urn || edge.downstreamUrn === urn)) faults.push(`line ${at + 1} of ${id} was rejected: ${reject.code} ${reject.message}`)
      if (!reject) accepted.push({ seq: seqs.get(id) ?? 0, line: at + 1, ...(op === 'add' ? { op, edge, source: load.source } : { op, edge }) })
    })
    log(`load ${id}: ${state.state} ${JSON.stringify(state.counts)}`)
  }
  const audited = new Map((await query<{ requestId: string, seq: number }>(db, 'select request_id as "requestId", seq from audit where request_id is not null and chunk_id is null')).map((row) => [row.requestId, row.seq]))
  for (const call of calls) {
    const seq = audited.get(call.requestId)
    if (seq === undefined) continue
    if (call.op === 'delete') accepted.push({ seq, line: 0, op: 'delete', urn: call.urn })
    else accepted.push({ seq, line: 0, ...(call.op === 'add' ? { op: 'add', edge: call.edge, source: 'manual' } : { op: 'remove', edge: call.edge }) })
  }
  const actual = new Map<string, Set<string>>()
  for (const row of await query<Edge & { source: string }>(db, `
    select upstream.urn as "upstreamUrn", downstream.urn as "downstreamUrn", statement_source.name as source
    from statement
    join entity as upstream on upstream.id = statement.upstream_id
    join entity as downstream on downstream.id = statement.downstream_id
    join statement_source on statement_source.id = statement.source_id`)) {
    const key = edgeText(row)
    actual.set(key, (actual.get(key) ?? new Set()).add(row.source))
  }
  const wrong = differences(foldAccepted(accepted), actual)
  if (wrong.length > 0) faults.push(`${wrong.length} edges differ from the fold, for example ${wrong.slice(0, 3).join('; ')}`)
  const unaudited = await query<{ id: number }>(db, "select chunk.id from chunk where chunk.state = 'settled' and (select count(*) from audit where audit.chunk_id = chunk.id) <> 1")
  if (unaudited.length > 0) faults.push(`${unaudited.length} chunks do not have exactly one audit row`)
  log(`${actual.size} edges compared, ${accepted.length} accepted changes, ${calls.length} calls`)
  return faults
}
