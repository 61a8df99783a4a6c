/**
 * GET /config: what DataHub's clients ask before anything else, and choose their way of writing by.
 *
 * No version of DataHub is claimed, so clients write to /aspects, which is here, and not to /openapi/v3, which is not.
 */
import type { FastifyInstance } from 'fastify'

const serverConfig = {
  models: {},
  // A text, as clients compare it.
  noCode: 'true',
  retention: 'true',
  patchCapable: true,
  statefulIngestionCapable: false,
  supportsImpactAnalysis: true,
  datasetUrnNameCasing: false,
  timeZone: 'GMT',
  versions: {},
  datahub: { serverType: 'prod', serverEnv: 'core' },
  telemetry: { enabledCli: false, enabledIngestion: false },
  managedIngestion: { enabled: false }
}

export function configRoutes(app: FastifyInstance): void {
  app.get('/config', { config: { access: 'open' } }, async () => serverConfig)
}
