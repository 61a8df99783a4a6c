/** The pages that people read: the README and its neighbours, and everything below docs. */
import { readdirSync } from 'node:fs'
import { packagePath } from '../../shared/platform/paths.ts'

/** Paths from the root of the checkout, in a fixed order. */
export const docPages: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`)
]
