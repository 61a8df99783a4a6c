/** Answers for unknown paths, and for methods that a known path does not support. */
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { CatalogError } from '../shared/errors.ts'
import type { Access } from './auth.ts'

const refusable: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Watches the routes added from now on. Call the returned function after the last one. It makes every other
 * method of each path answer 405 with `Allow`, OPTIONS list the methods, and every unknown path answer 404.
 * Without a token all of these answer 401, except on open paths.
 */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const methodsOf = new Map<string, Set<string>>()
  const openPaths = new Set<string>()
  app.addHook('onRoute', ({ url, method, config }) => {
    const methods = methodsOf.get(url) ?? new Set<string>()
    for (const one of Array.isArray(method) ? method : [method]) methods.add(one)
    methodsOf.set(url, methods)
    if (config?.access === 'open') openPaths.add(url)
  })
  // A hook, so that it answers before anything of the body is read.
  app.addHook('onRequest', async (request) => {
    if (request.is404)
      throw new CatalogError(
        'NOT_FOUND',
        `No such route: ${request.method} ${request.url.split('?', 1)[0]?.slice(0, 200) ?? ''}`
      )
  })
  return () => {
    for (const [url, methods] of Array.from(methodsOf)) {
      const allow = [...methods, 'OPTIONS'].sort().join(', ')
      const access: Access = openPaths.has(url) ? 'open' : 'read'
      app.route({
        method: 'OPTIONS',
        url,
        config: { access },
        handler: (_request, reply) => reply.code(204).header('allow', allow).send()
      })
      const others = refusable.filter((method) => !methods.has(method))
      if (others.length === 0) continue
      // Refused before the body is read, whatever it contains.
      app.route({
        method: others,
        url,
        config: { access },
        onRequest: async (_request, reply) => {
          reply.header('allow', allow)
          throw new CatalogError('METHOD_NOT_ALLOWED', `This path supports ${allow}`, {
            allowed: allow.split(', ')
          })
        },
        handler: async () => {}
      })
    }
  }
}
