/** Reads what to do about references to absent entities from the header X-Missing-References. */
import type { FastifyRequest } from 'fastify'
import { CatalogError } from '../../shared/errors.ts'
import type { MissingReferences } from '../../shared/model/changes.ts'

/** The header, otherwise the server's setting. Throws BAD_REQUEST. */
export function missingReferencesOf(request: FastifyRequest, fallback: MissingReferences): MissingReferences {
  const wanted = request.headers['x-missing-references']
  if (wanted === undefined) return fallback
  if (wanted === 'reject' || wanted === 'create') return wanted
  throw new CatalogError('BAD_REQUEST', 'X-Missing-References must be reject or create', {
    field: 'X-Missing-References',
    allowed: ['reject', 'create']
  })
}
