/** Starts and ends a process to which Tributary's speed over HTTP is compared. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../shared/platform/paths.ts'
import { freePort } from '../../test/support/free-port.ts'
import { cpuSecondsOf, untilLive } from './api-process.ts'

export type BareProcess = { url: string; cpuSeconds: () => number; stop: () => Promise<void> }

/** `answer` is the JSON of every answer. */
export async function startBare(
  kind: 'fastify' | 'graphql',
  answer: string,
  folder: string
): Promise<BareProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const file = join(folder, `bare-${kind}-answer.json`)
  writeFileSync(file, answer)
  const child = spawn(
    process.execPath,
    [packagePath(`dist/bench/lineage-http/bare-${kind}.js`), String(port), file],
    { stdio: ['ignore', 'ignore', 'inherit'] }
  )
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await untilLive(`${url}/health/live`)
  const { pid } = child
  if (pid === undefined) throw new Error(`bare ${kind} has no process`)
  return {
    url,
    cpuSeconds: () => cpuSecondsOf(pid),
    stop: async () => {
      child.kill()
      await ended
    }
  }
}
