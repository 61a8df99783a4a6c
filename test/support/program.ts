/** Runs a built file as a process in a temporary folder, and collects its output. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'

export type Program = {
  pid: number
  /** Everything printed so far, on both outputs. */
  said(): string
  /**
   * Resolves with the first match in the output; rejects if the process ends without one, or takes too long.
   */
  says(pattern: RegExp, maxMs?: number): Promise<string>
  kill(signal: NodeJS.Signals): void
  /** The exit code, or the name of the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
}

export type ProgramOptions = {
  cwd: string
  env?: Record<string, string>
  /** The user to run as; by default the present one. */
  user?: { uid: number; gid: number } | undefined
  /** Written to standard input, which then stays open. Without it, there is no standard input. */
  input?: string
}

const saysMaxMs = 180_000

/** `file` is a path in dist, such as `dev/start.js`. Killed at teardown if it still runs. */
export function runProgram(t: Test, file: string, args: readonly string[], options: ProgramOptions): Program {
  const child = spawn(process.execPath, [packagePath(join('dist', file)), ...args], {
    cwd: options.cwd,
    env: cleanEnv(options.env ?? {}),
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...options.user
  })
  if (options.input !== undefined) child.stdin?.write(options.input)
  let text = ''
  const hear = (part: string): void => {
    text += part
  }
  child.stdout?.setEncoding('utf8').on('data', hear)
  child.stderr?.setEncoding('utf8').on('data', hear)
  let isOver = false
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      isOver = true
      resolve(code ?? signal ?? 'SIGKILL')
    })
  })
  t.teardown(async () => {
    if (!isOver) child.kill('SIGTERM')
    const isLate = await Promise.race([ended.then(() => false), sleep(20_000, true, { ref: false })])
    if (isLate) child.kill('SIGKILL')
  })

  async function says(pattern: RegExp, maxMs = saysMaxMs): Promise<string> {
    const giveUpAt = Date.now() + maxMs
    for (;;) {
      const found = pattern.exec(text)
      if (found) return found[1] ?? found[0]
      if (isOver || Date.now() > giveUpAt)
        throw new Error(`${file} did not say ${String(pattern)} but:\n${text}`)
      await sleep(10)
    }
  }
  return {
    pid: child.pid ?? 0,
    said: () => text,
    says,
    kill: (signal) => {
      child.kill(signal)
    },
    ended
  }
}

/** A folder that every user may write to, removed at teardown. */
export function withFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-test-'))
  chmodSync(folder, 0o777)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Without the configuration of the test run: the program only gets what its test sets. */
function cleanEnv(env: Record<string, string>): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'].flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]] as const]
  )
  return { ...Object.fromEntries(kept), ...env }
}
