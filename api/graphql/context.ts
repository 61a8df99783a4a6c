/** What every resolver gets as its third argument: made anew for each request. */
import type { FastifyRequest } from 'fastify'
import type { Actor, JsonObject } from '../../shared/model/changes.ts'
import type { ApiContext } from '../context.ts'
import { openOnce } from './request-lineage.ts'

export type GraphqlContext = Pick<ApiContext, 'db' | 'lineage' | 'queue' | 'config'> & {
  actor: Actor
  requestId: string
  /** Lets go of the state of the lineage that reads of this request have seen so far. */
  letGoOfLineage: () => void
  /** The request is answered. */
  end: () => void
  /** For Mercurius, as the operation has them: coerced, with defaults. */
  variables: { [name: string]: unknown }
  /** What a resolver puts here is in the answer's `extensions`, for instance that a walk was not complete. */
  extensions: JsonObject
}

declare module 'mercurius' {
  interface MercuriusContext extends GraphqlContext {}
}

export function createGraphqlContext({ db, lineage, queue, config }: ApiContext, request: FastifyRequest): GraphqlContext {
  const memory = lineage.memory && openOnce(lineage.memory)
  return { db, lineage: { ...lineage, memory }, letGoOfLineage: () => memory?.letGo(), end: () => memory?.end(), queue, config, actor: request.actor, requestId: request.id, variables: {}, extensions: {} }
}
