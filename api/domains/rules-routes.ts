/** /domain-rules: read, replace, delete and try the domain rules, and apply them to existing assets. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requireWholeCatalogAdmin } from '../../shared/catalog/access/authenticate.ts'
import { previewRules, readRules } from '../../shared/catalog/domains/read-domain-rules.ts'
import { applyDomainRulesNow } from '../../shared/catalog/loads/apply-domain-rules-now.ts'
import { setDomainRules } from '../../shared/catalog/write/set-domain-rules.ts'
import { CatalogError } from '../../shared/errors.ts'
import { isObject } from '../../shared/model/json-values.ts'
import type { ApiContext } from '../context.ts'
import { readQuery } from '../query-parameters.ts'

const callOf = (request: FastifyRequest) => ({ actor: request.actor, requestId: request.id })

export function domainRulesRoutes(
  app: FastifyInstance,
  { db, queue, uploadDb }: Pick<ApiContext, 'db' | 'queue' | 'uploadDb'>
): void {
  app.get('/domain-rules', { config: { access: 'read' } }, (request) => {
    readQuery(request.query, [])
    return readRules(db)
  })

  app.put('/domain-rules', { config: { access: 'admin' } }, async (request) => {
    requireWholeCatalogAdmin(request.actor)
    await setDomainRules(db, readBody(request.body, ['rules', 'revision']), callOf(request))
    return readRules(db)
  })

  app.delete('/domain-rules', { config: { access: 'admin' } }, async (request) => {
    requireWholeCatalogAdmin(request.actor)
    await setDomainRules(db, { rules: [] }, callOf(request))
    return readRules(db)
  })

  app.post('/domain-rules/preview', { config: { access: 'read' } }, (request) => {
    const { rules, after, count } = readBody(request.body ?? {}, ['rules', 'after', 'count'])
    return previewRules(db, { rules, after: readNumber(after, 'after'), count: readNumber(count, 'count') })
  })

  app.post('/domain-rules/apply', { config: { access: 'admin' } }, async (request, reply) => {
    requireWholeCatalogAdmin(request.actor)
    const load = await applyDomainRulesNow(uploadDb ?? db, queue, callOf(request))
    return reply.code(load === null ? 200 : 202).send({ load })
  })
}

function readBody(body: unknown, allowed: readonly string[]): { [name: string]: unknown } {
  if (!isObject(body))
    throw new CatalogError('BAD_REQUEST', `The body must be an object with ${allowed.join(', ')}`)
  const unknown = Object.keys(body).find((name) => !allowed.includes(name))
  if (unknown === undefined) return body
  const field = unknown.slice(0, 100)
  throw new CatalogError('BAD_REQUEST', `Unknown field ${field}`, { field, allowed })
}

function readNumber(value: unknown, field: string): number | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 2 ** 31) return value
  throw new CatalogError('BAD_REQUEST', `${field} must be a whole number that is not negative`, { field })
}
