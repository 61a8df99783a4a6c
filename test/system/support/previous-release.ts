/**
 * The version that was released before this one, as git has it: the newest tag, and as long as there is none, the
 * last commit before the newest migration.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { migrations } from '../../../migrations/index.ts'
import { packagePath, packageRoot } from '../../../shared/platform/paths.ts'

/** The commit, or null where git or that part of the history is missing. */
export function previousRelease(): string | null {
  const [tag] = git('tag', '--merged', 'HEAD^', '--list', 'v*', '--sort=-version:refname')?.split('\n') ?? []
  if (tag) return git('rev-parse', '--verify', `${tag}^{commit}`)
  const file = `migrations/${migrations.at(-1)?.name}.ts`
  const added = git('log', '--diff-filter=A', '--max-count=1', '--format=%H', '--', file)
  return added ? git('rev-parse', '--verify', '--quiet', `${added}^`) : null
}

/**
 * The sources of a commit in a folder that is removed at teardown, with the libraries of this version. `command` runs
 * its `tributary`: Node.js runs the sources as they are, so that nothing has to be built.
 */
export function withSourcesOf(t: Test, commit: string): { folder: string; command: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-previous-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const archive = spawnSync('git', ['-C', packageRoot, 'archive', '--format=tar', commit], {
    maxBuffer: 1024 * 1024 * 1024
  })
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: archive.stdout, encoding: 'utf8' })
  if (archive.status !== 0 || unpacked.status !== 0)
    throw new Error(`no sources of ${commit}: ${archive.stderr.toString()}${unpacked.stderr}`)
  symlinkSync(packagePath('node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    command: 'node --experimental-strip-types --disable-warning=ExperimentalWarning bin/tributary.ts'
  }
}

function git(...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', ['-C', packageRoot, ...args], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
