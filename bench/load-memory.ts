/**
 * `npm run bench -- load-memory`: what the processes need while 1,000,000 edges stream in, plain and gzipped, from a
 * client that sends as fast as it can; what interactive calls feel meanwhile; and where a compression bomb stops.
 *
 * Client, API, worker and Postgres share the machine. Postgres is durable. Latencies are given beside those of the same
 * calls on the idle catalog, so that the ratio counts and not the machine.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import { startEmbeddedPostgres } from '../dev/embedded-postgres/start-embedded-postgres.ts'
import { freePort } from '../test/support/redis.ts'
import { isTerminal, mutate, readLoad, sendLoad, untilReady, type Api } from '../test/torture/catalog-calls.ts'
import { keepRunning, runCommand, type Kept } from '../test/torture/processes.ts'
import { randomFrom } from '../test/torture/workload.ts'

const assetCount = 100_000
const edgeCount = 1_000_000
const upstreamsPerAsset = 10

const urn = (number: number): string => `urn:li:dataset:(urn:li:dataPlatform:snowflake,warehouse_${number % 40}.schema_${number % 400}.a_table_of_ordinary_length_${number},PROD)`

function* assetLines(): Generator<string> {
  for (let number = 0; number < assetCount; number += 1) yield `${JSON.stringify({ op: 'upsertEntity', urn: urn(number) })}\n`
}

function* edgeLines(seed: number): Generator<string> {
  const random = randomFrom(seed)
  for (let number = 0; number < edgeCount; number += 1) {
    yield `${JSON.stringify({ upstreamUrn: urn(Math.floor(random() * assetCount)), downstreamUrn: urn(Math.floor(number / upstreamsPerAsset)) })}\n`
  }
}

/** Lines joined to pieces of about 64 KB: a client that writes line by line would measure itself. */
function* inPieces(lines: Iterable<string>): Generator<Buffer> {
  let piece = ''
  for (const line of lines) {
    piece += line
    if (piece.length < 65_536) continue
    yield Buffer.from(piece)
    piece = ''
  }
  if (piece) yield Buffer.from(piece)
}

const statusOf = (pid: number, field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Peak resident megabytes of processes, sampled; the peak since their start where the system keeps it. */
async function watchMemory(processes: Record<string, Kept>, signal: AbortSignal): Promise<Record<string, number>> {
  const peaks: Record<string, number> = {}
  while (!signal.aborted) {
    for (const [name, kept] of Object.entries(processes)) {
      const pid = kept.pid()
      if (pid !== undefined && existsSync(`/proc/${pid}/status`)) peaks[name] = Math.max(peaks[name] ?? 0, statusOf(pid, 'VmRSS'))
    }
    await sleep(50)
  }
  return peaks
}

const quantile = (sorted: readonly number[], share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

const reads = [
  { name: 'dataset', query: 'query ($urn: String!) { dataset(urn: $urn) { urn domain { domain { urn } } } }', variables: (number: number) => ({ urn: urn(number) }) },
  { name: 'one hop', query: 'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { searchResults { degree entity { urn } } } }', variables: (number: number) => ({ input: { urn: urn(number), direction: 'UPSTREAM', query: '*', count: 10, orFilters: [{ and: [{ field: 'degree', values: ['1'] }] }] } }) },
  { name: 'updateLineage', query: 'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', variables: (number: number) => ({ input: { edgesToAdd: [{ upstreamUrn: urn(number), downstreamUrn: urn(assetCount - 1 - number) }] } }) }
]

/** Calls one after the other, about 40 a second, until told to stop. */
async function callInteractively(api: Api, signal: AbortSignal): Promise<{ p50: number, p99: number, calls: number, errors: number }> {
  const times: number[] = []
  let errors = 0
  for (let number = 0; !signal.aborted; number += 1) {
    const read = reads[number % reads.length]
    if (!read) break
    const begun = performance.now()
    if (!await mutate(api, `bench-${number}`, read.query, read.variables((number * 7919) % assetCount))) errors += 1
    times.push(performance.now() - begun)
    await sleep(15)
  }
  times.sort((a, b) => a - b)
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), calls: times.length, errors }
}

