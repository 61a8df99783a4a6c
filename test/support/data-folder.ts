/** Where the throw-away Postgres of a test run keeps its data: in memory if there is room, else on disk. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '../../dev/embedded-postgres/server-state.ts'

/**
 * Linux keeps these files in memory. Cloning a database and dropping it takes 22 ms there and 208 ms on ext4,
 * because each copies, or removes, 430 files; a run does so more than a thousand times.
 */
const memoryFolder = '/dev/shm'

/** A whole run was seen to use 0.35 GB. Containers often have 64 MB there, and use the disk. */
const leastFreeBytes = 2 * 2 ** 30

const namePattern = /^tributary-test-(\d+)-/

/** A new folder that any user may pass; the caller removes it. Removes those of runs that were killed. */
export function makeDataFolder(base = hasRoom(memoryFolder) ? memoryFolder : tmpdir()): string {
  removeAbandoned(base)
  const folder = mkdtempSync(join(base, `tributary-test-${process.pid}-`))
  // started by root, the server runs as another user
  chmodSync(folder, 0o755)
  return folder
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return process.platform === 'linux' && bavail * bsize >= leastFreeBytes
  } catch {
    return false
  }
}

/** A killed run cannot remove its folder, and in memory it would stay until the machine restarts. */
function removeAbandoned(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = Number(namePattern.exec(name)?.[1] ?? Number.NaN)
    if (!(pid > 0) || isAlive(pid)) continue
    try {
      rmSync(join(base, name), { recursive: true, force: true })
    } catch {
      // another user's, such as root's
    }
  }
}
