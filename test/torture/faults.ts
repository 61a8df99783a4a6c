/** What goes wrong in a torture, in an order that its seed decides, and what of it counts. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { untilReady, type Api } from './catalog-calls.ts'
import { patiently } from './patiently.ts'
import type { Kept } from './processes.ts'
import type { TorturedPostgres, TorturedQueue } from './servers.ts'
import { pick, type Random } from './workload.ts'

/**
 * `worker`: kill -9 of a worker that holds a chunk. `api`: kill -9. `backend`: pg_terminate_backend of a connection of ours.
 * `queue`: everything in it is gone, or it stands still for some seconds. `postgres`: an immediate shutdown and a start.
 * `failover`: the primary dies, of Postgres or of Redis, and its standby takes its place.
 */
export const faultNames = ['worker', 'api', 'backend', 'queue', 'postgres', 'failover'] as const
export type FaultName = (typeof faultNames)[number]
export type FaultCounts = Record<FaultName, number>

export type FaultStage = {
  db: Db
  api: Api
  apiProcess: Kept
  workers: readonly Kept[]
  queue: TorturedQueue
  failOver: () => Promise<string>
  postgres: TorturedPostgres
  random: Random
  log: (line: string) => void
}

/** Between two kills workers apply for this long, so that each kill meets work of its own. */
const applyingMs = 1_000
const lookEveryMs = 20
/** So long a worker may find nothing to hold. */
const idleMaxMs = 90_000
const pauseMaxMs = 300

/** Plays so many of each kind, shuffled. Gives how many counted, which are fewer only where a worker held nothing for long. */
export async function playFaults(stage: FaultStage, wanted: FaultCounts): Promise<FaultCounts> {
  const played: FaultCounts = { worker: 0, api: 0, backend: 0, queue: 0, postgres: 0, failover: 0 }
  for (const name of shuffled(stage.random, wanted)) {
    const what = await plays[name](stage)
    if (what === null) return played
    played[name] += 1
    stage.log(`${name} ${played[name]}: ${what}`)
    await sleep(stage.random() * pauseMaxMs)
  }
  return played
}

function shuffled(random: Random, wanted: FaultCounts): FaultName[] {
  return faultNames
    .flatMap((name) => Array.from({ length: wanted[name] }, () => ({ name, key: random() })))
    .sort((a, b) => a.key - b.key)
    .map(({ name }) => name)
}

/** Each says what it did; null where it waited for its chance in vain. */
const plays: Record<FaultName, (stage: FaultStage) => Promise<string | null>> = {
  worker: killHolder,
  async api({ api, apiProcess }) {
    await untilReady(api)
    await apiProcess.kill()
    return 'killed'
  },
  backend: (stage) => patiently(() => terminateBackend(stage)),
  queue: (stage) => stage.queue.harm(stage.random),
  async postgres({ postgres }) {
    const begun = Date.now()
    await postgres.restart?.()
    return `restarted after ${Date.now() - begun} ms`
  },
  async failover({ failOver }) {
    const what = await failOver()
    // Writes may have been held up until now.
    await sleep(applyingMs)
    return what
  }
}

type Held = { id: number; fence: number; pid: number }

const holdsNow = ({ db }: FaultStage): Promise<Held[]> =>
  patiently(() =>
    query<Held>(
      db,
      `
  select id, fence, split_part(claimed_by, ':', 2)::int as pid
  from chunk
  where state = 'applying' and lease_until > now()`
    )
  )

/** Kills a worker only while a chunk's row says that it is applying it, and counts the kill only if the row still says so afterwards. */
async function killHolder(stage: FaultStage): Promise<string | null> {
  const worker = pick(stage.random, stage.workers)
  let appliedMs = 0
  let lookedAt = Date.now()
  for (const giveUpAt = lookedAt + idleMaxMs; lookedAt < giveUpAt; await sleep(lookEveryMs)) {
    const held = await holdsNow(stage)
    const now = Date.now()
    if (held.some(({ pid }) => stage.workers.some((each) => each.pid() === pid))) appliedMs += now - lookedAt
    lookedAt = now
    const chunk = held.find(({ pid }) => pid === worker.pid())
    if (appliedMs < applyingMs || !chunk) continue
    await worker.kill()
    const [after] = await patiently(() =>
      query(stage.db, "select id from chunk where id = ? and fence = ? and state = 'applying'", [
        chunk.id,
        chunk.fence
      ])
    )
    if (after) return `${chunk.pid} killed while it held chunk ${chunk.id} (fence ${chunk.fence})`
    appliedMs = 0
  }
  return null
}

type Backend = { pid: number; name: string; isBusy: boolean }

/** Most often one that is in a transaction: there it hurts. */
const busyShare = 0.7

async function terminateBackend({ db, random }: FaultStage): Promise<string> {
  const backends = await query<Backend>(
    db,
    `
    select pid, application_name as name, state <> 'idle' as "isBusy"
    from pg_stat_activity
    where datname = current_database() and application_name like 'tributary-%' and application_name <> 'tributary-test'
    order by pid`
  )
  const busy = backends.filter(({ isBusy }) => isBusy)
  const { pid, name } = pick(random, busy.length > 0 && random() < busyShare ? busy : backends)
  const [row] = await query<{ isEnded: boolean }>(db, 'select pg_terminate_backend(?::int) as "isEnded"', [
    pid
  ])
  if (!row?.isEnded) throw new Error('it had ended by itself')
  return `ended a connection of ${name}`
}
