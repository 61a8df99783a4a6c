/**
 * Runs test files side by side, each in a process of its own, and gives what they said as one TAP stream.
 *
 * tap's own runner is left aside: it hooks every import of every process for coverage and for a compiler that nothing
 * here needs, which takes 1.6 s of CPU a file, more than most files need to run.
 */
import { spawn } from 'node:child_process'
import { packageRoot } from '../../shared/platform/paths.ts'

export type FileOptions = {
  env: Record<string, string>
  /** How many files run at a time. */
  jobs: number
  /** How long a file may take, in seconds. Its test fails by itself then; a process that hangs is killed a little later. */
  timeoutSeconds: number
  /** Ends what runs, and begins no other. */
  signal: AbortSignal
  /** Gets the lines of a file when it has ended, its result last. */
  onLines: (lines: readonly string[]) => void
}

type End = { text: string; code: number | null; signal: NodeJS.Signals | null; tookMs: number }

const graceMs = 30_000

/** Runs all of the files; whether every one of them ran and passed. */
export async function runTestFiles(paths: readonly string[], options: FileOptions): Promise<boolean> {
  const waiting = paths.map((path, index) => ({ path, number: index + 1 }))
  let isOk = true
  const runNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (options.signal.aborted) return
      const end = await runFile(next.path, options)
      const fault = faultOf(end)
      if (fault !== null) isOk = false
      options.onLines(linesOf(next.path, next.number, end, fault))
    }
  }
  await Promise.all(Array.from({ length: options.jobs }, runNext))
  return isOk && !options.signal.aborted
}

function runFile(path: string, { env, timeoutSeconds, signal }: FileOptions): Promise<End> {
  const began = performance.now()
  const child = spawn(process.execPath, ['--enable-source-maps', path], {
    cwd: packageRoot,
    // what the tests read of it: the time after which a file fails by itself
    env: { ...process.env, ...env, TAP_TIMEOUT: String(timeoutSeconds) },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const kill = setTimeout(() => child.kill('SIGKILL'), timeoutSeconds * 1_000 + graceMs)
  const end = () => child.kill('SIGTERM')
  signal.addEventListener('abort', end)
  const pieces: string[] = []
  child.stdout.setEncoding('utf8').on('data', (piece: string) => pieces.push(piece))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, endedBy) => {
      clearTimeout(kill)
      signal.removeEventListener('abort', end)
      resolve({ text: pieces.join(''), code, signal: endedBy, tookMs: performance.now() - began })
    })
  })
}

/** Why a file did not pass, or null: a process that ends early has passed nothing, whatever its code. */
function faultOf({ text, code, signal }: End): string | null {
  if (signal !== null) return `ended by ${signal}`
  if (code !== 0) return `ended with ${code}`
  return /^1\.\.[1-9]\d*/m.test(text) ? null : 'ended before its plan'
}

/** The file as one point, with its tests below it. A fault that no test of it tells is a point of its own. */
function linesOf(path: string, number: number, { text, tookMs }: End, fault: string | null): string[] {
  const inner = text.split('\n').filter((line) => line !== '' && !line.startsWith('TAP version'))
  const told = inner.some((line) => line.startsWith('not ok'))
  return [
    ...inner.map((line) => `    ${line}`),
    ...(fault !== null && !told ? [`    not ok 0 - the process ${fault}`] : []),
    `${fault === null ? 'ok' : 'not ok'} ${number} - ${path} # time=${Math.round(tookMs)}ms`
  ]
}
