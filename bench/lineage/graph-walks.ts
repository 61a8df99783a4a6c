/**
 * Row 1: every contender and Tributary walk one graph, in one Postgres, from the same starts; all answers
 * are checked.
 */
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { isStatementCancelled } from '../../shared/db/sql-errors.ts'
import { CatalogError } from '../../shared/errors.ts'
import { downstreamsOf, walker, type Walker } from './adjacency.ts'
import { rightAnswer, type Answer } from './answers.ts'
import { withSettings, type Contender } from './contender.ts'
import { contendersInNode, ownSqlWalk } from './contenders-in-node.ts'
import { contendersInPlpgsql } from './contenders-in-plpgsql.ts'
import { contendersInSql } from './contenders-in-sql.ts'
import { entityIdOf, nodeCountOf, walkedEdges, type BenchGraph } from './graphs.ts'
import { median, timed, type Clock, type Timing } from './measure.ts'
import type { Pick } from './picks.ts'
import { makePlainTables } from './plain-tables.ts'

/**
 * `besideMs` is the median of Tributary's times in between, under the same load of the machine.
 * `endedAfterMs` is set if a contender did not end; `isGuess` if it was not run, because it had not ended on
 * a smaller walk.
 */
export type Cell = (Timing | { endedAfterMs: number; isGuess: boolean }) & { besideMs: number }

export type WalkRow = { contender: string; givesDegrees: boolean; cells: Record<string, Cell> }

/** The tables and functions that contenders need. */
export async function prepareContenders(db: Db, graph: BenchGraph, limitMs: number): Promise<Contender[]> {
  const { hasTexts } = await makePlainTables(db, graph)
  const contenders = [
    ...contendersInSql,
    ...contendersInPlpgsql,
    ...contendersInNode,
    ownSqlWalk(graph.columnCount > 0 ? 'column' : 'asset', limitMs)
  ]
  for (const { setup } of contenders) if (setup !== undefined) await query(db, setup)
  return contenders.filter(({ needsTexts = false }) => hasTexts || !needsTexts)
}

/** One walk by Tributary from a start, in milliseconds. */
export type WalkBeside = (pick: Pick) => Promise<number>

const walksBesideEachRun = 3

type Against = { limitMs: number; walkBeside: WalkBeside }

export async function runContenders(
  db: Db,
  graph: BenchGraph,
  contenders: readonly Contender[],
  against: Against
): Promise<WalkRow[]> {
  const walk = walker(downstreamsOf(nodeCountOf(graph), walkedEdges(graph)))
  const rows: WalkRow[] = []
  for (const contender of contenders) {
    const cells: Record<string, Cell> = {}
    let hasFailed = false
    for (const pick of graph.picks) {
      const cell = await runContender(db, graph, contender, { ...against, pick, walk, isHopeless: hasFailed })
      hasFailed ||= 'endedAfterMs' in cell
      cells[pick.name] = cell
    }
    rows.push({ contender: contender.name, givesDegrees: contender.givesDegrees, cells })
  }
  return rows
}

type Task = Against & { pick: Pick; walk: Walker; isHopeless?: boolean; runs?: number }

/** Runs one contender from one start, with a walk by Tributary before each run. */
export async function runContender(
  db: Db,
  graph: BenchGraph,
  contender: Contender,
  { pick, walk, limitMs, walkBeside, isHopeless = false, runs }: Task
): Promise<Cell> {
  const start = { id: entityIdOf(pick.node), urn: graph.urnOf(pick.node), depth: pick.depth }
  const right = rightAnswer(walk(pick.node), contender.givesDegrees)
  const besideMs: number[] = []
  const beside = async () => {
    for (let made = 0; made < walksBesideEachRun; made += 1) besideMs.push(await walkBeside(pick))
  }
  const run = async (clock: Clock) => {
    await beside()
    return withSettings(db, limitMs, (tx) => clock(() => contender.walk(tx, start)))
  }
  const check = (given: Answer | (() => Answer)) => {
    mustBeRight(
      `${contender.name} from ${pick.name} of ${graph.name}`,
      typeof given === 'function' ? given() : given,
      right
    )
  }
  if (isHopeless) {
    await beside()
    return { endedAfterMs: limitMs, isGuess: true, besideMs: median(besideMs) }
  }
  try {
    return { ...(await timed(run, check, runs)), besideMs: median(besideMs) }
  } catch (error) {
    if (isStatementCancelled(error) || (error instanceof CatalogError && error.code === 'DEADLINE_EXCEEDED'))
      return { endedAfterMs: limitMs, isGuess: false, besideMs: median(besideMs) }
    throw error
  }
}

/**
 * Contenders without a sum (URNs) are checked by their count alone. Throws on a wrong answer, which is not
 * measured.
 */
export function mustBeRight(what: string, given: Answer, right: Answer): void {
  if (given.count !== right.count || (given.checksum !== -1 && given.checksum !== right.checksum)) {
    throw new Error(`${what} answered ${JSON.stringify(given)}; right is ${JSON.stringify(right)}`)
  }
}