async function whileCalling<Result>(api: Api, work: () => Promise<Result>) {
  const stop = new AbortController()
  const calls = callInteractively(api, stop.signal)
  const result = await work()
  stop.abort()
  return { result, calls: await calls }
}

async function stream(api: Api, body: Readable, encoding: Record<string, string>): Promise<{ status: number, text: string }> {
  const answer = await fetch(`${api.url}/loads?format=ndjson&source=bench`, {
    method: 'POST', headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/x-ndjson', ...encoding }, body: Readable.toWeb(body), duplex: 'half'
  } as RequestInit)
  return { status: answer.status, text: await answer.text() }
}

async function untilDone(api: Api, id: string): Promise<void> {
  for (;;) {
    const load = await readLoad(api, id)
    if (isTerminal(load)) {
      if (load.state !== 'done' || load.counts.rejected > 0) throw new Error(JSON.stringify(load))
      return
    }
    await sleep(200)
  }
}

async function measureLoad(name: string, api: Api, processes: Record<string, Kept>, body: Readable, encoding: Record<string, string>) {
  const stop = new AbortController()
  const memory = watchMemory(processes, stop.signal)
  const begun = Date.now()
  let acceptedMs = 0
  const { calls } = await whileCalling(api, async () => {
    const answer = await stream(api, body, encoding)
    acceptedMs = Date.now() - begun
    if (answer.status !== 202) throw new Error(answer.text)
    await untilDone(api, (JSON.parse(answer.text) as { id: string }).id)
  })
  const doneMs = Date.now() - begun
  stop.abort()
  return { name, acceptedPerSecond: Math.round(edgeCount / acceptedMs * 1_000), donePerSecond: Math.round(edgeCount / doneMs * 1_000), peakMb: await memory, interactiveMs: calls }
}

/** A gigabyte of zeros in a megabyte: the answer, and what it did to the API's memory. */
async function measureBomb(api: Api, processes: Record<string, Kept>) {
  const stop = new AbortController()
  const memory = watchMemory(processes, stop.signal)
  const zeros = Buffer.alloc(1024 * 1024)
  let unpackedMb = 0
  const bomb = Readable.from((function* () { for (; unpackedMb < 1024; unpackedMb += 1) yield zeros })()).pipe(createGzip({ level: 9 }))
  const answer = await stream(api, bomb, { 'content-encoding': 'gzip' }).catch((error: unknown) => ({ status: 0, text: String(error) }))
  stop.abort()
  return { name: 'bomb', status: answer.status, answer: answer.text.slice(0, 200), peakMb: await memory }
}

export async function benchLoadMemory(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'pg'), throwaway: false, log: () => {} })
  const port = await freePort()
  const env = { DATABASE_URL: postgres.url(), PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'warn', TRIBUTARY_DATA_DIR: folder }
  runCommand(['migrate'], env)
  const token = /trib_\w+/.exec(runCommand(['token', 'create', '--name', 'bench', '--scopes', 'admin'], env))?.[0] ?? ''
  const processes = { api: keepRunning('api', ['serve'], env, folder), worker: keepRunning('worker', ['work'], env, folder) }
  const api = { url: `http://127.0.0.1:${port}`, token }
  try {
    await untilReady(api)
    await untilDone(api, await sendLoad(api, assetLines(), { source: 'bench' }))
    const idle = await whileCalling(api, () => sleep(10_000))
    const rows = [
      { name: 'idle', interactiveMs: idle.calls },
      await measureLoad('plain', api, processes, Readable.from(inPieces(edgeLines(1))), {}),
      await measureLoad('gzip', api, processes, Readable.from(inPieces(edgeLines(2))).pipe(createGzip({ level: 1 })), { 'content-encoding': 'gzip' }),
      await measureBomb(api, processes)
    ]
    for (const row of rows) console.log(JSON.stringify(row))
    return { rows }
  } finally {
    await Promise.all(Object.values(processes).map((kept) => kept.stop()))
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
