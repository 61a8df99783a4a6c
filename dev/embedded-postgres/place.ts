/** Chooses the user and the binaries of the server, and the place of its data. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findBinaries, whyBinariesFail, type Binaries } from './binaries.ts'
import { CannotEmbed } from './cannot-embed.ts'
import {
  anotherUser,
  canEnter,
  canStart,
  currentUser,
  mappedCurrentUser,
  succeeds,
  systemAccount,
  type Runner
} from './runner.ts'

export type Place = { binaries: Binaries; dataDir: string; runner: Runner }

/** Where root puts files for the server's user if that user cannot read the project directory. */
const openHome = '/var/lib/tributary'

/**
 * `wanted` is the requested data directory; the result may use another one, and `log` then says so. Throws
 * CannotEmbed.
 */
export function choosePlace(wanted: string, log: (line: string) => void): Place {
  const binaries = findBinaries()
  const dataDir = withRealParent(resolve(wanted))
  return process.getuid?.() === 0 ? placeForRoot(binaries, dataDir, log) : placeForUser(binaries, dataDir)
}

function placeForUser(binaries: Binaries, dataDir: string): Place {
  const runner = currentUser()
  const owner = ownerOf(dataDir)
  if (owner !== null && owner.uid !== runner.uid) {
    throw new CannotEmbed(
      `the data in ${dataDir} belongs to user id ${owner.uid}; start as that user or as root.`
    )
  }
  if (!canStart(runner, binaries.directory)) throw new CannotEmbed(whyBinariesFail())
  return { binaries, dataDir, runner }
}

function placeForRoot(binaries: Binaries, dataDir: string, log: (line: string) => void): Place {
  const owner = ownerOf(dataDir)
  const ids = owner !== null && owner.uid > 0 ? owner : systemAccount()
  if (ids !== null && owner?.uid !== 0 && succeeds(anotherUser(ids), ['/bin/sh', '-c', 'exit 0'])) {
    const runner = anotherUser(ids)
    const reachable = reachableBinaries(runner, binaries, log)
    if (canStart(runner, reachable.directory)) {
      return { binaries: reachable, runner, dataDir: reachableDataDir(runner, dataDir, log) }
    }
  }
  const renamed = mappedCurrentUser()
  if (canStart(renamed, binaries.directory)) return { binaries, dataDir, runner: renamed }
  if (!canStart(currentUser(), binaries.directory)) throw new CannotEmbed(whyBinariesFail())
  throw new CannotEmbed(
    'PostgreSQL refuses to run as root, and no other user can be taken on. Start as an ordinary user.'
  )
}

/**
 * Another user cannot read node_modules below a directory like /root (mode 0700), or with a strict umask, so
 * it gets a copy.
 */
function reachableBinaries(runner: Runner, binaries: Binaries, log: (line: string) => void): Binaries {
  if (canStart(runner, binaries.directory)) return binaries
  const copy = join(openHome, `postgres-${binaries.version}`)
  if (!existsSync(copy)) {
    log(`this directory is closed to other users: copying the PostgreSQL binaries to ${copy}`)
    copyReadable(binaries.directory, copy)
  }
  return { ...binaries, directory: copy }
}

function reachableDataDir(runner: Runner, dataDir: string, log: (line: string) => void): string {
  const elsewhere = join(openHome, `data-${createHash('sha256').update(dataDir).digest('hex').slice(0, 10)}`)
  const isHere = existsSync(join(dataDir, 'PG_VERSION'))
  // data that an earlier start had to keep elsewhere stays there, even if the directory is readable now
  if (!isHere && !existsSync(elsewhere) && canEnter(runner, dirname(dataDir))) return dataDir
  if (isHere) {
    if (canEnter(runner, dirname(dataDir))) return dataDir
    throw new CannotEmbed(
      `the data in ${dataDir} cannot be reached by user id ${runner.uid}; open the directories above it (chmod o+x).`
    )
  }
  makeOpenDirectory(openHome)
  log(`this directory is closed to other users: the data is kept in ${elsewhere}`)
  return elsewhere
}

/**
 * Copies beside the target and renames, so that a copy is complete or absent; one of two concurrent copies
 * wins.
 */
function copyReadable(from: string, to: string): void {
  makeOpenDirectory(dirname(to))
  const part = `${to}.${process.pid}`
  try {
    cpSync(from, part, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') })
    spawnSync('chmod', ['-R', 'a+rX', part])
    if (!existsSync(to)) renameSync(part, to)
  } catch (error) {
    if (!existsSync(to)) throw new CannotEmbed(`its binaries cannot be copied to ${to}.`, { cause: error })
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}

function makeOpenDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
    chmodSync(path, 0o755)
  } catch (error) {
    throw new CannotEmbed(`the directory ${path} cannot be made.`, { cause: error })
  }
}

/**
 * Creates the parent directory (with search permission, whatever the umask) and resolves links, so that a
 * place has one name.
 */
function withRealParent(dataDir: string): string {
  const above = dirname(dataDir)
  const firstMade = mkdirSync(above, { recursive: true })
  if (firstMade !== undefined && process.getuid?.() === 0) {
    for (let path = above; path.length >= firstMade.length; path = dirname(path)) chmodSync(path, 0o755)
  }
  return existsSync(dataDir) ? realpathSync(dataDir) : join(realpathSync(above), basename(dataDir))
}

function ownerOf(path: string): { uid: number; gid: number } | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? null : { uid: stat.uid, gid: stat.gid }
}
