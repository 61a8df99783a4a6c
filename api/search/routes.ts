/** GET /resolve: the entity that a short reference means. */
import type { FastifyInstance } from 'fastify'
import { resolveReference } from '../../shared/catalog/search/resolve-reference.ts'
import { CatalogError } from '../../shared/errors.ts'
import { graphqlTypeOf } from '../../shared/model/entity-types.ts'
import { entityTypeOf } from '../../shared/urn/urn.ts'
import type { ApiContext } from '../context.ts'
import { readQuery } from '../query-parameters.ts'

export function searchRoutes(app: FastifyInstance, { lineage }: Pick<ApiContext, 'lineage'>): void {
  app.get('/resolve', { config: { access: 'read' } }, async (request) => {
    const { reference } = readQuery(request.query, ['reference'])
    if (reference === undefined)
      throw new CatalogError('BAD_REQUEST', 'reference must be given', { field: 'reference' })
    const { urn, exists } = await resolveReference({ ...lineage, work: request.readWork }, reference)
    return { urn, type: graphqlTypeOf(entityTypeOf(urn)), exists }
  })
}
