/** Gives each request its budget of heavy reads, and shares the connections of a process among tokens. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createReadGate } from '../shared/catalog/lineage/read-gate.ts'
import { createReadWork, type ReadWork } from '../shared/catalog/lineage/read-work.ts'
import type { Config } from '../shared/platform/config.ts'
import { callerOf } from '../shared/platform/turns.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A new budget each time it is read, so read it once per request. */
    readWork: ReadWork
  }
}

/**
 * One token's heavy reads use at most half of the connections, and those of all tokens leave one for short
 * reads.
 */
export function addReadTurns(app: FastifyInstance, config: Pick<Config, 'databasePoolApi'>): void {
  const gate = createReadGate(connectionShares(config))
  app.decorateRequest('readWork', {
    getter(this: FastifyRequest) {
      return createReadWork(gate, callerOf(this.actor))
    }
  })
}

/** Connections of one API process: for everything, and for storing uploads and events. */
export function poolSizes({ databasePoolApi }: Pick<Config, 'databasePoolApi'>): {
  forCalls: number
  forUploads: number
} {
  const forUploads = Math.max(1, Math.floor(databasePoolApi / 3))
  return { forCalls: Math.max(1, databasePoolApi - forUploads), forUploads }
}

/**
 * How many connections heavy reads may use at once, and how many those of one token; writing calls may use as
 * many. A writing call is short: a reader that finds all connections in use waits for one to end.
 */
export function connectionShares(config: Pick<Config, 'databasePoolApi'>): {
  atOnce: number
  perCaller: number
} {
  const { forCalls } = poolSizes(config)
  const atOnce = Math.max(1, Math.floor((forCalls * 3) / 4))
  return { atOnce, perCaller: Math.max(1, Math.min(atOnce - 1, Math.ceil(forCalls / 2))) }
}
