/**
 * Runs test files in parallel, each in its own process, and combines their output into one TAP stream.
 *
 * tap's own runner is not used: for coverage and compilation, which are not needed here, it hooks every
 * import of every process. That takes 1.6 s of CPU for each file, more than most files need to run.
 */
import { spawn } from 'node:child_process'
import { packageRoot } from '../../shared/platform/paths.ts'

export type FileOptions = {
  env: Record<string, string>
  /** How many files run at a time. */
  jobs: number
  /**
   * The limit of a file in seconds. Its test then fails by itself; a process that hangs is killed a little
   * later.
   */
  timeoutSeconds: number
  /** Stops running files, and starts no others. */
  signal: AbortSignal
  /** Called with the lines of a file when it has ended, its result last. */
  onLines: (lines: readonly string[]) => void
}

type End = { text: string; code: number | null; signal: NodeJS.Signals | null; tookMs: number }

const graceMs = 30_000

/** Runs all of the files; returns whether all ran and passed. */
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
    // tap reads its time limit from here
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

/** Why a file did not pass, or null. A process that ends early has not passed, whatever its exit code. */
function faultOf({ text, code, signal }: End): string | null {
  if (signal !== null) return `ended by ${signal}`
  if (code !== 0) return `ended with ${code}`
  return /^1\.\.[1-9]\d*/m.test(text) ? null : 'ended before its plan'
}

/**
 * The file as one point, with its tests below it. A fault that none of its tests reports is a point of its
 * own.
 */
function linesOf(path: string, number: number, { text, tookMs }: End, fault: string | null): string[] {
  const inner = text.split('\n').filter((line) => line !== '' && !line.startsWith('TAP version'))
  const told = inner.some((line) => line.startsWith('not ok'))
  return [
    ...inner.map((line) => `    ${line}`),
    ...(fault !== null && !told ? [`    not ok 0 - the process ${fault}`] : []),
    `${fault === null ? 'ok' : 'not ok'} ${number} - ${path} # time=${Math.round(tookMs)}ms`
  ]
}
