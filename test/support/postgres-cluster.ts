/**
 * Clusters of a PostgreSQL that is installed on the machine, with its programs for backups and standbys, which the
 * embedded one lacks. They listen on 127.0.0.1.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { anotherUser, currentUser, systemAccount } from '../../dev/embedded-postgres/runner.ts'
import { runOnServer } from './database.ts'

const versionsFolder = '/usr/lib/postgresql'
const programs = ['postgres', 'initdb', 'pg_basebackup', 'pg_dump', 'pg_restore', 'pg_ctl']
const startMaxMs = 60_000
const lookEveryMs = 20

/** The folder with the programs of the newest version, or null if there is none. */
export function findPostgresPrograms(): string | null {
  const versions = existsSync(versionsFolder) ? readdirSync(versionsFolder) : []
  const folders = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(versionsFolder, version, 'bin'))
  return folders.find((folder) => programs.every((name) => existsSync(join(folder, name)))) ?? null
}

/** Postgres refuses to run as root, which takes on the account of Debian's server. */
function runner() {
  const account = process.getuid?.() === 0 ? systemAccount() : null
  return account === null ? currentUser() : anotherUser(account)
}

export type ClusterHome = {
  /** The folder of the programs. */
  programs: string
  /** An empty folder of the user that runs the servers. */
  folder(name: string): string
  /** Runs a program to its end and returns what it printed. Throws if it fails. */
  run(program: string, args: readonly string[]): Promise<string>
  /** Creates a cluster. */
  create(name: string): Promise<Cluster>
  /** The cluster in a folder that `pg_basebackup` has filled. */
  open(folder: string): Cluster
  /** Ends all servers at once, and removes the folder. */
  remove(): Promise<void>
}

export type Cluster = {
  folder: string
  /** Appends lines to the configuration, for the next start. */
  configure(settings: Readonly<Record<string, string>>): void
  /** Makes the next start a standby, or a recovery to a point. */
  signal(name: 'standby.signal' | 'recovery.signal'): void
  /** Lets the hosts of a network connect to this address of the machine, from the next start on. */
  listenOn(address: string, subnet: string): void
  /** Resolves once connections are accepted. Throws if the server ends before that. */
  start(port: number): Promise<void>
  /** SIGINT is a fast shutdown, SIGQUIT an immediate one, SIGKILL a crash of the postmaster. */
  end(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>
  url(database?: string): string
}

/** `programs` as findPostgresPrograms returns it. */
export function openClusterHome(programsFolder: string): ClusterHome {
  const user = runner()
  const { ids } = user
  const home = mkdtempSync(join(tmpdir(), 'tributary-cluster-'))
  chmodSync(home, 0o755)
  const running = new Set<ChildProcess>()

  const folder = (name: string): string => {
    const path = join(home, name)
    mkdirSync(path, { mode: 0o700 })
    user.give(path)
    return path
  }

  function run(program: string, args: readonly string[]): Promise<string> {
    const child = spawn(join(programsFolder, program), args, { ...ids, cwd: '/' })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) =>
        code === 0 ? resolve(text) : reject(new Error(`${program} ended with ${code}: ${text}`))
      )
    })
  }

  function open(path: string): Cluster {
    let port = 0
    let server: ChildProcess | null = null
    const addresses = ['127.0.0.1']
    const url = (database = 'postgres'): string => `postgres://postgres@127.0.0.1:${port}/${database}`
    return {
      folder: path,
      url,
      configure(settings) {
        const lines = Object.entries(settings).map(
          ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`
        )
        appendFileSync(join(path, 'postgresql.conf'), lines.join(''))
      },
      signal(name) {
        writeFileSync(join(path, name), '')
        user.give(join(path, name))
      },
      listenOn(address, subnet) {
        addresses.push(address)
        appendFileSync(join(path, 'pg_hba.conf'), `host all all ${subnet} trust\n`)
      },
      async start(on) {
        port = on
        const started = spawn(
          join(programsFolder, 'postgres'),
          [
            '-D',
            path,
            '-p',
            String(port),
            '-c',
            `listen_addresses=${addresses.join(',')}`,
            '-c',
            'unix_socket_directories='
          ],
          { ...ids, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] }
        )
        let text = ''
        started.stderr.setEncoding('utf8').on('data', (part: string) => {
          text = (text + part).slice(-4_000)
        })
        server = started
        running.add(started)
        started.once('exit', () => running.delete(started))
        for (const giveUpAt = Date.now() + startMaxMs; ; await sleep(lookEveryMs)) {
          if (
            await runOnServer(url(), 'select 1').then(
              () => true,
              () => false
            )
          )
            return
          if (started.exitCode !== null || Date.now() > giveUpAt)
            throw new Error(`PostgreSQL in ${path} did not start: ${text}`)
        }
      },
      async end(signal) {
        if (server === null || !running.has(server)) return
        const ended = new Promise((resolve) => server?.once('exit', resolve))
        server.kill(signal)
        await ended
      }
    }
  }

  return {
    programs: programsFolder,
    folder,
    run,
    open,
    async create(name) {
      const path = folder(name)
      await run('initdb', [
        '-D',
        path,
        '-U',
        'postgres',
        '--auth=trust',
        '--encoding=UTF8',
        '--locale=C.UTF-8',
        '--no-sync',
        '--no-instructions'
      ])
      const cluster = open(path)
      cluster.configure({ max_connections: '100', shared_buffers: '64MB', log_checkpoints: 'off' })
      return cluster
    },
    async remove() {
      await Promise.all(
        [...running].map(async (server) => {
          const ended = new Promise((resolve) => server.once('exit', resolve))
          server.kill('SIGQUIT')
          await ended
        })
      )
      rmSync(home, { recursive: true, force: true })
    }
  }
}
