/**
 * The parts that all diagram formats share: nodes and edges in their order, and a last line that a truncated
 * diagram lacks.
 */
import type { LineageExport } from '../../shared/catalog/lineage/export-lineage.ts'
import type { ExportEdge, ExportEntity } from '../../shared/catalog/lineage/export-rows.ts'
import { nameFromUrn } from '../../shared/urn/kinds.ts'

export type DiagramLanguage = {
  /** The beginning of a comment line. */
  comment: string
  head: string
  node: (entity: ExportEntity) => string
  edge: (edge: ExportEdge) => string
  tail: string
}

/**
 * Begins with a comment that has the question and says whether the answer is complete; ends with one that
 * counts nodes and edges.
 */
export async function* diagramOf(
  found: LineageExport,
  { comment, head, node, edge, tail }: DiagramLanguage
): AsyncGenerator<string> {
  let nodeCount = 0
  let edgeCount = 0
  yield `${comment} ${summaryOf(found)}\n${head}`
  for await (const rows of found.starts()) {
    nodeCount += rows.length
    yield rows.map(node).join('')
  }
  for await (const rows of found.entities()) {
    nodeCount += rows.length
    yield rows.map(node).join('')
  }
  for await (const rows of found.edges()) {
    edgeCount += rows.length
    yield rows.map(edge).join('')
  }
  yield `${tail}${comment} The end: ${nodeCount} nodes, ${edgeCount} edges\n`
}

function summaryOf({ direction, total, report }: LineageExport): string {
  const completeness = report.truncatedBy === null ? 'complete' : `cut short by ${report.truncatedBy}`
  return `${direction === 'DOWNSTREAM' ? 'Downstream' : 'Upstream'} lineage, ${completeness}: ${total} entities${timesOf(report)}`
}

function timesOf({ timeWindow }: LineageExport['report']): string {
  if (!timeWindow) return ''
  const [from, to] = [timeWindow.startTimeMillis, timeWindow.endTimeMillis].map((time) =>
    new Date(time).toISOString()
  )
  return `. From ${from} to ${to}. ${timeWindow.rule}`
}

/** Replaces characters that would end the line. */
export const onOneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')

/** The line below a name: `DATASET hive`. */
export const kindOf = ({ type, platform }: ExportEntity): string =>
  platform === null ? type : `${type} ${nameFromUrn(platform)}`
