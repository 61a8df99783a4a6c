/** POST /operations and /runs: the calls with which DataHub's operators repair indexes and roll back runs. */
import type { FastifyInstance } from 'fastify'
import { CatalogError } from '../../shared/errors.ts'
import { addActions } from './restli-actions.ts'

export function operationsRoutes(app: FastifyInstance): void {
  addActions(app, '/operations', {
    // There is nothing to restore: reads use the tables directly.
    restoreIndices: {
      access: 'write',
      run: async () => 'Nothing to restore: everything that was written can be read already'
    }
  })
  const refuse = async (): Promise<never> => {
    throw new CatalogError(
      'UNSUPPORTED',
      'Runs are not recorded, so they cannot be listed or rolled back. To be able to undo a write, send it as a load: POST /loads, then POST /loads/{id}/undo',
      { field: 'action' }
    )
  }
  addActions(app, '/runs', {
    list: { access: 'read', run: refuse },
    describe: { access: 'read', run: refuse },
    rollback: { access: 'write', run: refuse }
  })
}
