/**
 * Processes as in production: the lines of the Procfile, with only the environment variables that the test
 * sets.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { packagePath, packageRoot } from '../../../shared/platform/paths.ts'

export type RunningProcess = {
  /** The id of the program itself, not of a shell that started it. */
  pid: number
  /** Everything printed so far, on both outputs. */
  said(): string
  /**
   * Resolves with the first match in the output; rejects if the process ends without one, or takes too long.
   */
  says(pattern: RegExp, maxMs?: number): Promise<RegExpExecArray>
  signal(name: NodeJS.Signals): void
  /** The exit code, or the name of the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
  hasEnded(): boolean
}

export type ProcessOptions = {
  env: Readonly<Record<string, string>>
  cwd?: string
  user?: { uid: number; gid: number } | undefined
}

const saysMaxMs = 180_000
const endMaxMs = 25_000

/** The command in a line of the Procfile, unchanged. Throws if there is no such line. */
export function procfileLine(name: string): string {
  const lines = readFileSync(packagePath('Procfile'), 'utf8')
    .split('\n')
    .map((line) => /^([\w-]+):\s*(.+)$/.exec(line))
  const found = lines.find((line) => line?.[1] === name)?.[2]
  if (found === undefined) throw new Error(`the Procfile has no line ${name}`)
  return found
}

/**
 * Runs a shell command, whose first word becomes the process. At teardown it is asked to end, and killed if
 * it does not. tap puts its own options for node into the environment of every child process; `env` removes
 * them again.
 */
export function runShell(
  t: Test,
  command: string,
  { env, cwd = packageRoot, user }: ProcessOptions
): RunningProcess {
  const child = spawn('/usr/bin/env', ['-u', 'NODE_OPTIONS', '/bin/sh', '-c', `exec ${command}`], {
    cwd,
    env: { ...inherited(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user
  })
  let text = ''
  const hear = (part: string): void => {
    text += part
  }
  child.stdout.setEncoding('utf8').on('data', hear)
  child.stderr.setEncoding('utf8').on('data', hear)
  let isOver = false
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      isOver = true
      resolve(code ?? signal ?? 'SIGKILL')
    })
  })
  t.teardown(async () => {
    if (isOver) return
    child.kill('SIGTERM')
    const isLate = await Promise.race([ended.then(() => false), sleep(endMaxMs, true, { ref: false })])
    if (isLate) child.kill('SIGKILL')
    await ended
  })

  async function says(pattern: RegExp, maxMs = saysMaxMs): Promise<RegExpExecArray> {
    const giveUpAt = Date.now() + maxMs
    for (;;) {
      const found = pattern.exec(text)
      if (found) return found
      if (isOver || Date.now() > giveUpAt)
        throw new Error(`${command} did not say ${String(pattern)} but:\n${text}`)
      await sleep(20)
    }
  }
  return {
    pid: child.pid ?? 0,
    said: () => text,
    says,
    signal: (name) => {
      child.kill(name)
    },
    ended,
    hasEnded: () => isOver
  }
}

/** Runs a line of the Procfile. */
export function runLine(t: Test, name: string, env: Readonly<Record<string, string>>): RunningProcess {
  return runShell(t, procfileLine(name), { env })
}

/** Runs a command of the command line to its end. */
export async function runCli(
  t: Test,
  args: readonly string[],
  env: Readonly<Record<string, string>>
): Promise<{ code: number | NodeJS.Signals; said: string }> {
  const quoted = args.map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = runShell(t, `node dist/bin/tributary.js ${quoted}`, { env })
  return { code: await child.ended, said: child.said() }
}

/** The largest resident memory of a process so far, in megabytes; null if the system does not report it. */
export function peakMegabytes(pid: number): number | null {
  try {
    const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return found ? Math.round(Number(found[1]) / 1024) : null
  } catch {
    return null
  }
}

function inherited(): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name of ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE']) {
    const value = process.env[name]
    if (value !== undefined) kept[name] = value
  }
  return kept
}
