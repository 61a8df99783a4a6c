/**
 * A catalog for the clients: a database, a worker, and two APIs that treat missing references differently.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packagePath, packageRoot } from '../../shared/platform/paths.ts'
import { dropDatabase, runOnServer, urlOfDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'

const program = packagePath('dist/bin/tributary.js')
const startMaxMs = 60_000
const stopMaxMs = 25_000

export type Catalog = {
  /** Base URL of the API with MISSING_REFERENCES=create. */
  url: string
  /** Base URL of the API with MISSING_REFERENCES=reject, on the same database. */
  strictUrl: string
  /** An administrator's token. */
  token: string
  /** Drops the database as well. */
  stop(): Promise<void>
}

type Options = {
  /** The URL of a server on which databases can be created. */
  serverUrl: string
  /** The URL of the queue; null for Postgres. */
  redisUrl: string | null
  /** The name of the database, which must not exist. */
  name: string
  /** The folder of the logs. */
  folder: string
}

/** Throws if a process does not start, after stopping the others. */
export async function startCatalog({ serverUrl, redisUrl, name, folder }: Options): Promise<Catalog> {
  await runOnServer(serverUrl, `create database ${name} template template0`)
  const children: ChildProcess[] = []
  const env = {
    DATABASE_URL: urlOfDatabase(serverUrl, name),
    REDIS_URL: redisUrl ?? '',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    TRIBUTARY_DATA_DIR: folder,
    MISSING_REFERENCES: 'create'
  }

  function start(title: string, command: string, more: Record<string, string>): void {
    const log = openSync(join(folder, `${title}.log`), 'a')
    children.push(
      spawn(process.execPath, ['--enable-source-maps', program, command], {
        cwd: packageRoot,
        env: { ...process.env, ...env, ...more },
        stdio: ['ignore', log, log]
      })
    )
    closeSync(log)
  }

  async function stop(): Promise<void> {
    await Promise.all(children.map(end))
    await dropDatabase(serverUrl, name)
  }

  try {
    run(['migrate'], env)
    const [token] =
      /trib_\w+/.exec(run(['token', 'create', '--name', 'interop', '--scopes', 'admin'], env)) ?? []
    if (token === undefined) throw new Error('no token was printed')
    const ports = [await freePort(), await freePort()]
    const [url = '', strictUrl = ''] = ports.map((port) => `http://127.0.0.1:${port}`)
    start('api', 'serve', { PORT: String(ports[0]) })
    start('api-strict', 'serve', { PORT: String(ports[1]), MISSING_REFERENCES: 'reject' })
    start('worker', 'work', {})
    await Promise.all([url, strictUrl].map(untilReady))
    return { url, strictUrl, token, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function run(args: readonly string[], env: Record<string, string>): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: packageRoot,
    env: { ...process.env, ...env },
    encoding: 'utf8'
  })
  if (status !== 0) throw new Error(`tributary ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

async function untilReady(url: string): Promise<void> {
  const giveUpAt = Date.now() + startMaxMs
  for (;;) {
    const isReady = await fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false
    )
    if (isReady) return
    if (Date.now() > giveUpAt) throw new Error(`${url} did not get ready`)
    await sleep(50)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMaxMs)
  await ended
  clearTimeout(timer)
}
