/**
 * GET /openapi/v1/registry/models/entity/specifications: the entity types with their aspects, for clients
 * that check before they write.
 */
import type { FastifyInstance } from 'fastify'
import { aspectsOfType } from '../../shared/model/aspect-places.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { entityTypes } from '../../shared/model/entity-types.ts'
import { readNumber, readPageCount, type Parameters } from './parameters.ts'

const pageDefaultCount = 20

const aspectSpec = (name: string): JsonObject => ({ aspectAnnotation: { name, schemaVersion: 1 } })

const specifications: readonly JsonObject[] = entityTypes.map(({ name, keyAspect }) => ({
  name,
  keyAspectName: keyAspect,
  keyAspectSpec: aspectSpec(keyAspect),
  aspectSpecs: [keyAspect, ...aspectsOfType(name)].map(aspectSpec)
}))

export function specificationRoutes(app: FastifyInstance): void {
  app.get<{ Querystring: Parameters }>(
    '/openapi/v1/registry/models/entity/specifications',
    { config: { access: 'read' } },
    async ({ query }) => {
      const start = readNumber(query, 'start', 0)
      const elements = specifications.slice(start, start + readPageCount(query, pageDefaultCount))
      return { start, count: elements.length, total: specifications.length, elements }
    }
  )
}
