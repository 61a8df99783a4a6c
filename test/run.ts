/**
 * Runs the tests: `npm test`, or `npm test -- test/db.test.ts test/rules` for some; `--grep=words` for those
 * whose name has the words. Needs only Node.
 *
 * Starts a temporary Postgres (or uses DATABASE_URL), creates the migrated template, passes both to the test
 * files in the environment, and stops everything. Exits with 1 if a test failed, left files in the temporary
 * folder, or was skipped under CI=true.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeAbandonedSocketDirectories } from '../dev/embedded-postgres/socket-directory.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { runTestFiles } from './support/run-test-files.ts'
import { startTestServices } from './support/services.ts'
import { createTapFilter, readTapResults } from './support/tap-results.ts'

/**
 * The terminal sends Ctrl-C to the test processes as well, so this process must wait until they have ended
 * before it stops the services.
 */
const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ending.abort())

const isCi = process.env.CI === 'true'

/**
 * One more than there are cores, because some files sleep; at most as many as the connections of one Postgres
 * allow.
 */
const jobs = Math.min(availableParallelism() + 1, 4)

/** Arguments name sources, but built files are run; a folder stands for the tests in it. */
function toBuiltFiles(argument: string): string[] {
  const path = argument.replace(/^\.\//, '').replace(/\/$/, '')
  const built = packagePath(join('dist', path))
  if (existsSync(built) && statSync(built).isDirectory()) {
    const files = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.test.js')
    )
    if (files.length === 0) throw new Error(`There is no test in ${path}`)
    return files.sort().map((name) => join('dist', path, name))
  }
  const file = join('dist', path.replace(/^dist\//, '').replace(/\.ts$/, '.js'))
  if (!existsSync(packagePath(file))) throw new Error(`There is no test ${path}`)
  return [file]
}

/**
 * test/system starts whole processes and takes long: `npm run system`; test/browser needs a browser: `npm run
 * browser`; test/how-to runs the pages of docs with the tools that they name: `npm run how-to`; test/site reads the
 * site that `npm run site` builds of them: `npm run site-test`.
 */
const isForAll = (file: string): boolean =>
  !['system', 'browser', 'how-to', 'site'].some((folder) => file.startsWith(join('dist', 'test', folder)))

/**
 * Files with a test that takes a minute, most of it asleep, are started first, because at the end they would
 * run alone.
 */
const longest = ['cli-upload', 'recipes', 'undo-histories', 'snapshot-order'].map((name) =>
  join('dist', 'test', `${name}.test.js`)
)

const longestFirst = (files: readonly string[]): string[] => [
  ...longest.filter((file) => files.includes(file)),
  ...files.filter((file) => !longest.includes(file))
]

function readArguments(): { files: string[]; env: Record<string, string>; timeoutSeconds: number } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { grep: { type: 'string' }, timeout: { type: 'string', default: '600' } }
  })
  const files =
    positionals.length > 0 ? positionals.flatMap(toBuiltFiles) : toBuiltFiles('test').filter(isForAll)
  return {
    files: longestFirst([...new Set(files)]),
    env: values.grep === undefined ? {} : { TAP_GREP: values.grep },
    timeoutSeconds: Number(values.timeout)
  }
}

/**
 * Names of the files that the tests left in the run's temporary folder. The socket directories of their
 * databases are removed here.
 */
function leftovers(folder: string): string[] {
  const names = readdirSync(folder)
  rmSync(folder, { recursive: true, force: true })
  removeAbandonedSocketDirectories()
  return names
}

async function runTests(): Promise<number> {
  const { files, env, timeoutSeconds } = readArguments()
  // The cache of compiled code. Without it, each of some hundred processes would compile it again.
  const compileCache = mkdtempSync(join(tmpdir(), 'compiled-'))
  const services = await startTestServices()
  try {
    console.log(
      `Testing on ${services.description}, with ${process.env.SEED ? `SEED=${process.env.SEED}` : 'the fixed seed'}.`
    )
    const lines: string[] = []
    const isWorthShowing = createTapFilter()
    const isOk = await runTestFiles(files, {
      env: { ...services.env, ...env, NODE_COMPILE_CACHE: compileCache },
      jobs,
      timeoutSeconds,
      signal: ending.signal,
      onLines: (more) => {
        lines.push(...more)
        for (const line of more) if (isWorthShowing(line)) console.log(line)
      }
    })
    const { passed, failed, skipped } = readTapResults(lines.join('\n'))
    for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`)
    const hasForbiddenSkip = isCi && skipped.length > 0
    if (hasForbiddenSkip) console.log('Nothing may be skipped under CI=true.')
    console.log(`${passed} passed, ${failed} failed`)
    return isOk && !hasForbiddenSkip ? 0 : 1
  } finally {
    await services.stop()
    rmSync(compileCache, { recursive: true, force: true })
  }
}

/** Everything below runs in its own temporary folder, so that all files in it come from this run. */
async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-test-'))
  // the database may run as another user, who must be able to pass
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
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
