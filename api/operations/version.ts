/** /version: the version that is running. */
import type { FastifyInstance } from 'fastify'
import { readPackage } from '../../shared/platform/package.ts'

export function versionRoutes(app: FastifyInstance): void {
  const { name, version } = readPackage()
  app.get('/version', { config: { access: 'open', servesWhileStopping: true } }, async () => ({
    name,
    version,
    node: process.versions.node
  }))
}
