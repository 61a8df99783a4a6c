/**
 * `engines` of package.json says which versions of Node.js are enough: what refuses the others, the docs, the
 * images, CI and every installed package agree with it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { satisfies } from 'semver'
import t from 'tap'
import { nodeVersionProblem } from '../../shared/platform/node-version.ts'
import { packagePath } from '../../shared/platform/paths.ts'

type Manifest = { engines?: { node?: string } }

const read = (path: string): string => readFileSync(packagePath(path), 'utf8')
const { engines = {} }: Manifest = JSON.parse(read('package.json'))
const supported = engines.node ?? ''

/** The least version of each major that is supported, such as 20.19. */
const least = [...supported.matchAll(/(\d+\.\d+)\.0/g)].map(([, version = '']) => version)
const phrase = `Node.js ${least.join(', ')} or newer`

t.test(
  'a version is refused, in one line that says what to do, if and only if engines excludes it',
  async (t) => {
    t.equal(least.length, 2, supported)
    const versions = [...least.map((each) => `${each}.0`), ...least.map((each) => `${each}.7`)]
    for (const [major = 0, minor = 0] of least.map((each) => each.split('.').map(Number)))
      versions.push(`${major}.${minor - 1}.9`, `${major}.0.0`, `${major}.99.0`, `${major + 1}.0.0`)
    for (const version of [...versions, '0.12.18', '12.22.12', '16.20.2', '18.20.8', '24.0.0', '30.1.2']) {
      const problem = nodeVersionProblem(version)
      t.equal(problem === null, satisfies(version, supported), version)
      if (problem !== null)
        t.match(
          problem,
          new RegExp(`^Tributary needs ${phrase}; this is ${version}\\. Install .*https://.*$`)
        )
    }
  }
)

t.test('the build refuses with the same line', async (t) => {
  const line = (nodeVersionProblem('18.0.0') ?? '').split('18.0.0')
  for (const part of line) t.ok(read('dev/build.mjs').includes(part), part)
})

t.test('the docs name these versions', async (t) => {
  const pages = ['README.md', 'CONTRIBUTING.md', ...pagesBelow('docs')]
  const needs = /(?:need|server with) Node\.js[^.]*\.\d+[^,.]*(?:, [\d.]+)* or newer/g
  for (const page of pages)
    for (const [found] of read(page).replaceAll(/\s+/g, ' ').matchAll(needs))
      t.ok(found.endsWith(phrase), `${page}: ${found}`)
  for (const page of ['README.md', 'CONTRIBUTING.md', 'docs/tutorial.md', 'docs/how-to/install-from-npm.md'])
    t.ok(read(page).replaceAll(/\s+/g, ' ').includes(phrase), page)
})

t.test('CI runs the least versions, and the images have the newest that it runs', async (t) => {
  const ci = read('.ci/run')
  for (const version of least) t.ok(ci.includes(version), version)
  const newest = /^readonly newest_node=(\d+)$/m.exec(ci)?.[1] ?? ''
  t.ok(satisfies(`${newest}.0.0`, supported))
  const images = [...read('Dockerfile').matchAll(/^FROM node:(\d+)/gm)].map(([, version]) => version)
  t.strictSame(images, [newest, newest])
  t.match(read('render.yaml'), new RegExp(`NODE_VERSION\\s+value: '${newest}'`))
  t.match(read('docs/how-to/deploy-with-docker.md'), `with Node.js ${newest}.`)
})

t.test('every package that is installed runs on the least versions', async (t) => {
  const { packages }: { packages: { [path: string]: Manifest } } = JSON.parse(read('package-lock.json'))
  const needed = Object.entries(packages).filter(([path]) => existsSync(packagePath(path)))
  t.ok(needed.length > 100)
  for (const [path, manifest] of needed)
    for (const version of least)
      if (!satisfies(`${version}.0`, manifest.engines?.node ?? '*'))
        t.fail(`${path} needs Node.js ${manifest.engines?.node ?? ''}`)
})

t.test(
  'the types of Node.js are those of the least version, so that newer functions do not compile',
  async (t) => {
    const { devDependencies }: { devDependencies: { [name: string]: string } } = JSON.parse(
      read('package.json')
    )
    t.equal(devDependencies['@types/node']?.split('.')[0], least[0]?.split('.')[0])
  }
)

function pagesBelow(folder: string): string[] {
  return readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions'))
    .map((name) => join(folder, name))
}
