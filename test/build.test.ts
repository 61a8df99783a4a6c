/** The build, where what it needs is not installed. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { packagePath } from '../shared/platform/paths.ts'
import { withFolder } from './support/program.ts'

/** Runs the build of a checkout without the optional dependencies. */
function build(t: Test, prepare: (checkout: string) => void) {
  const checkout = withFolder(t)
  for (const path of ['dev/build.mjs', 'dev/tools.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'])
    cpSync(packagePath(path), join(checkout, path))
  mkdirSync(join(checkout, 'web'))
  prepare(checkout)
  const { status, stderr } = spawnSync(process.execPath, [join(checkout, 'dev/build.mjs')], {
    encoding: 'utf8',
    env: { NODE_ENV: 'production' }
  })
  return { status, said: stderr.trim() }
}

t.test('npm start after npm ci --omit=optional says how to build', async (t) => {
  const { status, said } = build(t, (checkout) => mkdirSync(join(checkout, 'node_modules')))
  t.equal(status, 1)
  t.equal(
    said,
    'Nothing is built, and what builds it is not installed: npm leaves it out with --omit=optional. Run `npm ci && npm run build`. Then `npm start` works, also after `npm prune --omit=optional`.'
  )
})

t.test('npm start before npm ci says to install', async (t) => {
  t.same(
    build(t, () => {}),
    { status: 1, said: 'Nothing is installed. Run `npm ci`.' }
  )
})

t.test('what was built is run after npm prune --omit=optional', async (t) => {
  const { status, said } = build(t, (checkout) => {
    mkdirSync(join(checkout, 'node_modules'))
    mkdirSync(join(checkout, 'dist/bin'), { recursive: true })
    writeFileSync(join(checkout, 'dist/bin/tributary.js'), '')
  })
  t.equal(status, 0)
  t.match(said, /running dist as it was built/)
})
