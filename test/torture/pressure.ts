/** The clients during a torture: loads without a pause, calls on the same edges, deletions. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { mutate, propose, sendLoad, type Api } from './catalog-calls.ts'
import { patiently } from './patiently.ts'
import { linesOf, pick, type Edge, type LoadPlan, type Random, type Workload } from './workload.ts'

export type PressureStage = {
  db: Db
  api: Api
  random: Random
  workload: Workload
  log: (line: string) => void
}

/** After a lost answer, the request id finds the load in Postgres. */
export type SentLoad = { plan: LoadPlan; requestId: string; isAcknowledged: boolean }

export type Call = { requestId: string; isAcknowledged: boolean } & (
  { op: 'add' | 'remove'; edge: Edge } | { op: 'delete'; urn: string }
)

/** Sends a load; a lost answer is not an error. */
export async function send({ api, log }: PressureStage, plan: LoadPlan): Promise<SentLoad> {
  const requestId = randomUUID()
  try {
    await sendLoad(api, linesOf(plan), { source: plan.source }, { 'x-request-id': requestId })
    return { plan, requestId, isAcknowledged: true }
  } catch (error) {
    log(`a load of ${plan.count} was not acknowledged: ${String(error)}`)
    return { plan, requestId, isAcknowledged: false }
  }
}

const lookEveryMs = 200

/**
 * Sends another load of `records` whenever fewer than `waitingMin` records wait. Returns all loads that it
 * sent.
 */
export async function sendOften(
  stage: PressureStage,
  { records, waitingMin }: { records: number; waitingMin: number },
  signal: AbortSignal
): Promise<SentLoad[]> {
  const sent: SentLoad[] = []
  while (!signal.aborted) {
    const [row] = await patiently(() =>
      query<{ waiting: number }>(
        stage.db,
        "select coalesce(sum(record_count), 0)::bigint as waiting from chunk where state in ('waiting', 'applying')"
      )
    )
    const load = (row?.waiting ?? 0) < waitingMin ? await send(stage, stage.workload.nextLoad(records)) : null
    if (load !== null) sent.push(load)
    if (load?.isAcknowledged !== true) await sleep(lookEveryMs)
  }
  return sent
}

const updateLineage = 'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }'
const callEveryMs = 20

/** Adds and removes contested edges by mutations, one after another. */
export async function callOften(
  { api, random, workload }: PressureStage,
  calls: Call[],
  signal: AbortSignal
): Promise<void> {
  while (!signal.aborted) {
    const edge = workload.contested()
    const op = random() < 0.5 ? ('add' as const) : ('remove' as const)
    const call = { requestId: randomUUID(), isAcknowledged: false, op, edge }
    calls.push(call)
    call.isAcknowledged = await mutate(api, call.requestId, updateLineage, {
      input: op === 'add' ? { edgesToAdd: [edge] } : { edgesToRemove: [edge] }
    })
    await sleep(callEveryMs)
  }
}

const deletion = (urn: string) => ({
  entityType: 'dataset',
  entityUrn: urn,
  changeType: 'DELETE',
  aspectName: 'datasetKey'
})
const creation = (urn: string) => ({
  entityType: 'dataset',
  entityUrn: urn,
  changeType: 'UPSERT',
  aspectName: 'datasetProperties',
  aspect: { value: '{"name":"again"}', contentType: 'application/json' }
})

/**
 * Deletes victims and creates them again, with pauses of at most this many milliseconds. At the end all
 * victims exist.
 */
export async function deleteOften(
  { api, random, workload }: PressureStage,
  calls: Call[],
  everyMs: number,
  signal: AbortSignal
): Promise<void> {
  while (!signal.aborted) {
    const urn = pick(random, workload.victims)
    const call = { requestId: randomUUID(), isAcknowledged: false, op: 'delete' as const, urn }
    calls.push(call)
    call.isAcknowledged = await propose(api, call.requestId, deletion(urn))
    await sleep((random() * everyMs) / 2)
    await propose(api, randomUUID(), creation(urn))
    await sleep(everyMs)
  }
  for (const urn of workload.victims)
    while (!(await propose(api, randomUUID(), creation(urn)))) await sleep(lookEveryMs)
}
