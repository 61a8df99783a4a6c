/**
 * Reads a TAP stream: counts tests that passed, failed and were skipped (with the reason), and selects what a
 * person wants to see.
 */

export type TapResults = { passed: number; failed: number; skipped: { name: string; reason: string }[] }

type Point = { name: string; isOk: boolean; isTop: boolean; sumsUp: boolean }

const point = /^( *)(not )?ok (\d+)(?: - (.*?))?(?: \{)?\s*$/
const skip = /^(.*?)\s*# skip\S*\s*(.*)$/i
const noise = /^$|^# (?:Subtest|time=|No coverage|\{)|^\d+\.\.\d+|^TAP version|^\}$/
const indentChars = 4

/** Reads points from lines in order. A point that follows points one level deeper summarizes them. */
function createPointReader(): (line: string) => Point | null {
  const seenAtDepth: number[] = []
  return (line) => {
    const found = point.exec(line)
    if (found === null) return null
    const [, indent = '', not, number, name = ''] = found
    const depth = Math.floor(indent.length / indentChars)
    // Number 0 is the fault of a process; the points before it are of a test that it did not end.
    const sumsUp = number !== '0' && (seenAtDepth[depth + 1] ?? 0) > 0
    seenAtDepth[depth + 1] = 0
    seenAtDepth[depth] = (seenAtDepth[depth] ?? 0) + 1
    return { name, isOk: not === undefined, isTop: depth === 0, sumsUp }
  }
}

/** Counts the innermost points. A skipped one counts as neither passed nor failed. */
export function readTapResults(text: string): TapResults {
  const results: TapResults = { passed: 0, failed: 0, skipped: [] }
  const readPoint = createPointReader()
  let isInDetails = false
  for (const line of text.split('\n')) {
    if (/^\s*(---|\.\.\.)$/.test(line)) isInDetails = line.trim() === '---'
    const found = isInDetails ? null : readPoint(line)
    if (found === null || found.sumsUp) continue
    const skipped = skip.exec(found.name)
    if (skipped !== null) results.skipped.push({ name: skipped[1] ?? '', reason: skipped[2] ?? '' })
    else if (found.isOk) results.passed += 1
    else results.failed += 1
  }
  return results
}

/**
 * Decides for each line of the stream, in order, whether to show it: the result of each file, each failure,
 * the details of the innermost ones, and the output of tests themselves.
 */
export function createTapFilter(): (line: string) => boolean {
  const readPoint = createPointReader()
  let showsDetails = false
  let isInDetails = false
  return (line) => {
    const found = isInDetails ? null : readPoint(line)
    if (found !== null) {
      showsDetails = !found.isOk && !found.sumsUp
      return !found.isOk || found.isTop
    }
    const text = line.trim()
    if (text === '---') isInDetails = true
    const isShown = isInDetails ? showsDetails : !noise.test(text)
    if (text === '...') isInDetails = false
    return isShown
  }
}
