/**
 * Runs the tests: `npm test`, or `npm test -- test/db.test.ts test/rules` for some. Needs nothing but Node.
 *
 * Starts a throw-away Postgres (or takes DATABASE_URL), makes the migrated template, hands both to tap by the
 * environment, and stops everything. Ends with 1 when a test failed, left files in the temporary folder, or was skipped
 * under CI=true.
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { removeAbandonedSocketDirectories } from '../dev/embedded-postgres/socket-directory.ts'
import { packagePath, packageRoot } from '../shared/platform/paths.ts'
import { startTestServices } from './support/services.ts'
import { createTapFilter, readTapResults } from './support/tap-results.ts'

const isCi = process.env.CI === 'true'
const isTerminal = process.stdout.isTTY === true && !isCi

/** Sources are named by the person, built files are run; a folder stands for the tests in it. */
function toTapArguments(argument: string): string[] {
  const [, path] = /^(?:\.\/)?(test\b.*?)\/?$/.exec(argument) ?? []
  if (path === undefined) return [argument]
  const built = packagePath(join('dist', path))
  if (!existsSync(built) || !statSync(built).isDirectory())
    return [join('dist', path.replace(/\.ts$/, '.js'))]
  const files = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.test.js')
  )
  if (files.length === 0) throw new Error(`There is no test in ${path}`)
  return files.map((name) => join('dist', path, name))
}

/** On a terminal tap draws and writes its results to a file; elsewhere (CI, a pipe) the results are read as they come. */
function tapArguments(given: readonly string[], outputFile: string): string[] {
  const coverage = given.includes('--coverage') ? [] : ['--disable-coverage']
  const rest = given.filter((argument) => argument !== '--coverage').flatMap(toTapArguments)
  return [...coverage, ...(isTerminal ? [`--output-file=${outputFile}`] : ['--reporter=tap']), ...rest]
}

type TapEnd = { code: number; text: string }

/** tap's bin by its path: a bare `tap` is found below npm only. */
function runTap(args: readonly string[], env: Record<string, string>): Promise<TapEnd> {
  const child = spawn(process.execPath, [packagePath('node_modules/tap/dist/esm/run.mjs'), ...args], {
    cwd: packageRoot,
    env: { ...process.env, ...env },
    stdio: ['inherit', isTerminal ? 'inherit' : 'pipe', 'inherit']
  })
  // the terminal sends Ctrl-C to the child as well: wait for it, then clean up
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const lines: string[] = []
  const isWorthShowing = createTapFilter()
  if (child.stdout !== null) {
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line)
      if (isWorthShowing(line)) console.log(line)
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, text: lines.join('\n') }))
  })
}

/** Names of what the tests left behind in the run's own temporary folder; the socket directories of their databases are removed here. */
function leftovers(folder: string): string[] {
  const names = readdirSync(folder)
  rmSync(folder, { recursive: true, force: true })
  removeAbandonedSocketDirectories()
  return names
}

async function runTests(): Promise<number> {
  const outputFile = join(mkdtempSync(join(tmpdir(), 'results-')), 'results.tap')
  const services = await startTestServices()
  try {
    console.log(
      `Testing on ${services.description}, with ${process.env.SEED ? `SEED=${process.env.SEED}` : 'the fixed seed'}.`
    )
    const { code, text } = await runTap(tapArguments(process.argv.slice(2), outputFile), services.env)
    const { passed, failed, skipped } = readTapResults(
      existsSync(outputFile) ? readFileSync(outputFile, 'utf8') : text
    )
    for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`)
    const hasForbiddenSkip = isCi && skipped.length > 0
    if (hasForbiddenSkip) console.log('Nothing may be skipped under CI=true.')
    console.log(`${passed} passed, ${failed} failed`)
    return code === 0 && hasForbiddenSkip ? 1 : code
  } finally {
    await services.stop()
    rmSync(dirname(outputFile), { recursive: true, force: true })
  }
}

/** Everything below runs in a temporary folder of its own, so that whatever stays in it was left by this run. */
async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-test-'))
  // the database may run as another user, who must get through
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  // a library of tap's would keep compiled code there
  process.env.DISABLE_V8_COMPILE_CACHE = '1'
  // so would npm, where a test runs npm
  process.env.NODE_DISABLE_COMPILE_CACHE = '1'
  let code: number
  try {
    code = await runTests()
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  const left = leftovers(folder)
  if (left.length > 0) console.log(`The tests left files in the temporary folder: ${left.join(', ')}`)
  return left.length > 0 ? 1 : code
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
