/** GET /aspects/{urn}?aspect=&version=: one aspect of one entity, wrapped in its class name as DataHub's clients expect it. */
import type { FastifyInstance } from 'fastify'
import { readAspect } from '../../shared/catalog/entities/read-aspects.ts'
import { CatalogError } from '../../shared/errors.ts'
import { aspectClassOf } from '../../shared/model/aspect-registry.ts'
import { toUrn } from '../../shared/urn/urn.ts'
import type { ApiContext } from '../context.ts'
import { storableText } from './restli-input.ts'

type Query = { aspect?: string | string[]; version?: string | string[] }

export function readAspectRoutes(app: FastifyInstance, { db }: ApiContext): void {
  // A wildcard, because a raw URN may contain slashes.
  app.get<{ Params: { '*': string }; Querystring: Query }>('/aspects/*', async (request, reply) => {
    const urn = toUrn(request.params['*'], 'urn')
    const aspectName = request.query.aspect
    if (typeof aspectName !== 'string' || aspectName === '')
      throw new CatalogError('BAD_REQUEST', 'The parameter `aspect` must name an aspect', { field: 'aspect' })
    storableText(aspectName, 'aspect')
    const version = versionOf(request.query.version)
    const found = await readAspect(db, urn, aspectName, version)
    if (!found)
      throw new CatalogError(
        'NOT_FOUND',
        `Did not find urn: ${urn} aspect: ${aspectName} version: ${version}`,
        { urn }
      )
    // `version` is the requested number, 0 for the newest, as clients expect. The real number, which
    // If-Version-Match compares, is in the header.
    void reply.header('etag', `"${found.version}"`)
    return { version, aspect: { [aspectClassOf(aspectName)]: found.value } }
  })
}

/**
 * The version to read: 0, the default, is the newest, 1 the oldest; an aspect of events is addressed by its
 * milliseconds. Throws BAD_REQUEST.
 */
function versionOf(text: string | string[] | undefined): number {
  if (text === undefined) return 0
  const version = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (Number.isNaN(version))
    throw new CatalogError('BAD_REQUEST', 'The parameter `version` must be a whole number; 0 is the newest', {
      field: 'version'
    })
  return version
}
