/** Splits a stream of bytes into lines. Blank lines are counted and left out; the last line needs no end. */
import { createRecordBuffer, type RawRecord } from './raw-record.ts'

const newline = 0x0a

/** Lines are numbered from 1. Holds one line at most, and of one that is too long only its begin. */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<RawRecord> {
  const buffer = createRecordBuffer()
  let line = 1
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      buffer.add(chunk.subarray(start, end))
      const record = buffer.end(line)
      if (record) yield record
      line += 1
      start = end + 1
    }
    if (start < chunk.length) buffer.add(chunk.subarray(start))
  }
  const last = buffer.end(line)
  if (last) yield last
}
