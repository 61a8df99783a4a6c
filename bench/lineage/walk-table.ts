/** Prints the walks of one graph: the ratio of each contender's time to Tributary's, and its time. */
import type { Best } from './finals.ts'
import type { Cell, WalkRow } from './graph-walks.ts'
import type { BenchGraph } from './graphs.ts'
import { ratioOf } from './findings-of.ts'
import { ms, ratioText } from './measure.ts'
import type { Pick } from './picks.ts'

const nameWidth = 54
const cellWidth = 27

export function* walkTable(graph: BenchGraph, rows: readonly WalkRow[]): Generator<string> {
  const edgeCount = graph.columnEdges.upstream.length || graph.edges.upstream.length
  yield ''
  yield `${graph.name}: ${graph.columnCount || graph.assetCount} ${graph.columnCount > 0 ? 'columns' : 'assets'}, ${edgeCount} edges; times the walk in memory (time, runs unless 5); ~ gives no degrees`
  yield `${''.padEnd(nameWidth)}${graph.picks.map(({ reach, depth }) => `${reach} over ${depth} hops`.padStart(cellWidth)).join('')}`
  for (const { contender, givesDegrees, cells } of rows) {
    const name = `${givesDegrees ? '' : '~ '}${contender}`
    yield `${name.padEnd(nameWidth)}${graph.picks.map((pick) => textOf(cells[pick.name]).padStart(cellWidth)).join('')}`
  }
}

/** The fastest with degrees, run again alternating with Tributary. */
export const bestLine = ({ reach }: Pick, { contender, ratio, medianMs, besideMs, runs }: Best): string =>
  `reaching ${reach}, the best with degrees, in turns: ${ratioText(ratio)}, ${contender} (${ms(medianMs)}, ${runs}) to ${ms(besideMs)}`

function textOf(cell: Cell | undefined): string {
  if (!cell) return ''
  if ('endedAfterMs' in cell)
    return `> ${ratioText(ratioOf(cell))} (> ${cell.endedAfterMs / 1_000} s${cell.isGuess ? ', not run' : ''})`
  return `${ratioText(ratioOf(cell))} (${ms(cell.medianMs)}${cell.runs === 5 ? '' : `, ${cell.runs}`})`
}
