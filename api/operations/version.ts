/** /version: the version that is running. */
import type { FastifyInstance } from 'fastify'
import { readPackage } from '../../shared/platform/package.ts'

export function versionRoutes(app: FastifyInstance): void {
  const { version } = readPackage()
  app.get('/version', { config: { access: 'open', servesWhileStopping: true } }, async () => ({
    name: 'tributary',
    version,
    node: process.versions.node
  }))
}
