/**
 * The records of running servers: files beside the token that say at which address each listens, and what it must know
 * to be given the token.
 *
 * Each server has a file of its own, so that several that share a data folder need no lock. One that was killed leaves
 * its file, which is recognized as stale because nothing at its address proves to know the key.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { isSecret } from './instance-proof.ts'

export type ServerRecord = {
  /** The address on this machine, such as `http://127.0.0.1:8081`. */
  url: string
  key: string
  startedAt: string
}

const folderName = 'servers'
const recordMaxBytes = 4_096
/** As many as one can start by hand; more are leftovers. */
const recordsMaxCount = 32

const folderOf = (dataDir: string): string => join(dataDir, folderName)

/** A restart at the same address replaces what a killed server left. Colons are not allowed in names everywhere. */
function pathOf(dataDir: string, url: string): string {
  return join(folderOf(dataDir), `${new URL(url).host.replaceAll(/[^\w.-]/g, '_')}.json`)
}

/** Replaces the file at once, readable by this user only. Throws errors of the file system. */
export function writeServerRecord(dataDir: string, record: ServerRecord): void {
  // separately, because the folder of an embedded database above it must stay open to the user that this runs as
  mkdirSync(dataDir, { recursive: true })
  mkdirSync(folderOf(dataDir), { recursive: true, mode: 0o700 })
  const path = pathOf(dataDir, record.url)
  const part = `${path}.${process.pid}.part`
  // whatever has that name was left by a killed process
  rmSync(part, { force: true })
  const descriptor = openSync(part, 'wx', 0o600)
  try {
    writeSync(descriptor, `${JSON.stringify(record)}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(part, path)
}

/** Removes the file, unless another server has written it since. Never throws: what stays is recognized as stale. */
export function removeServerRecord(dataDir: string, { url, key }: ServerRecord): void {
  const path = pathOf(dataDir, url)
  try {
    if (readRecord(path, null)?.key === key) rmSync(path, { force: true })
  } catch {
    // a folder that cannot be written any more
  }
}

/** Those that can be read, the longest running first. */
export function readServerRecords(dataDir: string): ServerRecord[] {
  const owner = ownerOf(dataDir)
  return namesIn(folderOf(dataDir))
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => readRecord(join(folderOf(dataDir), name), owner) ?? [])
    .toSorted((one, other) => other.startedAt.localeCompare(one.startedAt))
    .slice(0, recordsMaxCount)
    .toReversed()
}

export const isSameOrigin = (one: string, other: string): boolean =>
  new URL(one).origin === new URL(other).origin

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Who owns the token; without one, this user. */
function ownerOf(dataDir: string): number | null {
  try {
    return statSync(join(dataDir, 'token')).uid
  } catch {
    return process.getuid?.() ?? null
  }
}

/**
 * Null if the file has another form, or could have been written by somebody else than the owner of the token: in a
 * folder that others may write to, they could otherwise have the token sent to themselves.
 */
function readRecord(path: string, owner: number | null): ServerRecord | null {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return null
  }
  try {
    const { uid, mode, size } = fstatSync(descriptor)
    const isForeign = (owner !== null && uid !== owner) || (mode & 0o077) !== 0
    const isFile = (mode & constants.S_IFMT) === constants.S_IFREG
    if (isForeign || !isFile || size > recordMaxBytes) return null
    return recordOf(JSON.parse(readFileSync(descriptor, 'utf8')))
  } catch {
    return null
  } finally {
    closeSync(descriptor)
  }
}

function recordOf(value: unknown): ServerRecord | null {
  if (typeof value !== 'object' || value === null) return null
  if (!('url' in value && 'key' in value && 'startedAt' in value)) return null
  const { url, key, startedAt } = value
  if (typeof url !== 'string' || !/^http:\/\/[^/?#@]+$/.test(url) || !URL.canParse(url)) return null
  return isSecret(key) && typeof startedAt === 'string' ? { url, key, startedAt } : null
}
