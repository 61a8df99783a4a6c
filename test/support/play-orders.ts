/**
 * Plays histories twice, in the order of acceptance and mixed, and compares the results.
 *
 * Many histories share a database, loads and chunks, because they change different things: that is twenty
 * times as fast. The mixing of chunks depends only on the seed, so a history that ends wrong can be replayed
 * alone, and shrunk.
 */
import { applyCall } from '../../shared/catalog/write/apply-call.ts'
import { applyRecords } from '../../shared/catalog/write/apply-records.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { inTransaction } from '../../shared/db/transaction.ts'
import { isDestructive } from '../../shared/model/change-facts.ts'
import type { ChangeRecord, MissingReferences } from '../../shared/model/changes.ts'
import { orderHorizon, pruneOrder } from '../../shared/store/housekeeping.ts'
import { apply, asCall, chunkContext, create, openLoad, record, type OpenLoad } from './changes.ts'
import { fc } from './fast-check.ts'
import { edgesOfOracle, endStates, type EndState } from './order-states.ts'
import { worldOf, type World } from './order-world.ts'
import type { Step } from './random-records.ts'

/**
 * Loads of records with one or two changes, the calls in between, and for each record the chunk of its load.
 */
export type History = { loads: Step[][][]; calls: Step[][]; places: number[] }

const loadsMax = 4
const callsMax = 2
const chunksPerLoad = 6
const recordsPerLoadMax = 6

export function historyOf(step: fc.Arbitrary<Step>): fc.Arbitrary<History> {
  const steps = fc.array(step, { minLength: 1, maxLength: 2 })
  return fc.record({
    loads: fc.array(fc.array(steps, { minLength: 1, maxLength: recordsPerLoadMax }), {
      minLength: 2,
      maxLength: loadsMax
    }),
    calls: fc.array(steps, { maxLength: callsMax }),
    places: fc.array(fc.noBias(fc.nat({ max: chunksPerLoad - 1 })), {
      minLength: loadsMax * recordsPerLoadMax,
      maxLength: loadsMax * recordsPerLoadMax
    })
  })
}

export type Trial = {
  missingReferences: MissingReferences
  hasOracle: boolean
  isParallel: boolean
  forgetsEmpty: boolean
}

/** The index of the history that ended wrong, and how; `at` is null if no single history can be blamed. */
type Wrong = { at: number | null; error: Error }

const playedAtOnce = 50

/**
 * Throws with the smallest history that ends differently when mixed. Plays `count` histories, or a few more.
 */
export async function tryOrders(
  db: Db,
  step: fc.Arbitrary<Step>,
  trial: Trial,
  { count, seed, log }: { count: number; seed: number; log: (line: string) => void }
): Promise<void> {
  const history = historyOf(step)
  let runs = 0
  for (let played = 0; played < count; played += playedAtOnce) {
    const batchSeed = (seed + played) | 0
    const size = Math.min(playedAtOnce, count - played)
    const turns = turnsOf(batchSeed)
    const play = (histories: readonly History[]) =>
      playTogether(db, `run${(runs += 1)}`, histories, turns, trial)
    const wrong = await play(fc.sample(history, { numRuns: size, seed: batchSeed }))
    if (!wrong) continue
    log(`a history of SEED=${batchSeed} ends wrong: ${wrong.error.message.slice(0, 2000)}`)
    for (const at of wrong.at === null ? Array.from({ length: size }, (_, index) => index) : [wrong.at]) {
      const least = await fc.check(
        fc.asyncProperty(history, async (alone) => {
          const found = await play([alone])
          if (found) throw found.error
        }),
        { numRuns: 1, seed: batchSeed, path: String(at), interruptAfterTimeLimit: 60_000 }
      )
      if (least.counterexample)
        throw new Error(
          `SEED=${batchSeed}, history ${at}: ${wordsOf(least.counterexample[0])}\nends wrong: ${String(least.errorInstance)}`,
          { cause: least.errorInstance }
        )
    }
    throw new Error(
      `SEED=${batchSeed}, and only when several histories are played together: ${wrong.error.message}`,
      { cause: wrong.error }
    )
  }
}

/** The steps of a history, each with its chunk. */
function wordsOf({ loads, calls, places }: History): string {
  const world = worldOf('w')
  const said = (steps: readonly Step[]): string =>
    JSON.stringify(steps.flatMap((step) => step.changes(world)))
  return [
    ...loads.flatMap((records, load) =>
      records.map(
        (steps, line) =>
          `load ${load + 1}, line ${line + 1}, chunk ${places[load * recordsPerLoadMax + line]}: ${said(steps)}`
      )
    ),
    ...calls.map((steps, number) => `call ${number + 1}: ${said(steps)}`)
  ].join('\n')
}

