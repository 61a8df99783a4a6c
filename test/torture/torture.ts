/**
 * One run of the torture: contested loads, calls and deletions at the same time, while processes,
 * connections and servers are killed. In the end everything is compared with the fold of what was accepted.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../shared/db/query.ts'
import { isTerminal, readLoad, sendLoad } from './catalog-calls.ts'
import { compare, readLoads } from './compare.ts'
import { judgeEvents, loadEvents, sendEvents } from './events.ts'
import { faultNames, playFaults, type FaultCounts, type FaultStage } from './faults.ts'
import { patiently } from './patiently.ts'
import {
  callOften,
  deleteOften,
  send,
  sendOften,
  type Call,
  type PressureStage,
  type SentLoad
} from './pressure.ts'

export type Size = {
  edges: number
  /** Records of each load that waits when the faults begin. */
  firstLoads: readonly number[]
  /** Records of each further load, and how many records wait at least until the last fault. */
  recordsPerLoad: number
  waitingMin: number
  deleteEveryMs: number
  /** The minimum time for which clients continue, even if the faults take less. */
  leastMs: number
  faults: FaultCounts
}

export type Stage = FaultStage & PressureStage & { size: Size }

/** `faults` are the differences, as text. */
export type Outcome = { faults: string[]; figures: Record<string, number> }

/** Beyond the time that the waiting records take at the pace of the machine. */
const settleMaxMs = 60_000
const restMaxMs = 600_000
const lateMaxMs = 120_000
const setUpMaxMs = 120_000
const lookEveryMs = 200

export async function torture(stage: Stage): Promise<Outcome> {
  const { size, log } = stage
  await setUp(stage)
  const begun = Date.now()
  const calls: Call[] = []
  const stop = new AbortController()
  const first = await Promise.all(
    size.firstLoads.map((records) => send(stage, stage.workload.nextLoad(records)))
  )
  log(`${first.length} loads accepted after ${Date.now() - begun} ms`)
  const callers = [
    callOften(stage, calls, stop.signal),
    deleteOften(stage, calls, size.deleteEveryMs, stop.signal)
  ]
  const events = sendEvents(stage, stop.signal)
  const loadingEvents = loadEvents(stage, stop.signal)
  const sending = sendOften(stage, { records: size.recordsPerLoad, waitingMin: size.waitingMin }, stop.signal)

  const faultsBegunAt = Date.now()
  const played = await playFaults(stage, size.faults)
  const lastFaultAt = Date.now()
  await sleep(faultsBegunAt + size.leastMs - lastFaultAt)
  const stoppedAt = Date.now()
  stop.abort()
  const sent = [...first, ...(await sending)]
  const maxMs = Math.round(settleMaxMs + (await restMs(stage, stoppedAt - begun)))
  const unsettled = await untilSettled(stage, sent, stoppedAt + maxMs)
  const settleMs = Date.now() - stoppedAt
  // A load that is late may still end correctly, so only ended loads can be compared.
  if (unsettled > 0) await untilSettled(stage, sent, Date.now() + lateMaxMs)
  await Promise.all(callers)
  const sentEvents = await events
  const wrongEvents = await loadingEvents

  const records = sent.reduce((sum, { plan }) => sum + plan.count, 0)
  const figures = {
    ...played,
    loads: sent.length,
    records,
    calls: calls.length,
    events: sentEvents.indexes.length,
    faultSeconds: Math.round((lastFaultAt - faultsBegunAt) / 1_000),
    settleMs,
    totalMs: Date.now() - begun
  }
  const isMissed = faultNames.some((name) => played[name] < size.faults[name])
  const missed = isMissed
    ? [`only ${JSON.stringify(played)} of ${JSON.stringify(size.faults)} had their chance`]
    : []
  const late = unsettled > 0 ? [`${unsettled} loads were not terminal ${maxMs} ms after the last fault`] : []
  return {
    faults: [
      ...missed,
      ...late,
      ...(await patiently(() => compare(stage, sent, calls))),
      ...wrongEvents,
      ...(await patiently(() => judgeEvents(stage, sentEvents)))
    ],
    figures
  }
}

async function setUp({ api, workload }: Stage): Promise<void> {
  const id = await sendLoad(
    api,
    workload.entities.map((urn) => `${JSON.stringify({ op: 'upsertEntity', urn })}\n`),
    { source: 'setup' }
  )
  for (const giveUpAt = Date.now() + setUpMaxMs; Date.now() < giveUpAt; await sleep(lookEveryMs))
    if (isTerminal(await readLoad(api, id))) return
  throw new Error('the entities were not made in time')
}

/** How long the waiting records take if they take as long as those that were applied in the given time. */
async function restMs({ db }: Stage, ms: number): Promise<number> {
  const [row] = await patiently(() =>
    query<{ settled: number; waiting: number }>(
      db,
      `
      select
        coalesce(sum(record_count) filter (where state = 'settled'), 0)::bigint as settled,
        coalesce(sum(record_count) filter (where state in ('waiting', 'applying')), 0)::bigint as waiting
      from chunk`
    )
  )
  return Math.min(restMaxMs, (ms * (row?.waiting ?? 0)) / Math.max(1, row?.settled ?? 0))
}

/** Waits until every load with a complete body has ended. Returns how many have not in the given time. */
async function untilSettled(stage: Stage, sent: readonly SentLoad[], end: number): Promise<number> {
  for (;;) {
    const unsettled = (await patiently(() => readLoads(stage, sent))).filter(
      (load) => load.isWhole && !isTerminal(load)
    )
    if (unsettled.length === 0) return 0
    if (Date.now() > end) {
      const ids = unsettled.map(({ id }) => id)
      const chunks = await query(
        stage.db,
        "select id, state, pass, fence, crashes, faults, attempts, lease_until, next_at, nudged_at, last_error, claimed_by from chunk where load_id = any(?::uuid[]) and state in ('waiting', 'applying') order by id limit 10",
        [ids]
      )
      stage.log(JSON.stringify({ unsettled, chunks }))
      return unsettled.length
    }
    await sleep(lookEveryMs)
  }
}
