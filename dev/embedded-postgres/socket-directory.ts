/**
 * The directory of the server's socket, accessible only to the server's user and root, because the socket is
 * the only way in.
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CannotEmbed } from './cannot-embed.ts'
import type { Place } from './place.ts'
import { canEnter } from './runner.ts'

export const socketName = '.s.PGSQL.5432'

/**
 * The longest path of a socket that every system accepts (macOS: 104 with the final zero). So the socket is
 * not in the data directory, whose path may be longer, and whose file system (such as a shared folder) may
 * not support sockets.
 */
const socketPathMaxBytes = 103

/** Contains the path of the data directory that the socket directory belongs to. */
const ownerFile = 'data-directory'
const namePattern = /^tributary-\d+-[\da-f]{10}$/

/** `/tmp` first, because TMPDIR may differ between two processes that use the same data. */
const bases = (): string[] => [...new Set(['/tmp', tmpdir()])]

/**
 * The same directory for the same data, derived from the server's user and the data's path. The data
 * directory must exist.
 */
export function openSocketDirectory(place: Place): string {
  removeAbandonedSocketDirectories()
  const hash = createHash('sha256').update(place.dataDir).digest('hex').slice(0, 10)
  for (const base of bases()) {
    const path = join(base, `tributary-${place.runner.uid}-${hash}`)
    if (Buffer.byteLength(join(path, socketName)) > socketPathMaxBytes) continue
    if (!canEnter(place.runner, base) || !makeOwn(path, place)) continue
    writeFileSync(join(path, ownerFile), place.dataDir)
    return path
  }
  throw new CannotEmbed(`no directory for its socket can be made in /tmp or ${tmpdir()}.`)
}

/**
 * Removes the socket directories whose data directory no longer exists, where this user may.
 *
 * A directory stays while its data exists: removing it when the server stops would race with the next start,
 * which finds the server through it.
 */
export function removeAbandonedSocketDirectories(): void {
  for (const base of bases()) {
    for (const name of namesIn(base).filter((each) => namePattern.test(each))) {
      const path = join(base, name)
      try {
        // Everybody may write in /tmp; reading a pipe instead of the file would never end.
        const isOurs = lstatSync(join(path, ownerFile)).isFile()
        if (isOurs && !existsSync(readFileSync(join(path, ownerFile), 'utf8')))
          rmSync(path, { recursive: true, force: true })
      } catch {
        // Another user's, or just being created: its owner file cannot be read.
      }
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function makeOwn(path: string, place: Place): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    place.runner.give(path)
  } catch {
    // it exists, or cannot be created: the check below tells which
  }
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined || !stat.isDirectory() || stat.uid !== place.runner.uid) return false
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700)
  return true
}
