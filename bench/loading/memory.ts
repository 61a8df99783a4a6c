/**
 * `npm run bench -- loading-memory [RECORDS...]`: the memory of API and worker while loads of 1,000,000 and
 * of 10,000,000 edges arrive, the larger one also with gzip, and the point at which a compression bomb is
 * stopped. Both processes are restarted before each load, and their memory is sampled from the system. The
 * lineage graph of the API grows with the content of a load, not with the way it is loaded, so it is
 * subtracted, according to the API's own metric.
 */
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import {
  inPieces,
  isTerminal,
  readLoad,
  sendLoad,
  untilReady,
  type LoadState
} from '../../test/torture/catalog-calls.ts'
import type { Kept } from '../../test/torture/processes.ts'
import { tableOf, type Finding } from '../lineage-http/findings.ts'
import { assetLines, drawEdges, edgeLines } from './edges.ts'
import { openStage, type Stage } from './stage.ts'

const sizes = [1_000_000, 10_000_000]
const sampleEveryMs = 100
const apiMaxMb = 300
const workerMaxMb = 400

type Peaks = { apiMb: number; graphMb: number; apiWithoutGraphMb: number; workerMb: number; seconds: number }

export async function benchLoadingMemory(args: readonly string[]): Promise<object> {
  const counts = args.length > 0 ? args.map(Number) : sizes
  const stage = await openStage()
  try {
    await untilDone(stage, await sendLoad(stage.api, assetLines(), { source: 'assets' }))
    const findings: Finding[] = []
    for (const [index, count] of counts.entries()) {
      findings.push(
        ...findingsOf(
          `${count.toLocaleString('en-US')} records`,
          await measure(stage, edgeLines(drawEdges(count, index + 1)), false)
        )
      )
    }
    const again = Math.min(...counts)
    findings.push(
      ...findingsOf(
        `${again.toLocaleString('en-US')} records gzipped`,
        await measure(stage, edgeLines(drawEdges(again, 9)), true)
      )
    )
    findings.push(...(await measureBomb(stage)))
    for (const line of tableOf(findings)) console.log(line)
    return { at: new Date().toISOString(), queue: stage.queue, findings }
  } finally {
    await stage.stop()
  }
}

const findingsOf = (what: string, { apiWithoutGraphMb, workerMb, ...context }: Peaks): Finding[] => [
  {
    row: 3,
    name: `most resident memory of the API, the graph apart: ${what}`,
    value: apiWithoutGraphMb,
    unit: 'MB',
    goal: { atMost: apiMaxMb },
    context
  },
  {
    row: 3,
    name: `most resident memory of the worker: ${what}`,
    value: workerMb,
    unit: 'MB',
    goal: { atMost: workerMaxMb },
    context: {}
  }
]

async function measure(stage: Stage, lines: Iterable<string>, isGzipped: boolean): Promise<Peaks> {
  await renewProcesses(stage)
  const plain = Readable.from(inPieces(lines), { objectMode: false })
  const begun = performance.now()
  return watched(stage, async () => {
    const answer = await upload(
      stage,
      isGzipped ? plain.pipe(createGzip({ level: 1 })) : plain,
      isGzipped ? { 'content-encoding': 'gzip' } : {}
    )
    if (answer.status !== 202) throw new Error(answer.text)
    await untilDone(stage, (JSON.parse(answer.text) as LoadState).id)
    return (performance.now() - begun) / 1_000
  })
}

/** A gigabyte of zeros in a megabyte is refused; measures the memory of the API meanwhile. */
async function measureBomb(stage: Stage): Promise<Finding[]> {
  await renewProcesses(stage)
  const zeros = Buffer.alloc(1024 * 1024)
  const bomb = Readable.from(
    (function* () {
      for (let count = 0; count < 1024; count += 1) yield zeros
    })()
  ).pipe(createGzip({ level: 9 }))
  let answerText = ''
  const { apiWithoutGraphMb } = await watched(stage, async () => {
    const answer = await upload(stage, bomb, { 'content-encoding': 'gzip' }).catch((error: unknown) => ({
      status: 0,
      text: String(error)
    }))
    answerText = `${answer.status} ${answer.text.slice(0, 200)}`
    return 0
  })
  return [
    {
      row: 3,
      name: 'most resident memory of the API, the graph apart: a compression bomb',
      value: apiWithoutGraphMb,
      unit: 'MB',
      goal: { atMost: apiMaxMb },
      context: { answerText }
    }
  ]
}

async function renewProcesses({ api, processes }: Stage): Promise<void> {
  await Promise.all([processes.api, ...processes.workers].map((kept) => kept.kill()))
  await sleep(500)
  await untilReady(api)
}

/** The maximum of resident memory while `work` ran, minus the graph at that moment. */
async function watched({ api, processes }: Stage, work: () => Promise<number>): Promise<Peaks> {
  const over = new AbortController()
  const peaks: Peaks = { apiMb: 0, graphMb: 0, apiWithoutGraphMb: 0, workerMb: 0, seconds: 0 }
  const watching = (async () => {
    while (!over.signal.aborted) {
      const [apiMb, graphMb] = [residentMb(processes.api), await graphMbOf(api.url)]
      peaks.apiMb = Math.max(peaks.apiMb, apiMb)
      peaks.graphMb = Math.max(peaks.graphMb, graphMb)
      peaks.apiWithoutGraphMb = Math.max(peaks.apiWithoutGraphMb, apiMb - graphMb)
      peaks.workerMb = Math.max(peaks.workerMb, ...processes.workers.map(residentMb))
      await sleep(sampleEveryMs)
    }
  })()
  try {
    peaks.seconds = await work()
  } finally {
    over.abort()
    await watching
  }
  return peaks
}

function residentMb(kept: Kept): number {
  try {
    return (
      Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${kept.pid() ?? 0}/status`, 'utf8'))?.[1] ?? 0) /
      1024
    )
  } catch {
    return 0
  }
}

async function graphMbOf(url: string): Promise<number> {
  const text = await fetch(`${url}/metrics`).then(
    (answer) => answer.text(),
    () => ''
  )
  return Number(/^tributary_lineage_memory_bytes (\S+)$/m.exec(text)?.[1] ?? 0) / 1024 / 1024
}

async function upload(
  { api }: Stage,
  body: Readable,
  encoding: Record<string, string>
): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${api.url}/loads?format=ndjson&source=bench`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/x-ndjson', ...encoding },
    body: Readable.toWeb(body),
    duplex: 'half'
  } as RequestInit)
  return { status: answer.status, text: await answer.text() }
}

/** Throws if the load does not end done without rejects. */
async function untilDone({ api }: Stage, id: string): Promise<void> {
  for (;;) {
    const load = await readLoad(api, id)
    if (isTerminal(load)) {
      if (load.state !== 'done' || load.counts.rejected > 0) throw new Error(JSON.stringify(load))
      return
    }
    await sleep(200)
  }
}
