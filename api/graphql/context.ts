/** What every resolver gets as its third argument: made anew for each request. */
import type { FastifyRequest } from 'fastify'
import type { Actor, JsonObject } from '../../shared/model/changes.ts'
import type { ApiContext } from '../context.ts'

export type GraphqlContext = Pick<ApiContext, 'db' | 'lineage' | 'queue' | 'config'> & {
  actor: Actor
  requestId: string
  /** What a resolver puts here is in the answer's `extensions`, for instance that a walk was not complete. */
  extensions: JsonObject
}

declare module 'mercurius' {
  interface MercuriusContext extends GraphqlContext {}
}

export const createGraphqlContext = ({ db, lineage, queue, config }: ApiContext, request: FastifyRequest): GraphqlContext =>
  ({ db, lineage, queue, config, actor: request.actor, requestId: request.id, extensions: {} })
