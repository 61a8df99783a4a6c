/**
 * A Python environment with exactly the client versions in a requirements.txt.
 *
 * It is made once for each requirements.txt and version of Python, in the user's cache folder, and used
 * again.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { packagePath } from '../shared/platform/paths.ts'

/** The oldest version that the clients support. */
const leastPython = [3, 10] as const

/** No usable Python: the message says what to install. */
export class NoPython extends Error {}

type Python = { command: string; version: string }

/** Throws NoPython. */
function findPython(): Python {
  const seen: string[] = []
  for (const command of [process.env.PYTHON ?? '', 'python3'].filter((name) => name !== '')) {
    const { status, stdout } = spawnSync(
      command,
      ['-c', 'import sys; print("%d.%d.%d" % sys.version_info[:3])'],
      { encoding: 'utf8' }
    )
    if (status !== 0) continue
    const version = stdout.trim()
    const [major = 0, minor = 0] = version.split('.').map(Number)
    if (major === leastPython[0] && minor >= leastPython[1]) return { command, version }
    seen.push(version)
  }
  throw new NoPython(
    `The clients need Python ${leastPython.join('.')} or newer as \`python3\` (or as PYTHON says); found: ${seen.join(', ') || 'none'}.`
  )
}

/** Where the clients are kept between runs. */
export const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tributary', 'interop')

/**
 * Path of the environment's `bin`. `requirements` is a path within the package. Throws NoPython, or an Error
 * if they cannot be installed.
 */
export async function openPythonEnvironment(path = 'test/interop/requirements.txt'): Promise<string> {
  const python = findPython()
  const requirements = packagePath(path)
  const version = createHash('sha1')
    .update(python.version)
    .update(readFileSync(requirements))
    .digest('hex')
    .slice(0, 12)
  const folder = join(cacheFolder(), version)
  const bin = join(folder, 'bin')
  // Written last, so a folder without it is incomplete.
  const stamp = join(folder, '.complete')
  if (existsSync(stamp)) return bin
  console.log(`# installing ${path} for Python ${python.version} into ${folder}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const venv = await run(python.command, ['-m', 'venv', folder])
  if (venv !== 0) {
    rmSync(folder, { recursive: true, force: true })
    throw new NoPython('`python3 -m venv` failed: on Debian and Ubuntu it is in the package python3-venv.')
  }
  const pip = await run(join(bin, 'python'), [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '--only-binary',
    ':all:',
    '--requirement',
    requirements
  ])
  if (pip !== 0) throw new Error(`${path} could not be installed: pip says why above.`)
  writeFileSync(stamp, '')
  return bin
}

function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
      .on('error', reject)
      .on('close', (code) => resolve(code ?? 1))
  })
}
