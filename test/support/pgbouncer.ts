/** A PgBouncer in transaction mode before the Postgres of a test, installed by Debian's package pgbouncer. */
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { anotherUser, currentUser, systemAccount } from '../../dev/embedded-postgres/runner.ts'
import { postgresOptions } from '../../shared/platform/postgres-url.ts'
import { runOnServer } from './database.ts'
import { freePort } from './free-port.ts'
import { skipUnless } from './skip.ts'

const program = '/usr/sbin/pgbouncer'
const startMaxMs = 10_000

export type PgBouncer = {
  /** The URL of a database of the server, through PgBouncer. */
  url(database: string): string
  /** Ends it as a crash does, with the connections of all its clients. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export type PgBouncerOptions = {
  /** Sessions of Postgres. */
  poolSize: number
  mode?: 'transaction' | 'session'
  /** More lines of its configuration. */
  settings?: Readonly<Record<string, string>>
}

export const hasPgBouncer = (): boolean => existsSync(program)

/** Stopped at teardown; null (skipped) if PgBouncer is not installed. `url` leads to any database of the server. */
export async function withPgBouncer(
  t: Test,
  url: string,
  options: PgBouncerOptions
): Promise<PgBouncer | null> {
  if (skipUnless(t, hasPgBouncer(), 'pgbouncer is not installed')) return null
  const bouncer = await startPgBouncer(url, options)
  t.teardown(() => bouncer.stop())
  return bouncer
}

/** It knows no users: everyone is the one of the URL. */
export async function startPgBouncer(url: string, options: PgBouncerOptions): Promise<PgBouncer> {
  const { host, port, user, password } = await postgresOptions(url)
  const account = process.getuid?.() === 0 ? systemAccount() : null
  // PgBouncer refuses to run as root.
  const runner = account === null ? currentUser() : anotherUser(account)
  const folder = mkdtempSync(join(tmpdir(), 'tributary-pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  const listenPort = await freePort()
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(listenPort),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: options.mode ?? 'transaction',
    default_pool_size: String(options.poolSize),
    max_client_conn: '200',
    ...options.settings
  }
  const server = `host=${host} port=${port} user=${user}${password === undefined ? '' : ` password='${password.replaceAll("'", "''")}'`}`
  writeFileSync(
    file,
    `[databases]\n* = ${server}\n[pgbouncer]\n${Object.entries(settings)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')}`,
    { mode: 0o600 }
  )
  chmodSync(folder, 0o755)
  runner.give(file)
  let child: ChildProcess | null = null

  async function start(): Promise<void> {
    const started = spawn(program, [file], { ...runner.ids, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] })
    let text = ''
    started.stderr.setEncoding('utf8').on('data', (part: string) => {
      text = (text + part).slice(-4_000)
    })
    child = started
    for (const giveUpAt = Date.now() + startMaxMs; ; await sleep(20)) {
      const answers = await runOnServer(urlOf('postgres'), 'select 1').then(
        () => true,
        () => false
      )
      if (answers) return
      if (started.exitCode !== null || Date.now() > giveUpAt)
        throw new Error(`PgBouncer did not start: ${text}`)
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return
    const ended = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill(signal)
    await ended
  }

  const urlOf = (database: string): string => `postgres://${user}@127.0.0.1:${listenPort}/${database}`
  await start()
  return {
    url: urlOf,
    start,
    kill: () => end('SIGKILL'),
    async stop() {
      await end('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
