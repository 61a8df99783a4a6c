/** Gives each request its budget of heavy reads, and limits how many of them run at once in a process. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createReadGate } from '../shared/catalog/lineage/read-gate.ts'
import { createReadWork, type ReadWork } from '../shared/catalog/lineage/read-work.ts'
import type { Config } from '../shared/platform/config.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A new budget each time it is read, so read it once per request. */
    readWork: ReadWork
  }
}

/** Heavy reads use at most half of the read connections, so the others stay free for short reads. */
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

/** Requests of one token share a turn. */
export const callerOf = ({ actor }: FastifyRequest): string => actor.tokenId ?? actor.urn
