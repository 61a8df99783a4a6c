/**
 * Row 1: runs the fastest contenders again, alternating, so that the one that counts was not chosen by
 * chance.
 */
import type { Db } from '../../shared/db/database.ts'
import { downstreamsOf, walker } from './adjacency.ts'
import type { Contender } from './contender.ts'
import { runContender, type WalkBeside, type WalkRow } from './graph-walks.ts'
import { nodeCountOf, walkedEdges, type BenchGraph } from './graphs.ts'
import { median, type Timing } from './measure.ts'
import type { Pick } from './picks.ts'

/**
 * The fastest contender with exact degrees. `ratio` is its time divided by that of Tributary's walks in
 * between.
 */
export type Best = Timing & { contender: string; besideMs: number; ratio: number }

const finalistCount = 3
/** Slower contenders are not run again: their first time is far from that of any other. */
const finalMaxMs = 3_000
const rounds = 5

/** Tributary's own SQL is among the contenders. Null if none ended. */
export async function bestFrom(
  pick: Pick,
  {
    db,
    graph,
    contenders,
    rows,
    limitMs,
    walkBeside
  }: {
    db: Db
    graph: BenchGraph
    contenders: readonly Contender[]
    rows: readonly WalkRow[]
    limitMs: number
    walkBeside: WalkBeside
  }
): Promise<Best | null> {
  const measured = rows
    .flatMap(({ contender, givesDegrees, cells }): Best[] => {
      const cell = cells[pick.name]
      return givesDegrees && cell && 'medianMs' in cell
        ? [{ contender, ...cell, ratio: cell.medianMs / cell.besideMs }]
        : []
    })
    .toSorted((a, b) => a.medianMs - b.medianMs)
  const finalists = measured.slice(0, finalistCount).filter(({ medianMs }) => medianMs <= finalMaxMs)
  if (finalists.length === 0) return measured[0] ?? null
  const walk = walker(downstreamsOf(nodeCountOf(graph), walkedEdges(graph)))
  const runs = new Map(
    finalists.map(({ contender }) => [contender, { ms: [] as number[], beside: [] as number[] }])
  )
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, { ms, beside }] of runs) {
      const contender = contenders.find((each) => each.name === name)
      const cell =
        contender && (await runContender(db, graph, contender, { pick, walk, limitMs, walkBeside, runs: 1 }))
      if (!cell || !('medianMs' in cell)) continue
      ms.push(cell.medianMs)
      beside.push(cell.besideMs)
    }
  }
  const finals = [...runs].map(([contender, { ms, beside }]): Best => ({
    contender,
    medianMs: median(ms),
    runs: ms.length,
    besideMs: median(beside),
    ratio: median(ms) / median(beside)
  }))
  return finals.toSorted((a, b) => a.medianMs - b.medianMs)[0] ?? null
}
