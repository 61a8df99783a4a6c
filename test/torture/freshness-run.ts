/**
 * Writers and readers of the freshness torture: after each acknowledged write, another process is asked for
 * it at once.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonValue } from '../../shared/model/changes.ts'
import { valueAt } from '../support/json-answer.ts'
import type { Api } from './catalog-calls.ts'
import { apiDoor, askGraphql, reasonsOf, type Door } from './freshness-doors.ts'
import { createHistory, type History, type Observation } from './freshness-history.ts'
import { readAt, type Read } from './freshness-reads.ts'
import {
  assets,
  changeCount,
  creation,
  domains,
  initialValue,
  randomWrite,
  type Place,
  type Write
} from './freshness-workload.ts'
import { pick, type Random } from './workload.ts'

export type Figures = {
  /** Edges, domains and assets of the acknowledged calls. */
  writes: number
  acknowledged: number
  refused: number
  unknown: number
  reads: number
  /** Reads without an answer. */
  failedReads: number
  /** Reads of lineage that the graph in memory answered. */
  fromMemory: number
  walks: number
  /** Observations of single keys in the answers of reads. */
  judged: number
  staleReads: number
}

export type Run = {
  apis: readonly Api[]
  /** The catalog's functions, in transactions of the torture. */
  own: Door
  /** Whether a worker runs. */
  hasLoads: boolean
  random: Random
  history: History
  figures: Figures
  /** The first few faults, for the person who investigates. */
  faults: string[]
}

const faultsKeptCount = 5
const restAfterFailureMs = 20
/** The share of writes that are not sent to an API. */
const ownShare = 0.4

export const startRun = ({
  apis,
  own,
  random,
  hasLoads
}: Pick<Run, 'apis' | 'own' | 'random' | 'hasLoads'>): Run => ({
  apis,
  own,
  random,
  hasLoads,
  history: createHistory(initialValue),
  faults: [],
  figures: {
    writes: 0,
    acknowledged: 0,
    refused: 0,
    unknown: 0,
    reads: 0,
    failedReads: 0,
    fromMemory: 0,
    walks: 0,
    judged: 0,
    staleReads: 0
  }
})

const createDomain =
  'mutation ($id: String!, $name: String!) { createDomain(input: { id: $id, name: $name }) }'

/** Creates the domains and the assets. Throws if that is not acknowledged. */
export async function prepare(run: Run): Promise<void> {
  const [api] = run.apis
  if (!api) throw new Error('no API')
  for (const urn of domains) {
    const id = urn.slice('urn:li:domain:'.length)
    const answer = await askGraphql(api, createDomain, { id, name: id })
    if (valueAt(answer?.json, 'data.createDomain') !== urn)
      throw new Error(`no domain: ${JSON.stringify(answer)}`)
  }
  for (const urn of assets)
    if ((await send(run, creation(urn), apiDoor(api))) !== 'acknowledged')
      throw new Error(`${urn} was not made`)
}

/** Sends one write and records its result. */
export async function send(run: Run, write: Write, door: Door): Promise<Awaited<ReturnType<Door>>> {
  const end = run.history.write(write.effects)
  const outcome = await door(write.request)
  end(outcome)
  run.figures[outcome] += 1
  if (outcome === 'acknowledged') run.figures.writes += changeCount(write)
  return outcome
}

/** Reads on one API and compares the answer with the acknowledged writes. Returns whether an answer came. */
export async function readAndJudge(run: Run, api: Api, place: Place): Promise<boolean> {
  const { figures, history } = run
  const read = readAt(place, run.random)
  const judge = history.read()
  const answer = await askGraphql(api, read.query, read.variables)
  const isWhole = answer?.status === 200 && reasonsOf(answer.json).every((reason) => reason === 'NOT_FOUND')
  if (!isWhole) {
    judge([])
    figures.failedReads += 1
    return false
  }
  const observed = read.decode(valueAt(answer.json, 'data') ?? null)
  const impossible = judge(observed)
  figures.reads += 1
  figures.judged += observed.length
  countEngine(figures, answer.json)
  if (impossible.length > 0) keepFault(run, api, read, impossible, answer.json)
  return true
}

function countEngine(figures: Figures, json: JsonValue): void {
  const engine = valueAt(json, 'extensions.lineage.engine')
  if (typeof engine !== 'string') return
  figures.walks += 1
  if (engine === 'memory') figures.fromMemory += 1
}

function keepFault(
  { figures, faults, history }: Run,
  api: Api,
  read: Read,
  impossible: readonly Observation[],
  json: JsonValue
): void {
  figures.staleReads += 1
  if (faults.length >= faultsKeptCount) return
  const told = impossible.map(
    (anyOf) =>
      anyOf
        .map(([key, value]) => `${key} = ${value} (may be: ${history.possible(key).join(', ')})`)
        .join(' or ') || 'a path without an edge'
  )
  faults.push(
    `${api.url} answered ${JSON.stringify(read.variables)} with ${JSON.stringify(json)}; impossible: ${told.join('; ')}`
  )
}

/**
 * Runs the writers until they have written about `count` edges, domains and assets in all, or until
 * `signal`; readers ask at random meanwhile.
 */
export async function writeAndRead(
  run: Run,
  {
    count,
    writers,
    readers,
    signal
  }: { count: number; writers: number; readers: number; signal?: AbortSignal }
): Promise<void> {
  let left = count
  const isOver = (): boolean => left <= 0 || signal?.aborted === true
  const { random, apis } = run

  async function writer(): Promise<void> {
    let next: Write | undefined
    while (!isOver()) {
      const write = next ?? randomWrite(random, run.hasLoads)
      left -= changeCount(write)
      const api = random() < ownShare ? null : pick(random, apis)
      const outcome = await send(run, write, api ? apiDoor(api) : run.own)
      next = outcome === 'unknown' ? undefined : write.next
      if (outcome === 'acknowledged')
        await readAndJudge(
          run,
          pick(
            random,
            apis.filter((each) => each !== api)
          ),
          write.shows
        )
      if (outcome === 'unknown') await sleep(restAfterFailureMs)
    }
  }

  async function reader(): Promise<void> {
    while (!isOver()) {
      if (!(await readAndJudge(run, pick(random, apis), { urn: pick(random, assets) })))
        await sleep(restAfterFailureMs)
    }
  }

  await Promise.all([...Array.from({ length: writers }, writer), ...Array.from({ length: readers }, reader)])
}