const turnsOf = (seed: number): number[] =>
  fc.sample(fc.array(fc.noBias(fc.nat({ max: 1000 })), { minLength: 64, maxLength: 64 }), {
    numRuns: 1,
    seed
  })[0] ?? []

type Played = { history: History; ordered: World; mixed: World }

/** The line numbers of a load tell which history a record belongs to. */
const linesPerHistory = 100

const isRefused = (steps: readonly Step[]): boolean => steps.some((step) => step.isRefused)

function recordsOf(played: readonly Played[], load: number, which: 'ordered' | 'mixed'): ChangeRecord[] {
  return played.flatMap((each, index) =>
    (each.history.loads[load] ?? []).map((steps, line) =>
      record(index * linesPerHistory + line + 1, ...steps.flatMap((step) => step.changes(each[which])))
    )
  )
}

type Chunk = { load: OpenLoad; records: ChangeRecord[] }

/**
 * Puts the records of a load into random chunks; real loads also separate consecutive lines, because passes
 * reorder them. Some chunks are empty, so that the schedule does not depend on the histories.
 */
function inChunks(
  load: OpenLoad,
  index: number,
  all: readonly ChangeRecord[],
  played: readonly Played[]
): Chunk[] {
  const placeOf = ({ line }: ChangeRecord): number =>
    played[Math.floor(line / linesPerHistory)]?.history.places[
      index * recordsPerLoadMax + (line % linesPerHistory) - 1
    ] ?? 0
  return Array.from({ length: chunksPerLoad }, (_, place) => ({
    load,
    records: all.filter((each) => placeOf(each) === place)
  }))
}

async function applyChunk(
  db: Db,
  { load, records }: Chunk,
  missingReferences: MissingReferences
): Promise<number[]> {
  if (records.length === 0) return []
  const verdicts = await inTransaction(db, async (tx) => {
    const judged = await applyRecords(tx, records, chunkContext(load, { missingReferences }))
    await query(
      tx,
      "update load set remaining = remaining - 1, state = case when remaining = 1 then 'done' else state end where id = ?::uuid",
      [load.id]
    )
    return judged
  })
  return verdicts.filter((verdict) => verdict.outcome === 'rejected').map((verdict) => verdict.line)
}

/** Removes orders that are no longer needed, as the sweeper does. */
async function prune(db: Db): Promise<void> {
  const horizon = await orderHorizon(db)
  if (horizon !== null) await inTransaction(db, (tx) => pruneOrder(tx, horizon, 1000))
}

const sourceOf = (load: number): string => `s${load % 2}`

async function playTogether(
  db: Db,
  name: string,
  histories: readonly History[],
  turns: readonly number[],
  trial: Trial
): Promise<Wrong | null> {
  const { missingReferences } = trial
  const played = histories.map((history, index): Played => ({
    history,
    ordered: worldOf(`${name}.${index}.ordered`),
    mixed: worldOf(`${name}.${index}.mixed`)
  }))
  try {
    await apply(
      db,
      ...create(...played.flatMap(({ ordered, mixed }) => [...ordered.assets, ...mixed.assets]))
    )
    const call = async (number: number, which: 'ordered' | 'mixed'): Promise<void> => {
      // A call is atomic, so a record that would be refused is left out. Otherwise the whole call would fail.
      const records = played.flatMap((each, index) => {
        const steps = each.history.calls[number] ?? []
        return steps.length === 0 || isRefused(steps)
          ? []
          : [record(index, ...steps.flatMap((step) => step.changes(each[which])))]
      })
      if (records.length > 0) await applyCall(db, records, asCall({ missingReferences }))
    }
    const refusedInOrder = await playInOrder(db, played, call, missingReferences)
    const refusedMixed = await playMixed(db, played, call, turns, trial)
    const unexpected = refusedAt(played, refusedInOrder) ?? refusedAt(played, refusedMixed)
    if (unexpected) return unexpected
  } catch (error) {
    return {
      at: histories.length === 1 ? 0 : null,
      error: error instanceof Error ? error : new Error(String(error))
    }
  }
  const ends = await endStates(
    db,
    played.flatMap(({ ordered, mixed }) => [ordered, mixed]),
    trial.forgetsEmpty
  )
  for (const [at, { history, ordered, mixed }] of played.entries()) {
    const error = faultOf(history, ordered, ends.get(ordered), ends.get(mixed), trial)
    if (error) return { at, error }
  }
  return null
}

type Call = (number: number, which: 'ordered' | 'mixed') => Promise<void>
type Refused = { load: number; line: number }[]

