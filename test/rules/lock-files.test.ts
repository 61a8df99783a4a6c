/** Lock files work with any registry: none names the host from which its author installed. */
import { readFileSync } from 'node:fs'
import semver from 'semver'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'

// both files are made by npm
type Lock = { packages: Record<string, { resolved?: string; engines?: { node?: string } }> }

const lockOf = (path: string): Lock => JSON.parse(readFileSync(packagePath(path), 'utf8'))

for (const path of ['package-lock.json', 'site/package-lock.json'])
  t.test(`${path} names no registry`, async (t) => {
    const { packages } = lockOf(path)
    t.ok(Object.keys(packages).length > 50)
    t.strictSame(
      Object.entries(packages)
        .filter(([, { resolved }]) => resolved !== undefined)
        .map(([name, { resolved }]) => `${name}: ${resolved}`),
      []
    )
  })

t.test('what builds the site runs on the least Node.js', async (t) => {
  const tooNew = Object.entries(lockOf('site/package-lock.json').packages)
    .filter(([, { engines }]) => engines?.node !== undefined && !semver.satisfies('20.19.0', engines.node))
    .map(([name, { engines }]) => `${name}: ${engines?.node}`)
  t.strictSame(tooNew, [])
})
