/** The processes that are tortured: API and workers as an operator runs them, started again when they are killed. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { packagePath, packageRoot } from '../../shared/platform/paths.ts'

const program = packagePath('dist/bin/tributary.js')

export type Kept = {
  pid(): number | undefined
  /** Kills it at once and starts another in its place. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** Runs a command of the CLI to its end and gives what it printed. Throws where it fails. */
export async function runCommand(args: readonly string[], env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
    cwd: packageRoot,
    env: { ...process.env, ...env }
  })
  return stdout
}

/** Makes an administrator's token. Throws where it cannot. */
export async function createAdminToken(env: Record<string, string>): Promise<string> {
  const printed = await runCommand(['token', 'create', '--name', 'torture', '--scopes', 'admin'], env)
  const [token] = /trib_\w+/.exec(printed) ?? []
  if (token === undefined) throw new Error('no token was printed')
  return token
}

/** Keeps one process of the CLI running, or of another built `file`; its output goes to a file of the folder. */
export function keepRunning(
  name: string,
  args: readonly string[],
  env: Record<string, string>,
  folder: string,
  file = program
): Kept {
  const output = createWriteStream(join(folder, `${name}.log`), { flags: 'a' })
  let isStopping = false
  let child: ChildProcess = start()

  function start(): ChildProcess {
    const started = spawn(process.execPath, ['--enable-source-maps', file, ...args], {
      cwd: packageRoot,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    started.stdout?.pipe(output, { end: false })
    started.stderr?.pipe(output, { end: false })
    started.on('exit', () => {
      if (!isStopping && child === started) child = start()
    })
    return started
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child
    if (ending.exitCode !== null || ending.signalCode !== null) return
    const ended = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill(signal)
    await ended
  }

  return {
    pid: () => child.pid,
    kill: () => end('SIGKILL'),
    async stop() {
      isStopping = true
      const term = end('SIGTERM')
      await Promise.race([term, sleep(25_000, undefined, { ref: false })])
      await end('SIGKILL')
      output.end()
    }
  }
}
