/** /problems/:code: what an error code means. The `type` of an error leads here. */
import type { FastifyInstance } from 'fastify'
import { CatalogError, errorCodes } from '../../shared/errors.ts'

type ByCode = { Params: { code: string } }

export function problemRoutes(app: FastifyInstance): void {
  app.get<ByCode>('/problems/:code', { config: { access: 'open' } }, async (request, reply) => {
    const { code } = request.params
    const facts = Object.entries(errorCodes).find(([name]) => name === code)?.[1]
    if (!facts)
      throw new CatalogError('NOT_FOUND', 'Unknown error code; docs/errors.md lists them', {
        field: 'code'
      })
    const again = facts.retryable ? 'The same request may succeed later.' : 'The same request fails again.'
    return reply
      .type('text/plain; charset=utf-8')
      .send(`${code} (${facts.status}): ${facts.title}\n\n${facts.meaning}\n${again}\n`)
  })
}
