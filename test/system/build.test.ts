/** `npm start` and `npm test` build before they run: they say so, and build only what has changed. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { withFolder } from '../support/program.ts'

t.setTimeout(900_000)

const copied = ['api', 'bench', 'bin', 'dev', 'migrations', 'shared', 'test', 'web', 'worker', 'package.json']

t.test('a build', async (t) => {
  const root = join(withFolder(t), 'checkout')
  mkdirSync(root)
  for (const name of [...copied, 'package-lock.json', 'tsconfig.json'])
    cpSync(packagePath(name), join(root, name), { recursive: true })
  symlinkSync(packagePath('node_modules'), join(root, 'node_modules'))
  const build = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'dev/build.mjs'), ...args], {
      encoding: 'utf8'
    })
    t.equal(status, 0, stderr)
    t.equal(stdout, '', 'the output of a program that builds first is its own')
    return stderr
  }
  const change = (path: string): void => {
    appendFileSync(join(root, path), path.endsWith('.md') ? '\nmore\n' : '\n// more\n')
  }

  t.match(build(), /^Building the program and the web UI: about .*\nBuilt in \d+\.\d s\.\n$/)
  t.ok(existsSync(join(root, 'dist/dev/start.js')) && existsSync(join(root, 'dist/site/index.html')))
  t.equal(build(), '', 'a second start builds nothing')

  t.test('is not repeated by what changes nothing that a start needs', async (t) => {
    const now = new Date()
    utimesSync(join(root, 'bin/tributary.ts'), now, now)
    t.equal(build(), '', 'a checkout of the same content')
    for (const path of ['test/urn.test.ts', 'bench/run.ts', 'web/README.md', 'web/bench/added.ts']) {
      if (path.endsWith('added.ts')) writeFileSync(join(root, path), '')
      change(path)
      t.equal(build(), '', path)
    }
    const lock = join(root, 'package-lock.json')
    writeFileSync(lock, JSON.stringify(JSON.parse(readFileSync(lock, 'utf8'))))
    t.equal(build(), '', 'package-lock.json in another form')
    rmSync(join(root, 'test/urn.test.ts'))
    t.equal(build(), '', 'a test that is gone')
  })

  t.test('is repeated by what changes what runs, each part alone', async (t) => {
    change('bin/duration.ts')
    t.match(build(), /^Building the program: .*\nBuilt in/)
    change('web/src/texts.ts')
    t.match(build(), /^Building the web UI: .*\nBuilt in/)
    t.equal(build(), '')
  })

  t.test('for tests checks the types as well', async (t) => {
    t.match(build('--tests'), /^Building the program: .*\nBuilt in/)
    t.equal(build('--tests'), '')
    writeFileSync(join(root, 'bench/wrong.ts'), "export const wrong: number = 'text'\n")
    t.equal(build(), '')
    const { status, stdout } = spawnSync(process.execPath, [join(root, 'dev/build.mjs'), '--tests'], {
      encoding: 'utf8'
    })
    t.equal(status, 1)
    t.match(stdout, /wrong\.ts/)
  })
})
