/**
 * Builds what runs from the sources, if they have changed: dist, and dist/site for the browser. `--tests` also builds the tests, checks
 * the types, and installs the tools that this needs.
 *
 * Plain JavaScript, because it runs before anything is built. Several starts at once build once: the others wait.
 * Where the bundler is missing (npm prune --omit=optional) an existing dist is used as it is.
 */
import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installTools } from './tools.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const lockFile = join(dist, '.building')
const typeChecker = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc')
const bundler = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
const site = join(dist, 'site')
const isForTests = process.argv.includes('--tests')

/** The modules that run. */
const programFolders = ['api', 'worker', 'shared', 'migrations', 'bin', 'dev']
/** Modules of the UI that need no browser are compiled for the tests that import them. */
const testFolders = ['test', 'bench', 'web/src']

const lockPollMs = 100
const lockWaitMs = 120_000

/** The same line as in shared/platform/node-version.ts, which is not built yet. */
function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)) return
  fail(
    `Tributary needs Node.js 20.19, 22.12 or newer; this is ${process.versions.node}. Install one from https://nodejs.org/en/download, or with nvm: nvm install 24`
  )
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

/** Paths of the files below folders whose names match, in a fixed order. */
function listFiles(folders, pattern) {
  const found = []
  function walk(folder) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) walk(path)
      else if (pattern.test(entry.name)) found.push(path)
    }
  }
  for (const folder of folders) {
    if (existsSync(join(root, folder))) walk(join(root, folder))
  }
  return found.sort((a, b) => (a < b ? -1 : 1))
}

/** What is installed, by the lock file: `npm ci` and another form of the file change nothing. */
function listVersions(pattern) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path]) => pattern.test(path))
    .map(([path, { version }]) => `${path}@${version}`)
    .sort()
}

/** By content: a checkout of the same files, other times of them and another Node change nothing. */
function stampOf(paths, versions) {
  const hash = createHash('sha1').update(versions.join('\n'))
  for (const path of [join(root, 'tsconfig.json'), ...paths]) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0')
  }
  return hash.digest('hex')
}

/** The parts of a build, each with the file that says from which sources it was made. */
function listParts() {
  const ofCompiler = listVersions(/^node_modules\/rolldown$/)
  const all = listVersions(/^node_modules\//)
  const program = listFiles(programFolders, /\.ts$/)
  const tests = listFiles(testFolders, /\.ts$/)
  const ofSite = listFiles(['web'], /./).filter(
    (path) => !/^web\/(?:bench\/|README\.md$)/.test(relative(root, path))
  )
  const part = (name, stamp) => ({ file: join(dist, name), stamp })
  return {
    program: part('.stamp', stampOf(program, ofCompiler)),
    tests: part('.tests-stamp', stampOf(tests, ofCompiler)),
    site: part('.site-stamp', stampOf(ofSite, all)),
    types: part('.types-stamp', stampOf([...program, ...tests, ...listFiles(['web'], /\.tsx?$/)], all))
  }
}

const isDone = ({ file, stamp }) => existsSync(file) && readFileSync(file, 'utf8') === stamp

function isCurrent() {
  const wanted = isForTests ? Object.values(parts) : [parts.program, parts.site]
  return wanted.every(isDone)
}

/** True when this process holds the lock; false when another one has built what was wanted meanwhile. */
function lock() {
  mkdirSync(dist, { recursive: true })
  const giveUpAt = Date.now() + lockWaitMs
  let isSaid = false
  while (Date.now() < giveUpAt) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' })
      process.on('exit', () => rmSync(lockFile, { force: true }))
      return true
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isCurrent()) return false
    if (!isSaid && !isAbandoned()) console.error('Another build is running: waiting for it …')
    isSaid = true
    if (isAbandoned()) rmSync(lockFile, { force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockPollMs)
  }
  fail(`Another build holds ${lockFile}; remove the file if none is running.`)
}

