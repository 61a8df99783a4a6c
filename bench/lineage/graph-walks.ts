/** Row 1: every contender and Tributary walk one graph, in one Postgres, from the same starts; all answers are checked. */
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
 * `besideMs` is the median of what Tributary took in between, so that both felt the same load of the machine.
 * `endedAfterMs` where a contender did not come to an end; `isGuess` where it was not run, for it had failed to on less.
 */
export type Cell = (Timing | { endedAfterMs: number, isGuess: boolean }) & { besideMs: number }

export type WalkRow = { contender: string, givesDegrees: boolean, cells: Record<string, Cell> }

/** The tables and functions that contenders need. */
export async function prepareContenders(db: Db, graph: BenchGraph, limitMs: number): Promise<Contender[]> {
  const { hasTexts } = await makePlainTables(db, graph)
  const contenders = [...contendersInSql, ...contendersInPlpgsql, ...contendersInNode, ownSqlWalk(graph.columnCount > 0 ? 'column' : 'asset', limitMs)]
  for (const { setup } of contenders) if (setup !== undefined) await query(db, setup)
  return contenders.filter(({ needsTexts = false }) => hasTexts || !needsTexts)
}

/** One walk of Tributary's from a start, in milliseconds. */
export type WalkBeside = (pick: Pick) => Promise<number>

const walksBesideEachRun = 3

export async function runContenders(db: Db, graph: BenchGraph, contenders: readonly Contender[], { limitMs, walkBeside }: { limitMs: number, walkBeside: WalkBeside }): Promise<WalkRow[]> {
  const walk = walker(downstreamsOf(nodeCountOf(graph), walkedEdges(graph)))
  const rows: WalkRow[] = []
  for (const contender of contenders) {
    const cells: Record<string, Cell> = {}
    let hasFailed = false
    for (const pick of graph.picks) {
      const besideMs: number[] = []
      const beside = async () => {
        for (let made = 0; made < walksBesideEachRun; made += 1) besideMs.push(await walkBeside(pick))
      }
      const cell = await runContender(db, graph, contender, { pick, walk, limitMs, beside, isHopeless: hasFailed })
      hasFailed ||= 'endedAfterMs' in cell
      cells[pick.name] = { ...cell, besideMs: median(besideMs) }
    }
    rows.push({ contender: contender.name, givesDegrees: contender.givesDegrees, cells })
  }
  return rows
}

type Task = { pick: Pick, walk: Walker, limitMs: number, beside: () => Promise<void>, isHopeless: boolean }

async function runContender(db: Db, graph: BenchGraph, contender: Contender, { pick, walk, limitMs, beside, isHopeless }: Task): Promise<Timing | { endedAfterMs: number, isGuess: boolean }> {
  const start = { id: entityIdOf(pick.node), urn: graph.urnOf(pick.node), depth: pick.depth }
  const right = rightAnswer(walk(pick.node), contender.givesDegrees)
  const run = async (clock: Clock) => {
    await beside()
    return withSettings(db, limitMs, (tx) => clock(() => contender.walk(tx, start)))
  }
  if (isHopeless) {
    await beside()
    return { endedAfterMs: limitMs, isGuess: true }
  }
  try {
    return await timed(run, (given) => { mustBeRight(`${contender.name} from ${pick.name} of ${graph.name}`, typeof given === 'function' ? given() : given, right) })
  } catch (error) {
    if (isStatementCancelled(error) || (error instanceof CatalogError && error.code === 'DEADLINE_EXCEEDED')) return { endedAfterMs: limitMs, isGuess: false }
    throw error
  }
}

/** Who cannot give a sum (URNs) is checked by its count alone. Throws on a wrong answer: nothing is measured of those. */
export function mustBeRight(what: string, given: Answer, right: Answer): void {
  if (given.count !== right.count || (given.checksum !== -1 && given.checksum !== right.checksum)) {
    throw new Error(`${what} answered ${JSON.stringify(given)}; right is ${JSON.stringify(right)}`)
  }
}

/** The fastest of those that give exact degrees; Tributary's own SQL is one of them. */
export function bestWithDegrees(rows: readonly WalkRow[], pickName: string): { contender: string, medianMs: number, besideMs: number, ratio: number } | null {
  const measured = rows.flatMap(({ contender, givesDegrees, cells }) => {
    const cell = cells[pickName]
    return givesDegrees && cell && 'medianMs' in cell ? [{ contender, medianMs: cell.medianMs, besideMs: cell.besideMs, ratio: cell.medianMs / cell.besideMs }] : []
  })
  return measured.length === 0 ? null : measured.reduce((best, other) => other.medianMs < best.medianMs ? other : best)
}
