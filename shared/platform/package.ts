/** What package.json says of the program: its name and its version. */
import { readFileSync } from 'node:fs'
import { packagePath } from './paths.ts'

type Package = { name: string; version: string }

export function readPackage(): Package {
  // our own package.json
  const { name, version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as Package
  return { name, version }
}
