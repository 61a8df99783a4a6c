/** Reads the program's own package.json: its version. */
import { readFileSync } from 'node:fs'
import { packagePath } from './paths.ts'

type Package = { version: string }

export function readPackage(): Package {
  // our own package.json
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as Package
  return { version }
}
