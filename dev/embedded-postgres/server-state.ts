/** Reads the state of a server from postmaster.pid, and checks whether it is still true. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { socketName } from './socket-directory.ts'

export type ServerState =
  | { is: 'absent' }
  /** Left by a crash; another process may have the process id now. */
  | { is: 'stale'; socketDir: string }
  | { is: 'starting' | 'ready' | 'stopping'; pid: number; socketDir: string }

/** Lines of postmaster.pid, counted from 0, the same that pg_ctl reads. */
const pidLine = 0
const socketDirLine = 4
const statusLine = 7

/** A start fills its lock file at once. A file that stays empty for longer was left by a killed start. */
const emptyLockMaxMs = 5_000

export function readServerState(dataDir: string): ServerState {
  const lockFile = join(dataDir, 'postmaster.pid')
  const lines = readLines(lockFile)
  if (isLeftEmpty(lockFile)) return { is: 'stale', socketDir: '' }
  const pid = Number(lines[pidLine])
  if (!(pid > 0)) return { is: 'absent' }

  const socketDir = lines[socketDirLine] ?? ''
  if (!isServer(pid, dataDir)) return { is: 'stale', socketDir }
  const status = lines[statusLine]?.trim()
  return {
    is: status === 'ready' ? 'ready' : status === 'stopping' ? 'stopping' : 'starting',
    pid,
    socketDir
  }
}

function isLeftEmpty(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.size === 0 && Date.now() - found.mtimeMs > emptyLockMaxMs
}

/**
 * PostgreSQL removes the lock files of a dead process itself, except if another process now has its id. If
 * processes of the dead server still use its shared memory, the next server detects that and refuses to
 * start.
 */
export function removeStaleLocks(dataDir: string, socketDir: string): void {
  rmSync(join(dataDir, 'postmaster.pid'), { force: true })
  if (socketDir !== '') rmSync(join(socketDir, `${socketName}.lock`), { force: true })
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Checked by the command line; a zombie has none, and serves nobody. */
function isServer(pid: number, dataDir: string): boolean {
  if (!isAlive(pid)) return false
  const words = existsSync('/proc/self/cmdline')
    ? readText(`/proc/${pid}/cmdline`).split('\0').join(' ')
    : (spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '')
  return `${words} `.includes(` -D ${dataDir} `)
}

function readLines(path: string): string[] {
  return readText(path).split('\n')
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
