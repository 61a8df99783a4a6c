/** The third argument of every resolver, created for each request. */
import type { FastifyRequest } from 'fastify'
import type { Actor, JsonObject, LoadWarnings } from '../../shared/model/changes.ts'
import type { ApiContext } from '../context.ts'
import { withWarnings } from '../../shared/catalog/write/stays-removed.ts'
import type { ReadGate } from '../../shared/catalog/lineage/read-gate.ts'
import type { ReadWork } from '../../shared/catalog/lineage/read-work.ts'
import { CatalogError } from '../../shared/errors.ts'
import { callerOf } from '../../shared/platform/turns.ts'
import { AnswerBudget } from './answer-budget.ts'
import { openOnce } from './request-lineage.ts'

export type GraphqlContext = Pick<ApiContext, 'db' | 'lineage' | 'queue' | 'config'> & {
  actor: Actor
  requestId: string
  /** The remaining budget of the answer. */
  budget: AnswerBudget
  /** Drops the lineage state that reads of this request have used so far. */
  letGoOfLineage: () => void
  /** Call it when the request is answered. */
  end: () => void
  /** For Mercurius: the coerced variables, with defaults. */
  variables: { [name: string]: unknown }
  /**
   * Copied to the answer's `extensions`. A resolver reports here, for example, that a walk was not complete.
   */
  extensions: JsonObject
  /** Reports in `extensions.warnings` what a mutation wrote and nobody sees. */
  warn: (warnings: LoadWarnings) => void
}

declare module 'mercurius' {
  interface MercuriusContext extends GraphqlContext {}
}

/** `gate` limits concurrent large answers. */
export function createGraphqlContext(
  { db, lineage, queue, config }: ApiContext,
  request: FastifyRequest,
  gate: ReadGate
): GraphqlContext {
  const memory = lineage.memory && openOnce(lineage.memory)
  const budget = new AnswerBudget(gate, callerOf(request.actor))
  const { readWork } = request
  // If all reads together cost too much, one error is enough.
  const work: ReadWork = {
    run: (units, read) =>
      readWork.run(units, read).catch((error: unknown) => {
        throw error instanceof CatalogError && error.code === 'QUERY_TOO_COMPLEX'
          ? budget.refuse(error)
          : error
      })
  }
  const end = (): void => {
    memory?.end()
    budget.end()
  }
  const extensions: JsonObject = {}
  let warnings: LoadWarnings | undefined
  return {
    db,
    lineage: { ...lineage, memory, work },
    budget,
    letGoOfLineage: () => memory?.letGo(),
    end,
    queue,
    config,
    actor: request.actor,
    requestId: request.id,
    variables: {},
    extensions,
    warn: (more) => {
      warnings = withWarnings(warnings, more)
      extensions.warnings = warnings
    }
  }
}
