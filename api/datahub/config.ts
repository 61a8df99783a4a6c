/**
 * GET /config, which DataHub's clients ask first, to choose how they write.
 *
 * The version is that of the DataHub whose interface this is. From 1.0.1 on, the SDK writes to /openapi/v3
 * and follows queued writes by their trace; from 1.7.0 on, ingestion patches `status`. The version has no
 * leading v: with one, the CLI would compare it with its own version and ask people to upgrade.
 */
import type { FastifyInstance } from 'fastify'

const serverConfig = {
  models: {},
  // A text, because clients compare it with one.
  noCode: 'true',
  retention: 'true',
  patchCapable: true,
  statefulIngestionCapable: true,
  supportsImpactAnalysis: true,
  datasetUrnNameCasing: false,
  timeZone: 'GMT',
  versions: { 'acryldata/datahub': { version: '1.7.0', commit: null } },
  datahub: { serverType: 'prod', serverEnv: 'core' },
  telemetry: { enabledCli: false, enabledIngestion: false },
  // The release of the clients that npm run interop tests with.
  managedIngestion: { enabled: false, defaultCliVersion: '1.7.0.17' }
}

export function configRoutes(app: FastifyInstance): void {
  app.get('/config', { config: { access: 'open' } }, async () => serverConfig)
}