/** Whether the process that holds the lock is gone. */
function isAbandoned() {
  try {
    const age = Date.now() - statSync(lockFile).mtimeMs
    const pid = Number(readFileSync(lockFile, 'utf8'))
    if (pid === 0) return age > 1_000
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

/** Removes files built from deleted sources, so that a deleted test no longer runs. */
function removeOrphans(sources) {
  const expected = new Set(sources.map((path) => join(dist, relative(root, path).slice(0, -3))))
  function walk(folder) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (path !== site) walk(path)
      } else if (/\.js(\.map)?$/.test(path) && !expected.has(path.replace(/\.js(\.map)?$/, ''))) rmSync(path)
    }
  }
  walk(dist)
}

/** Runs a tool of the build, or ends. */
async function run(...args) {
  const [status] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')
  if (status !== 0) fail('The build failed.')
}

/** Runs the tools, and marks the parts as done. A part is not done while its tool runs. */
async function make(wanted, ...tools) {
  for (const { file } of wanted) rmSync(file, { force: true })
  for (const tool of tools) await tool()
  for (const { file, stamp } of wanted) writeFileSync(file, stamp)
}

/** Keeps a file that is the same, so that `npm run dev` restarts only for what has changed. */
function update(path, text) {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
}

/** Takes the types out of each module. */
async function compile() {
  const { transformSync } = await import('rolldown/utils')
  const sources = listFiles([...programFolders, ...testFolders], /(?<!\.d)\.ts$/)
  for (const source of sources) {
    const target = join(dist, `${relative(root, source).slice(0, -3)}.js`)
    mkdirSync(dirname(target), { recursive: true })
    const { code, map, errors } = transformSync(source, readFileSync(source, 'utf8'), {
      target: 'es2023',
      sourcemap: true,
      typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' }
    })
    for (const { codeframe, message } of errors) console.error(codeframe ?? message)
    if (errors.length > 0) fail('The build failed.')
    update(target, `${code}//# sourceMappingURL=${basename(target)}.map\n`)
    update(`${target}.map`, JSON.stringify({ ...map, sources: [relative(dirname(target), source)] }))
  }
  removeOrphans(sources)
  // npm does so when it first links the command, and npx keeps the link: a rebuilt dist would not be executable.
  chmodSync(join(dist, 'bin', 'tributary.js'), 0o755)
}

async function build() {
  const { program, tests, site, types } = parts
  const work = []
  if (!isDone(program) || (isForTests && !isDone(tests))) work.push(make([program, tests], compile))
  if (isForTests && !isDone(types))
    work.push(
      make([types], () =>
        Promise.all([root, join(root, 'web')].map((folder) => run(typeChecker, '-p', folder, '--noEmit')))
      )
    )
  if (!isDone(site))
    work.push(make([site], () => run(bundler, 'build', '--logLevel', 'warn', join(root, 'web'))))
  await Promise.all(work)
}

/** Says what happens, because it takes a while: on a terminal, and in a log. */
async function buildAndSay() {
  const startedAt = performance.now()
  const what = [
    ...(isDone(parts.program) && (!isForTests || (isDone(parts.tests) && isDone(parts.types)))
      ? []
      : ['the program']),
    ...(isDone(parts.site) ? [] : ['the web UI'])
  ]
  const seconds = isForTests ? '10 to 30 s' : '5 to 10 s'
  console.error(`Building ${what.join(' and ')}: about ${seconds}, and only when the sources have changed …`)
  await build()
  console.error(`Built in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`)
}

requireNode()
if (!existsSync(join(root, 'node_modules'))) fail('Nothing is installed. Run `npm ci`.')
if (isForTests) installTools()
const parts = listParts()
if (!isCurrent()) {
  if (existsSync(bundler)) {
    if (lock() && !isCurrent()) await buildAndSay()
  } else if (existsSync(join(dist, 'bin', 'tributary.js'))) {
    console.error('What builds it is not installed: running dist as it was built.')
  } else {
    fail(
      'Nothing is built, and what builds it is not installed: npm leaves it out with --omit=optional. Run `npm ci && npm run build`. Then `npm start` works, also after `npm prune --omit=optional`.'
    )
  }
}
