/** How a person calls the command line, for lines that can be pasted into a shell: it depends on how this program was installed. */
import { realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { packagePath } from '../shared/platform/paths.ts'

const ownFile = packagePath('dist/bin/tributary.js')

/**
 * `tributary` if a shell finds this program by that name, as in a container image or after a global installation; otherwise `npx
 * tributary`, which works in a checkout and in a folder with the package. npm puts such a folder on the PATH of what it runs
 * only, so that PATH says nothing about the person's shell.
 */
export function ownCommand(env: Readonly<Record<string, string | undefined>>): string {
  const folders = env.npm_command === undefined ? (env.PATH ?? '').split(delimiter) : []
  return folders.some((folder) => isOwnFile(join(folder, 'tributary'))) ? 'tributary' : 'npx tributary'
}

function isOwnFile(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(ownFile)
  } catch {
    return false
  }
}
