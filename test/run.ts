/**
 * Runs the tests: `npm test`, or `npm test -- test/db.test.ts test/rules` for some. Needs nothing but Node.
 *
 * Starts a throw-away Postgres (or takes DATABASE_URL), makes the migrated template, hands both to tap by the
 * environment, and stops everything. Ends with 1 when a test failed, or was skipped under CI=true.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packagePath, packageRoot } from '../shared/platform/paths.ts'
import { startTestServices } from './support/services.ts'
import { readTapResults } from './support/tap-results.ts'

const isCi = process.env.CI === 'true'

/** Sources are named by the person, built files are run; a folder stands for the tests in it. */
function toTapArguments(argument: string): string[] {
  const [, path] = /^(?:\.\/)?(test\b.*?)\/?$/.exec(argument) ?? []
  if (path === undefined) return [argument]
  const built = packagePath(join('dist', path))
  if (!existsSync(built) || !statSync(built).isDirectory()) return [join('dist', path.replace(/\.ts$/, '.js'))]
  const files = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.test.js'))
  if (files.length === 0) throw new Error(`There is no test in ${path}`)
  return files.map(name => join('dist', path, name))
}

function tapArguments(given: readonly string[], outputFile: string): string[] {
  const coverage = given.includes('--coverage') ? [] : ['--disable-coverage']
  const rest = given.filter(argument => argument !== '--coverage').flatMap(toTapArguments)
  return [...coverage, `--output-file=${outputFile}`, ...(process.stdout.isTTY && !isCi ? [] : ['--reporter=terse']), ...rest]
}

/** tap's bin by its path: a bare `tap` is found below npm only. */
function runTap(args: readonly string[], env: Record<string, string>): Promise<number> {
  const child = spawn(process.execPath, [packagePath('node_modules/tap/dist/esm/run.mjs'), ...args], {
    cwd: packageRoot,
    env: { ...process.env, ...env },
    stdio: 'inherit'
  })
  // the terminal sends Ctrl-C to the child as well: wait for it, then clean up
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', code => resolve(code ?? 1))
  })
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-tap-'))
  const outputFile = join(folder, 'results.tap')
  const services = await startTestServices()
  try {
    console.log(`Testing on ${services.description}.`)
    const code = await runTap(tapArguments(process.argv.slice(2), outputFile), services.env)
    const text = existsSync(outputFile) ? readFileSync(outputFile, 'utf8') : ''
    const { passed, failed, skipped } = readTapResults(text)
    for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`)
    const hasForbiddenSkip = isCi && skipped.length > 0
    if (hasForbiddenSkip) console.log('Nothing may be skipped under CI=true.')
    console.log(`${passed} passed, ${failed} failed`)
    return code === 0 && hasForbiddenSkip ? 1 : code
  } finally {
    await services.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
