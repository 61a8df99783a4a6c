/** The three properties of order (P5), for the tests and for `npm run histories -- order`. */
import type { Db } from '../../shared/db/database.ts'
import { apply, createDomain } from './changes.ts'
import type { fc } from './fast-check.ts'
import { graphOfLog, graphOfTables } from './graph-log.ts'
import { difference, tryOrders, type Trial } from './play-orders.ts'
import { anyStep, anyStepOrDeletion, domains, type Step } from './random-records.ts'

export type OrderTrial = Trial & {
  name: string
  guarantee: string
  step: fc.Arbitrary<Step>
}

export const orderTrials: readonly OrderTrial[] = [
  {
    name: 'chunks',
    guarantee: 'records applied in any interleaving of chunks end as applied in order',
    step: anyStep,
    missingReferences: 'reject',
    hasOracle: true,
    isParallel: false,
    forgetsEmpty: false
  },
  {
    name: 'deletions',
    guarantee: 'so do records among which entities are deleted and created anew',
    step: anyStepOrDeletion,
    missingReferences: 'create',
    hasOracle: false,
    isParallel: false,
    forgetsEmpty: true
  },
  {
    name: 'workers',
    guarantee: 'so do chunks that three workers apply at once, while calls are made',
    step: anyStepOrDeletion,
    missingReferences: 'create',
    hasOracle: false,
    isParallel: true,
    forgetsEmpty: true
  }
]

/**
 * Plays `count` histories in an empty catalog. Throws with the smallest history that ends wrong, or if log
 * and tables differ.
 */
export async function playOrderTrial(
  db: Db,
  trial: OrderTrial,
  options: { count: number; seed: number; log: (line: string) => void }
): Promise<void> {
  await apply(db, ...domains.map((urn, index) => createDomain(urn, `D${index}`)))
  await tryOrders(db, trial.step, trial, options)
  const fault = difference(
    'the graph of the change log',
    await graphOfLog(db),
    'of the tables',
    await graphOfTables(db)
  )
  if (fault) throw fault
}
