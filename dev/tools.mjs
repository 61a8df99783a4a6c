/**
 * Installs the development tools if they are missing. `npm ci` leaves them out (.npmrc), because they are more
 * than half of what would be installed, and `npm start` needs none of them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const isInstalled = ([name, version]) => {
  const file = join(root, 'node_modules', name, 'package.json')
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === version.split('@').at(-1)
}

/** Ends this process if they cannot be installed. */
export function installTools() {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  if (Object.entries(devDependencies).every(isInstalled)) return
  console.error('Installing the development tools, which npm ci leaves out …')
  const { status } = spawnSync('npm', ['install', '--include=dev', '--no-save', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2]
  })
  if (status === 0) return
  console.error('They could not be installed. Run `npm ci --include=dev` where npm reaches its registry.')
  process.exit(1)
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) installTools()
