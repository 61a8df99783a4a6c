/**
 * An API server in a separate process, as an operator runs it: starts it, measures it from outside, ends it.
 */
import { get } from 'node:http'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/free-port.ts'
import { keepRunning } from '../../test/torture/processes.ts'
import type { Catalog } from './stage.ts'

export type ApiProcess = {
  url: string
  token: string
  /** A time of performance.now(). */
  startedAtMs: number
  listeningAtMs: number
  /** Megabytes according to the system: VmRSS is the resident memory now, VmHWM its maximum so far. */
  memoryMb: (field: 'VmRSS' | 'VmHWM') => number
  /** Processor time of all its threads since its start. */
  cpuSeconds: () => number
  /** The samples of /metrics without labels. Reading them starts a new period for those that cover one. */
  metrics: () => Promise<Map<string, number>>
  stop: () => Promise<void>
}

const lookEveryMs = 10
const startMaxMs = 60_000

/** Resolves when the process answers requests, which is before its graph is loaded. */
export async function startApi(
  { databaseUrl, token, folder }: Pick<Catalog, 'databaseUrl' | 'token' | 'folder'>,
  env: Record<string, string> = {}
): Promise<ApiProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const startedAtMs = performance.now()
  const kept = keepRunning(
    'api',
    ['serve'],
    {
      DATABASE_URL: databaseUrl,
      HOST: '127.0.0.1',
      PORT: String(port),
      LOG_LEVEL: 'warn',
      TRIBUTARY_DATA_DIR: folder,
      ...env
    },
    folder
  )
  await untilLive(`${url}/health/live`)
  const pid = kept.pid()
  if (pid === undefined) throw new Error('the API has no process')
  return {
    url,
    token,
    startedAtMs,
    listeningAtMs: performance.now(),
    memoryMb: (field) => memoryMbOf(pid, field),
    cpuSeconds: () => cpuSecondsOf(pid),
    metrics: () => readMetrics(url),
    stop: () => kept.stop()
  }
}

export async function untilLive(url: string): Promise<void> {
  for (const end = performance.now() + startMaxMs; performance.now() < end; await sleep(lookEveryMs)) {
    const answer = await fetch(url).catch(() => null)
    await answer?.text()
    if (answer?.ok) return
  }
  throw new Error(`${url} did not answer`)
}

const memoryMbOf = (pid: number, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) /
  1024

const clockTicksPerSecond = 100

export function cpuSecondsOf(pid: number): number {
  // The second field is the name in brackets, which may contain spaces; user and system time are fields 14
  // and 15.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond
}

async function readMetrics(url: string): Promise<Map<string, number>> {
  // On a new connection: the server may be closing an idle one at this moment, which would end the bench.
  const text = await new Promise<string>((resolve, reject) => {
    get(`${url}/metrics`, { agent: false }, (answer) => {
      let read = ''
      answer
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          read += piece
        })
        .on('end', () => resolve(read))
        .on('error', reject)
    }).on('error', reject)
  })
  return new Map([...text.matchAll(/^(\w+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]))
}
