/** Runs one server process with its watcher, and reports that it is ready or why it ended. */
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchedServerScript, type LifeLine } from './life-line.ts'
import type { Place } from './place.ts'
import { serverSettings } from './server-settings.ts'

export type RunningServer = {
  /** Null once connections are accepted, after a crash including the recovery; otherwise the reason. */
  ready: Promise<StartFailure | null>
  ended: Promise<number | null>
  /** Keeps this process alive until release; by default the server does not. */
  hold(): void
  release(): void
}

type StartFailure = {
  /** Another server, or processes of a killed one, still use the directory: trying again may help. */
  isInTheWay: boolean
  output: string
}

type Options = { socketDir: string; lifeLine: LifeLine; throwaway: boolean; log: (line: string) => void }

export function runServer(place: Place, options: Options): RunningServer {
  const { runner, dataDir, binaries } = place
  const settings = serverSettings(options.socketDir, options.throwaway).flatMap((setting) => ['-c', setting])
  const command = runner.wrap([join(binaries.directory, 'bin', 'postgres'), '-D', dataDir, ...settings])

  const readingEnd = options.lifeLine.openReadingEnd()
  // a session of its own: Ctrl-C and a kill of our process group must not stop the database before the
  // requests in flight
  const child = spawn('/bin/sh', ['-c', watchedServerScript, 'sh', ...command], {
    ...runner.ids,
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', readingEnd]
  })
  closeSync(readingEnd)

  // its output, not postmaster.pid: if several start at once, the file belongs to only one of them
  let output = ''
  const printedReady = new Promise<void>((resolve) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-outputMaxChars)
      if (output.includes('ready to accept connections')) resolve()
    })
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', (code) => resolve(code))
  })
  const release = () => unreference(child)
  const patience = setTimeout(
    () => options.log('PostgreSQL is recovering from a crash; this takes a moment'),
    mentionAfterMs
  )
  const ready = Promise.race([printedReady.then(() => true), ended.then(() => false)]).then(
    async (isReady) => {
      clearTimeout(patience)
      release()
      if (isReady) return null
      // the last output may arrive after the end
      await sleep(20)
      return { isInTheWay: inTheWay.test(output), output: errorLinesOf(output) }
    }
  )
  return { ready, ended, hold: () => child.ref(), release }
}

const outputMaxChars = 8_000
const mentionAfterMs = 3_000
/** A lock file is empty between its creation by another start and its first line. */
const inTheWay = /lock file .* (already exists|is empty)|pre-existing shared memory block/

function unreference(child: ReturnType<typeof spawn>): void {
  child.unref()
  const pipe = child.stderr
  if (pipe !== null && 'unref' in pipe && typeof pipe.unref === 'function') pipe.unref()
}

function errorLinesOf(output: string): string {
  const lines = output.split('\n').filter((line) => /FATAL|PANIC|ERROR|HINT|error while loading/.test(line))
  return (lines.length > 0 ? lines.join(' ') : output).trim()
}
