/**
 * The processes of the loading benchmarks: a durable Postgres, Redis if there is one, one API and one
 * worker.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync
} from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/free-port.ts'
import { redisArguments } from '../../test/support/redis.ts'
import {
  inPieces,
  isTerminal,
  readLoad,
  untilReady,
  type Api,
  type LoadState
} from '../../test/torture/catalog-calls.ts'
import { createAdminToken, keepRunning, type Kept } from '../../test/torture/processes.ts'
import { startBenchPostgres } from '../lineage/bench-database.ts'
import { cpuSecondsOf } from '../lineage-http/api-process.ts'
import type { Db } from '../../shared/db/database.ts'

export type Stage = {
  api: Api
  db: Db
  databaseUrl: string
  /** The folder for files of the benchmark. */
  folder: string
  queue: 'redis' | 'postgres'
  processes: { api: Kept; workers: readonly Kept[] }
  /** Seconds of processor time used so far, by process. */
  cpu: () => Record<'api' | 'worker' | 'postgres' | 'client', number>
  stop: () => Promise<void>
}

/** `program` is the command line of another checkout, if not of this one. */
export async function openStage(
  env: Record<string, string> = {},
  workerCount = 1,
  program?: string
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-loading-'))
  const postgres = await startBenchPostgres()
  const { db, url } = await postgres.newDatabase('loading')
  const redis = await startRedis(folder)
  const port = await freePort()
  const all = {
    DATABASE_URL: url,
    PORT: String(port),
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    TRIBUTARY_DATA_DIR: folder,
    ...(redis ? { REDIS_URL: redis.url } : {}),
    ...env
  }
  const token = await createAdminToken(all)
  const processes = {
    api: keepRunning('api', ['serve'], all, folder, program),
    workers: Array.from({ length: workerCount }, (_, index) =>
      keepRunning(`worker-${index}`, ['work'], all, folder, program)
    )
  }
  const api = { url: `http://127.0.0.1:${port}`, token }
  await untilReady(api)
  const postgresPid = Number(
    (
      await db.raw<{ rows: { pid: string }[] }>(
        "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1) as pid"
      )
    ).rows[0]?.pid
  )
  return {
    api,
    db,
    databaseUrl: url,
    folder,
    queue: redis ? 'redis' : 'postgres',
    processes,
    cpu: () => ({
      api: cpuSecondsOf(processes.api.pid() ?? 0),
      worker: processes.workers.reduce((seconds, kept) => seconds + cpuSecondsOf(kept.pid() ?? 0), 0),
      postgres: cpuSecondsOfTree(postgresPid),
      client: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
    }),
    async stop() {
      await Promise.all([processes.api, ...processes.workers].map((kept) => kept.stop()))
      redis?.stop()
      await db.destroy()
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

async function startRedis(folder: string): Promise<{ url: string; stop: () => void } | null> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return null
  const port = await freePort()
  const server = spawn('redis-server', redisArguments(port, folder), { stdio: 'ignore' })
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: () => {
      server.kill('SIGKILL')
    }
  }
}

/** Of a server and its children, including those that have ended. */
function cpuSecondsOfTree(pid: number): number {
  const fieldsOf = (name: string): string[] => {
    try {
      return readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
    } catch {
      return []
    }
  }
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const fields = fieldsOf(name)
    const isServer = name === String(pid)
    if (!isServer && fields[1] !== String(pid)) continue
    ticks += Number(fields[11]) + Number(fields[12])
    if (isServer) ticks += Number(fields[13]) + Number(fields[14])
  }
  return ticks / 100
}

/** Writes a file of lines before the measurement, and returns its path. */
export async function writeLines(
  { folder }: Pick<Stage, 'folder'>,
  name: string,
  lines: Iterable<string>
): Promise<string> {
  const file = join(folder, name)
  await pipeline(Readable.from(inPieces(lines), { objectMode: false }), createWriteStream(file))
  return file
}

/** Sends a file as a load and waits for its end. Throws if it does not end done, with or without rejects. */
export async function sendFile(
  { api }: { api: Pick<Api, 'url' | 'token'> },
  file: string,
  parameters: Record<string, string>,
  { isRefused = false }: { isRefused?: boolean } = {}
): Promise<{ load: LoadState; acceptedS: number; doneS: number }> {
  const begun = performance.now()
  const { status, text } = await upload(
    api,
    file,
    new URLSearchParams({ format: 'ndjson', ...parameters }).toString()
  )
  if (status !== 202 && status !== 200) throw new Error(`load refused: ${status} ${text}`)
  const acceptedS = (performance.now() - begun) / 1_000
  const { id } = JSON.parse(text) as LoadState
  for (;;) {
    const load = await readLoad(api, id)
    if (isTerminal(load)) {
      if (load.state !== 'done' || load.counts.rejected !== (isRefused ? load.counts.received : 0))
        throw new Error(JSON.stringify(load))
      return { load, acceptedS, doneS: (performance.now() - begun) / 1_000 }
    }
    await sleep(50)
  }
}

/**
 * Uses node:http: fetch takes 5 us per edge of its own, node:http less than one, and fetch does not read the
 * answers to other calls of its process meanwhile (750 ms).
 */
async function upload(
  { url, token }: Api,
  file: string,
  parameters: string
): Promise<{ status: number; text: string }> {
  const sent = request(`${url}/loads?${parameters}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-ndjson',
      'content-length': statSync(file).size
    }
  })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  await pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), sent)
  const [answer] = await answered
  return {
    status: answer.statusCode ?? 0,
    text: Buffer.concat((await answer.toArray()) as Buffer[]).toString('utf8')
  }
}
