/** Counts what a TAP stream says: tests passed and failed, and which were skipped for what reason. */

export type TapResults = { passed: number, failed: number, skipped: { name: string, reason: string }[] }

const point = /^( *)(not )?ok \d+(?: - (.*?))?\s*$/
const skip = /^(.*?)\s*# skip\S*\s*(.*)$/i
const indentChars = 4

/**
 * Counts the innermost test points: a point whose own points came before it sums those up and is not counted again.
 * A point that is skipped counts as neither passed nor failed.
 */
export function readTapResults(text: string): TapResults {
  const results: TapResults = { passed: 0, failed: 0, skipped: [] }
  // points seen at each depth since the last point one level up
  const seenAtDepth: number[] = []
  for (const line of text.split('\n')) {
    const found = point.exec(line)
    if (found === null) continue
    const [, indent = '', not, name = ''] = found
    const depth = indent.length / indentChars
    const isSummary = (seenAtDepth[depth + 1] ?? 0) > 0
    seenAtDepth[depth + 1] = 0
    seenAtDepth[depth] = (seenAtDepth[depth] ?? 0) + 1
    if (isSummary) continue
    const skipped = skip.exec(name)
    if (skipped !== null) results.skipped.push({ name: skipped[1] ?? '', reason: skipped[2] ?? '' })
    else if (not === undefined) results.passed += 1
    else results.failed += 1
  }
  return results
}
