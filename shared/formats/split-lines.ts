/**
 * Splits a stream of bytes into lines. Blank lines are counted but left out, and the last line needs no line
 * break. Runs of plain edges stay bytes.
 */
import { isUtf8 } from 'node:buffer'
import { limits } from '../limits.ts'
import type { EdgeRun, EdgeRunReader } from './edge-runs.ts'
import { checkedLine, createRecordBuffer, type RawRecord, type RecordLimit } from './raw-record.ts'

const newline = 0x0a

/**
 * Lines are numbered from 1, and grouped by the piece of the body in which they end, so that one await covers
 * some hundred lines. In memory are at most one line in addition to the piece, and only the beginning of a
 * line that is too long.
 *
 * Runs that a reader finds at the beginning of a piece are returned unchanged. From the first other line on,
 * the piece is split.
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  readRun: EdgeRunReader | null = null,
  limit: RecordLimit = 'recordMaxBytes'
): AsyncGenerator<(RawRecord | EdgeRun)[]> {
  const buffer = createRecordBuffer(limit)
  let line = 1
  for await (const chunk of chunks) {
    const records: (RawRecord | EdgeRun)[] = []
    const take = (bytes: Buffer): void => {
      buffer.add(bytes)
      const record = buffer.end(line)
      if (record) records.push(record)
      line += 1
    }
    const firstEnd = chunk.indexOf(newline)
    if (firstEnd < 0) {
      buffer.add(chunk)
      continue
    }
    // The first line may have begun in an earlier piece.
    take(chunk.subarray(0, firstEnd))
    const lastEnd = chunk.lastIndexOf(newline)
    const wholeLines = chunk.subarray(firstEnd + 1, lastEnd + 1)
    let runsEnd = 0
    for (let run = readRun?.(wholeLines, 0, line); run; run = readRun?.(wholeLines, runsEnd, line)) {
      records.push(run)
      line = checkedLine(line + run.count - 1) + 1
      runsEnd = run.end
    }
    const whole = wholeLines.subarray(runsEnd)
    if (whole.length <= limits.recordMaxBytes && isUtf8(whole)) {
      // One text for all lines takes a quarter of the time of decoding each line.
      const text = whole.toString('utf8')
      for (
        let start = 0, end = text.indexOf('\n');
        end >= 0;
        start = end + 1, end = text.indexOf('\n', start)
      ) {
        const record = text.slice(start, end).trim()
        if (record !== '') records.push({ line: checkedLine(line), text: record })
        line += 1
      }
    } else {
      for (
        let start = 0, end = whole.indexOf(newline);
        end >= 0;
        start = end + 1, end = whole.indexOf(newline, start)
      )
        take(whole.subarray(start, end))
    }
    if (lastEnd + 1 < chunk.length) buffer.add(chunk.subarray(lastEnd + 1))
    if (records.length > 0) yield records
  }
  const last = buffer.end(line)
  if (last) yield [last]
}
