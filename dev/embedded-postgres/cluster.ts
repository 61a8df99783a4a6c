/** Creates the data directory once, even if several processes start at the same time. */
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { majorVersion } from './binaries.ts'
import { CannotEmbed } from './cannot-embed.ts'
import type { Place } from './place.ts'
import { isAlive } from './server-state.ts'

/**
 * The locale provider in the server, not the system's: texts sort the same everywhere, and no locale must be
 * installed.
 */
const localeFlags = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']

/** Afterwards `place.dataDir` has a cluster of the right version. Throws CannotEmbed. */
export function ensureCluster(place: Place, throwaway: boolean): void {
  if (!existsSync(versionFile(place))) createCluster(place, throwaway)
  const found = readFileSync(versionFile(place), 'utf8').trim()
  const wanted = majorVersion(place.binaries)
  if (found !== wanted) {
    throw new CannotEmbed(
      `the data in ${place.dataDir} is of PostgreSQL ${found} and the binaries are ${wanted}; dump it with the former, or move it away.`
    )
  }
}

/**
 * Creates the cluster beside the target and renames it: a killed start leaves no partial cluster, and one of
 * several concurrent starts wins.
 */
function createCluster(place: Place, throwaway: boolean): void {
  const { dataDir, runner, binaries } = place
  removeLeftovers(dataDir)
  const part = `${dataDir}.init-${process.pid}`
  mkdirSync(part, { mode: 0o700 })
  try {
    runner.give(part)
    const [file = '', ...args] = runner.wrap([
      join(binaries.directory, 'bin', 'initdb'),
      '-D',
      part,
      '-U',
      'postgres',
      '--auth=trust',
      '--no-instructions',
      ...localeFlags,
      ...(throwaway ? ['--no-sync'] : [])
    ])
    const result = spawnSync(file, args, { ...runner.ids, cwd: '/', encoding: 'utf8' })
    if (result.status !== 0)
      throw new CannotEmbed(explain(`${result.stderr ?? ''}${result.error?.message ?? ''}`))
    renameSync(part, dataDir)
    syncDirectory(dirname(dataDir))
  } catch (error) {
    if (existsSync(versionFile(place))) return
    if (error instanceof CannotEmbed) throw error
    throw new CannotEmbed(`the directory ${dataDir} cannot be made (is it in use for something else?).`, {
      cause: error
    })
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}

function explain(output: string): string {
  if (output.includes('could not look up effective user ID')) {
    return 'this user id has no entry in /etc/passwd, which PostgreSQL insists on.'
  }
  const lines = output.split('\n').filter((line) => /error|FATAL|could not|cannot|denied|space/i.test(line))
  return `initdb failed: ${(lines.length > 0 ? lines : output.split('\n')).slice(0, 3).join(' ').trim()}.`
}

function removeLeftovers(dataDir: string): void {
  const prefix = `${basename(dataDir)}.init-`
  for (const name of readdirSync(dirname(dataDir))) {
    const pid = Number(name.slice(prefix.length))
    if (name.startsWith(prefix) && pid > 0 && !isAlive(pid)) {
      rmSync(join(dirname(dataDir), name), { recursive: true, force: true })
    }
  }
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function versionFile(place: Place): string {
  return join(place.dataDir, 'PG_VERSION')
}
