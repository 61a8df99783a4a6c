/**
 * Builds dist from the sources, unless it is up to date: 0.1 s if it is, about 2 s if not. Builds dist/site from the browser's
 * sources, in about 3 s.
 *
 * Plain JavaScript, because it runs before anything is built. Several starts at once build once: the others wait.
 * Where the compiler is missing (npm ci --omit=dev) an existing dist is used as it is.
 */
import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
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
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const stampFile = join(dist, '.stamp')
const lockFile = join(dist, '.building')
const compiler = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc')
const folders = ['api', 'worker', 'shared', 'migrations', 'bin', 'dev', 'test', 'bench']
const configFiles = ['package-lock.json', 'tsconfig.json']
const site = join(dist, 'site')
const siteStampFile = join(dist, '.site-stamp')
const bundler = join(root, 'node_modules', 'vite', 'bin', 'vite.js')

const leastNode = [20, 19]
const lockPollMs = 100
const lockWaitMs = 120_000

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > leastNode[0] || (major === leastNode[0] && minor >= leastNode[1])) return
  fail(`Tributary needs Node.js ${leastNode.join('.')} or newer; this is ${process.versions.node}.`)
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

function stampOf(sources) {
  const hash = createHash('sha1')
  for (const path of [...configFiles.map((name) => join(root, name)), ...sources]) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0')
  }
  return hash.digest('hex')
}

function isOf(file, stamp) {
  return existsSync(file) && readFileSync(file, 'utf8') === stamp
}

function isCurrent() {
  return isOf(stampFile, stamp) && isOf(siteStampFile, siteStamp)
}

/** True when this process holds the lock; false when another one has built what was wanted meanwhile. */
function lock() {
  mkdirSync(dist, { recursive: true })
  const giveUpAt = Date.now() + lockWaitMs
  while (Date.now() < giveUpAt) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' })
      process.on('exit', () => rmSync(lockFile, { force: true }))
      return true
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isCurrent()) return false
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
  // Browser modules that do not need a browser are compiled for the tests that import them.
  const expected = new Set(
    [...sources, ...listFiles(['web/src'], /\.ts$/)].map((path) =>
      join(dist, relative(root, path).slice(0, -3))
    )
  )
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
function run(...args) {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) fail('The build failed.')
}

function compile() {
  rmSync(stampFile, { force: true })
  run(compiler, '-p', root)
  removeOrphans(sources)
  // npm does so when it first links the command, and npx keeps the link: a rebuilt dist would not be executable.
  chmodSync(join(dist, 'bin', 'tributary.js'), 0o755)
  writeFileSync(stampFile, stamp)
}

function bundle() {
  rmSync(siteStampFile, { force: true })
  run(compiler, '-p', join(root, 'web'))
  run(bundler, 'build', '--logLevel', 'warn', join(root, 'web'))
  writeFileSync(siteStampFile, siteStamp)
}

requireNode()
// Modules of the UI that need no browser are compiled for the tests that import them.
const sources = listFiles([...folders, 'web/src'], /\.ts$/)
const stamp = stampOf(sources)
const siteStamp = stampOf(listFiles(['web'], /./))
if (!isCurrent()) {
  if (existsSync(compiler) && existsSync(bundler)) {
    if (lock() && !isCurrent()) {
      if (!isOf(stampFile, stamp)) compile()
      if (!isOf(siteStampFile, siteStamp)) bundle()
    }
  } else if (existsSync(join(dist, 'bin', 'tributary.js'))) {
    console.error('The compiler is not installed: running dist as it was built.')
  } else {
    fail(
      existsSync(join(root, 'node_modules'))
        ? 'Nothing is built, and what builds it is not installed: npm leaves it out under NODE_ENV=production and with --omit=dev. Run `npm ci --include=dev && npm run build`. Then `npm start` works, also after `npm prune --omit=dev`.'
        : 'Nothing is installed. Run `npm ci --include=dev`.'
    )
  }
}
