/** The order of acceptance decides: chunks applied in any order leave what applying them in order leaves. */
import t, { type Test } from 'tap'
import { apply, createDomain } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { runsOf, seed, type fc } from './support/fast-check.ts'
import { graphOfLog, graphOfTables } from './support/graph-log.ts'
import { difference, tryOrders, type Trial } from './support/play-orders.ts'
import { anyStep, anyStepOrDeletion, domains, type Step } from './support/random-records.ts'

/** RUNS asks for more histories than any test run has time for. */
async function tryOut(t: Test, step: fc.Arbitrary<Step>, trial: Trial, runs: number): Promise<void> {
  const count = runsOf(runs)
  const { db } = await withDatabase(t)
  await apply(db, ...domains.map((urn, index) => createDomain(urn, `D${index}`)))
  t.comment(`seed ${seed}, ${count} histories`)
  await tryOrders(db, step, trial, { count, seed, log: (line) => t.comment(line) })
  const fault = difference(
    'the graph of the change log',
    await graphOfLog(db),
    'of the tables',
    await graphOfTables(db)
  )
  if (fault) throw fault
}

const options = { timeout: process.env.RUNS ? 0 : 600_000 }

t.test('P5: records applied in any interleaving of chunks end as applied in order', options, (t) =>
  tryOut(
    t,
    anyStep,
    { missingReferences: 'reject', hasOracle: true, isParallel: false, forgetsEmpty: false },
    200
  )
)

t.test('P5: so do records among which entities are deleted and created anew', options, (t) =>
  tryOut(
    t,
    anyStepOrDeletion,
    { missingReferences: 'create', hasOracle: false, isParallel: false, forgetsEmpty: true },
    50
  )
)

t.test('P5: so do chunks that three workers apply at once, while calls are made', options, (t) =>
  tryOut(
    t,
    anyStepOrDeletion,
    { missingReferences: 'create', hasOracle: false, isParallel: true, forgetsEmpty: true },
    50
  )
)
