/**
 * GET /config: what DataHub's clients ask first, to choose how they write.
 *
 * The version is that of DataHub whose interface this is: from 1.0.1 on the SDK writes to /openapi/v3 and follows queued
 * writes by their trace, from 1.7.0 on ingestion patches `status`. It has no leading v, for the CLI would then compare it
 * with its own and ask people to upgrade.
 */
import type { FastifyInstance } from 'fastify'

const serverConfig = {
  models: {},
  // A text, as clients compare it.
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
