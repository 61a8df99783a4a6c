/** The directory of the server's socket: the only way in, so closed to everybody but the server's user and root. */
import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CannotEmbed } from './cannot-embed.ts'
import type { Place } from './place.ts'
import { canEnter } from './runner.ts'

export const socketName = '.s.PGSQL.5432'

/**
 * Bytes of a socket's path that every system takes (macOS: 104 with the closing zero). Hence not inside the data
 * directory, whose path may be any length and whose file system (a shared folder, say) may know no sockets.
 */
const socketPathMaxBytes = 103

/** The same directory for the same data, whoever asks: named by the server's user and the data's place. */
export function openSocketDirectory(place: Place): string {
  const hash = createHash('sha256').update(place.dataDir).digest('hex').slice(0, 10)
  for (const base of ['/tmp', tmpdir()]) {
    const path = join(base, `tributary-${place.runner.uid}-${hash}`)
    if (Buffer.byteLength(join(path, socketName)) > socketPathMaxBytes) continue
    if (canEnter(place.runner, base) && makeOwn(path, place)) return path
  }
  throw new CannotEmbed(`no directory for its socket can be made in /tmp or ${tmpdir()}.`)
}

function makeOwn(path: string, place: Place): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    place.runner.give(path)
  } catch {
    // there already, or not possible: the check below tells which
  }
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined || !stat.isDirectory() || stat.uid !== place.runner.uid) return false
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700)
  return true
}
