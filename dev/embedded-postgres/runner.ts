/** Chooses the user that runs the server: PostgreSQL refuses to run as root, so root needs another user. */
import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Runner = {
  /** The user id that owns the data directory and the socket. */
  uid: number
  /** The ids to change to, for spawn. Empty: unchanged. */
  ids: { uid?: number; gid?: number }
  /** The command line that runs `command` as this runner. */
  wrap(command: string[]): string[]
  /** Changes the owner of a file or directory to this runner. */
  give(path: string): void
}

export function currentUser(): Runner {
  return { uid: process.getuid?.() ?? -1, ids: {}, wrap: (command) => command, give: () => {} }
}

export function anotherUser(ids: { uid: number; gid: number }): Runner {
  return { uid: ids.uid, ids, wrap: (command) => command, give: (path) => chownSync(path, ids.uid, ids.gid) }
}

/**
 * For root that may not change its user (in a rootless container): the same id, mapped to 1000 in a user
 * namespace.
 */
export function mappedCurrentUser(): Runner {
  const unshare = ['unshare', '--user', '--map-user=1000', '--map-group=1000']
  return { ...currentUser(), wrap: (command) => [...unshare, ...command] }
}

/** The first system account in /etc/passwd that can run a database, or null. */
export function systemAccount(): { uid: number; gid: number } | null {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const account = accounts.find((fields) => fields[0] === name)
    const uid = Number(account?.[2])
    const gid = Number(account?.[3])
    if (uid > 0 && gid > 0) return { uid, gid }
  }
  return null
}

export function canStart(runner: Runner, binariesDirectory: string): boolean {
  return (
    succeeds(runner, [join(binariesDirectory, 'bin', 'postgres'), '--version']) &&
    succeeds(runner, [join(binariesDirectory, 'bin', 'initdb'), '--version'])
  )
}

/**
 * Whether the runner can pass through the directory. Tried rather than computed, because mode bits, access
 * lists and mounts all matter.
 */
export function canEnter(runner: Runner, directory: string): boolean {
  return succeeds(runner, ['/bin/sh', '-c', 'cd "$1"', 'sh', directory])
}

export function succeeds(runner: Runner, command: string[]): boolean {
  const [file = '', ...args] = runner.wrap(command)
  return spawnSync(file, args, { ...runner.ids, cwd: '/', stdio: 'ignore' }).status === 0
}
