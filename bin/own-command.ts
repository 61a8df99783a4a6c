/** How a person calls the command line, for lines that can be pasted into a shell: it depends on how this program was installed. */
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { packagePath } from '../shared/platform/paths.ts'
import { quoteForShell } from './quote-for-shell.ts'

const ownFile = packagePath('dist/bin/tributary.js')

/**
 * In `folder`, by default the one where npm or this program was called:
 *
 * `tributary` if a shell finds this program by that name, as in a container image or after a global installation. `npx
 * tributary` in the folder of a checkout, or in one with the package: elsewhere npx would fetch the package of somebody else. Otherwise the path of the
 * program. npm puts such a folder on the PATH of what it runs only, so that PATH says nothing about the person's shell.
 */
export function ownCommand(
  env: Readonly<Record<string, string | undefined>>,
  folder: string = env.INIT_CWD ?? process.cwd()
): string {
  const folders = env.npm_command === undefined ? (env.PATH ?? '').split(delimiter) : []
  if (folders.some((each) => isOwnFile(join(each, 'tributary')))) return 'tributary'
  return isOfNpx(folder) ? 'npx tributary' : quoteForShell(ownFile)
}

/** Whether `npx tributary` in the folder runs this program: npm looks in the nearest folder above that has a package. */
function isOfNpx(folder: string): boolean {
  for (let place = folder; ; place = dirname(place)) {
    if (existsSync(join(place, 'package.json')) || existsSync(join(place, 'node_modules')))
      return (
        isOwnFile(join(place, 'dist/bin/tributary.js')) ||
        isOwnFile(join(place, 'node_modules/.bin/tributary'))
      )
    if (place === dirname(place)) return false
  }
}

function isOwnFile(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(ownFile)
  } catch {
    return false
  }
}
