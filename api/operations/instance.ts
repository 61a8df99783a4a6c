/** /instance/proof: proves to the command line on this machine which server this is. The idea is in instance-proof.ts. */
import type { FastifyInstance } from 'fastify'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { isSecret, proofOf, proofPath } from '../../shared/platform/instance-proof.ts'
import { isOnThisMachine } from '../../shared/platform/same-machine.ts'
import type { ApiContext } from '../context.ts'
import { readQuery } from '../query-parameters.ts'

const windowMs = 1_000

export function instanceRoutes(app: FastifyInstance, { instanceKey: key }: ApiContext): void {
  const maximum = limits.instanceProofsPerSecondMaxCount
  let windowEndsAt = 0
  let given = 0

  app.get(`/${proofPath}`, { config: { access: 'open' } }, async (request) => {
    const { socket } = request.raw
    if (!isOnThisMachine(request.raw))
      throw new CatalogError('FORBIDDEN', 'Only callers on the same machine may ask which server this is')
    const { nonce } = readQuery(request.query, ['nonce'])
    if (!isSecret(nonce))
      throw new CatalogError('BAD_REQUEST', 'nonce must be 64 lower-case hexadecimal digits', {
        field: 'nonce'
      })
    if (key === undefined)
      throw new CatalogError('NOT_FOUND', 'This server was not started by `tributary up` or `npm start`')
    const now = performance.now()
    if (now >= windowEndsAt) {
      windowEndsAt = now + windowMs
      given = 0
    }
    given += 1
    if (given > maximum)
      throw new CatalogError('RATE_LIMITED', `${maximum} proofs in a second are allowed`, {
        limit: 'instanceProofsPerSecondMaxCount',
        maximum,
        retryAfterSeconds: 1
      })
    return { proof: proofOf(key, nonce, { address: socket.localAddress, port: socket.localPort }) }
  })
}
