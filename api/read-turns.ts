/** Gives each request its budget of heavy reads, and all requests of a process one gate that a few of these pass at once. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createReadGate } from '../shared/catalog/lineage/read-gate.ts'
import { createReadWork, type ReadWork } from '../shared/catalog/lineage/read-work.ts'
import type { Config } from '../shared/platform/config.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A budget for this request, new each time it is asked for: ask once. */
    readWork: ReadWork
  }
}

/** Heavy reads use at most every second connection that reads have, so that the others stay free for short ones. */
export function addReadTurns(
  app: FastifyInstance,
  { databasePoolApi }: Pick<Config, 'databasePoolApi'>
): void {
  const gate = createReadGate({ atOnce: Math.max(1, Math.floor(databasePoolApi / 3)) })
  app.decorateRequest('readWork', {
    getter(this: FastifyRequest) {
      return createReadWork(gate, callerOf(this))
    }
  })
}

/** Who shares a turn: all requests of one token. */
export const callerOf = ({ actor }: FastifyRequest): string => actor.tokenId ?? actor.urn
