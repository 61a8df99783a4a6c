/**
 * The life line: a named pipe that every process keeps open for writing while it needs the server, and that a
 * shell beside the server reads. When the last of these processes ends, even by kill -9, the shell reads end
 * of file and shuts the server down. So no server is left running, and a second start can share the server of
 * the first.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { CannotEmbed } from './cannot-embed.ts'

/**
 * The script that runs the server ($@) and the watching subshell. Only the subshell keeps descriptor 3, the
 * reading end, so that "has a reader" means "is watched". SIGINT is PostgreSQL's fast shutdown.
 */
export const watchedServerScript = `
"$@" 3<&- &
server=$!
(read _ <&3; kill -INT "$server") 2>/dev/null &
watcher=$!
exec 3<&-
wait "$server"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
`

export type LifeLine = {
  /** Whether a shell reads the other end. A server without one is an orphan. */
  isWatched(): boolean
  /** The reading end, for the shell that will watch a new server. The caller closes it afterwards. */
  openReadingEnd(): number
  /** Safe to call twice. */
  letGo(): void
}

/** Open as soon as this returns. */
export function holdLifeLine(socketDir: string): LifeLine {
  const path = join(socketDir, 'life-line')
  const made = spawnSync('mkfifo', ['-m', '600', path])
  if (made.status !== 0 && !existsSync(path)) throw new CannotEmbed(`no named pipe can be made at ${path}.`)

  // opening a pipe waits for the other end, unless one descriptor opens both; that one must be closed,
  // because it would count as a reader
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const writingEnd = openSync(path, constants.O_WRONLY)
  closeSync(both)

  let held = true
  return {
    isWatched: () => hasReader(path),
    openReadingEnd: () => openSync(path, constants.O_RDONLY),
    letGo() {
      if (held) closeSync(writingEnd)
      held = false
    }
  }
}

function hasReader(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    return true
  } catch {
    return false
  }
}
