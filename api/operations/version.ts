/** /version: the version that is running. */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { packagePath } from '../../shared/platform/paths.ts'

type Package = { name: string; version: string }

export function versionRoutes(app: FastifyInstance): void {
  const { name, version } = readPackage()
  app.get('/version', { config: { access: 'open', servesWhileStopping: true } }, async () => ({
    name,
    version,
    node: process.versions.node
  }))
}

/** The name and version in package.json. */
export function readPackage(): Package {
  // our own package.json
  return JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as Package
}