/** In order, and with nothing older unfinished at any time. */
async function playInOrder(
  db: Db,
  played: readonly Played[],
  call: Call,
  missingReferences: MissingReferences
): Promise<Refused> {
  const refused: Refused = []
  for (let load = 0; load < loadsMax; load += 1) {
    const records = recordsOf(played, load, 'ordered')
    if (records.length === 0) continue
    const lines = await applyChunk(
      db,
      { load: await openLoad(db, { source: sourceOf(load), remaining: 1, missingReferences }), records },
      missingReferences
    )
    refused.push(...lines.map((line) => ({ load, line })))
  }
  for (let number = 0; number < callsMax; number += 1) await call(number, 'ordered')
  return refused
}

async function playMixed(
  db: Db,
  played: readonly Played[],
  call: Call,
  turns: readonly number[],
  { missingReferences, isParallel }: Trial
): Promise<Refused> {
  const refused: Refused = []
  const waiting: (Chunk & { index: number })[] = []
  for (let index = 0; index < loadsMax; index += 1) {
    const all = recordsOf(played, index, 'mixed')
    const open = await openLoad(db, {
      source: sourceOf(index),
      missingReferences,
      isDestructive: isDestructive(all.flatMap((each) => each.changes))
    })
    const chunks = inChunks(open, index, all, played)
    const remaining = chunks.filter(({ records }) => records.length > 0).length
    await query(
      db,
      "update load set remaining = ?::int, state = case when ?::int = 0 then 'done' else state end where id = ?::uuid",
      [remaining, remaining, open.id]
    )
    waiting.push(...chunks.map((chunk) => ({ ...chunk, index })))
  }
  let called = 0
  let turn = 0
  const worker = async (): Promise<void> => {
    while (waiting.length > 0 || called < callsMax) {
      const drawn = turns[turn++ % turns.length] ?? 0
      const [chunk] = waiting.splice(drawn % (waiting.length + (isParallel ? 0 : callsMax - called)), 1)
      if (chunk)
        for (const line of await applyChunk(db, chunk, missingReferences))
          refused.push({ load: chunk.index, line })
      else if (isParallel) break
      else await call(called++, 'mixed')
      if (drawn % 5 === 0) await prune(db)
    }
  }
  // Calls are sequential: each is accepted after the one before it has been answered.
  const caller = async (): Promise<void> => {
    while (called < callsMax) await call(called++, 'mixed')
  }
  await (isParallel ? Promise.all([caller(), worker(), worker(), worker()]) : worker())
  return refused
}

/** A record that was refused and should not have been, or the reverse. */
function refusedAt(played: readonly Played[], refused: Refused): Wrong | null {
  const keys = new Set(refused.map(({ load, line }) => `${load} ${line}`))
  for (const [at, { history }] of played.entries()) {
    for (const [load, records] of history.loads.entries()) {
      const wrong = records.findIndex(
        (steps, line) => isRefused(steps) !== keys.has(`${load} ${at * linesPerHistory + line + 1}`)
      )
      if (wrong >= 0)
        return {
          at,
          error: new Error(
            `record ${wrong + 1} of load ${load + 1} (${(records[wrong] ?? []).map(({ name }) => name).join(', ')}) is ${isRefused(records[wrong] ?? []) ? 'not ' : ''}refused`
          )
        }
    }
  }
  return null
}

function faultOf(
  { loads, calls }: History,
  world: World,
  ordered: EndState | undefined,
  mixed: EndState | undefined,
  { hasOracle }: Trial
): Error | null {
  if (!ordered || !mixed) throw new Error('a world was not read')
  const accepted = (steps: readonly Step[]): readonly Step[] => (isRefused(steps) ? [] : steps)
  const told = [
    ...loads.map((load, index) => ({ steps: load.flatMap(accepted), source: sourceOf(index) })),
    ...calls.map((each) => ({ steps: accepted(each), source: 'manual' }))
  ]
  return (
    (hasOracle
      ? difference('the edges of the oracle', edgesOfOracle(told, world), 'applied in order', ordered.live)
      : null) ??
    difference('the edges of the documents', mixed.shown, 'stated', mixed.live) ??
    difference('in order', ordered.state, 'mixed', mixed.state)
  )
}

/** The lines that only one of the two has. */
export function difference(
  expectedName: string,
  expected: unknown,
  foundName: string,
  found: unknown
): Error | null {
  const [one = [], other = []] = [expected, found].map((value) => JSON.stringify(value, null, 1).split('\n'))
  if (one.join('\n') === other.join('\n')) return null
  const only = (lines: string[], others: string[]): string =>
    lines.filter((line) => !others.includes(line)).join('\n')
  return new Error(`only ${expectedName}:\n${only(one, other)}\nonly ${foundName}:\n${only(other, one)}`)
}
