/** Reads the text that COPY streams: whole lines to cut at tabs, and pairs of ids straight from the bytes. */

/** Cuts pieces of bytes into texts of whole lines, without the last line break. */
export async function* wholeLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let unfinished: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    const end = piece.lastIndexOf(0x0a)
    if (end < 0) {
      unfinished = Buffer.concat([unfinished, piece])
      continue
    }
    yield Buffer.concat([unfinished, piece.subarray(0, end)]).toString('utf8')
    unfinished = piece.subarray(end + 1)
  }
  if (unfinished.length > 0) throw new Error('COPY ended within a line')
}

/** Undoes the escapes of COPY. Of the characters in URNs, only the backslash is escaped. */
export const unescaped = (text: string): string =>
  text.includes('\\') ? text.replaceAll('\\\\', '\\') : text

/** Ids in pieces of equal lengths: the first and the second number of each line. */
export type IdPairs = { first: Int32Array[]; second: Int32Array[] }

const pieceCount = 1 << 18

/**
 * Reads lines of two numbers, 8 bytes for a pair. Parsed by hand, because 40 million digits would become 10
 * million strings.
 */
export async function readIdPairs(pieces: AsyncIterable<Buffer>): Promise<IdPairs> {
  const pairs: IdPairs = { first: [], second: [] }
  let [first, second] = [new Int32Array(pieceCount), new Int32Array(pieceCount)]
  let count = 0
  let number = 0
  let before = 0
  for await (const piece of pieces) {
    for (let index = 0; index < piece.length; index += 1) {
      const byte = piece[index] ?? 0
      if (byte >= 0x30) {
        number = number * 10 + byte - 0x30
      } else if (byte === 0x09) {
        before = number
        number = 0
      } else {
        first[count] = before
        second[count] = number
        number = 0
        count += 1
        if (count === pieceCount) {
          pairs.first.push(first)
          pairs.second.push(second)
          ;[first, second] = [new Int32Array(pieceCount), new Int32Array(pieceCount)]
          count = 0
        }
      }
    }
  }
  pairs.first.push(first.slice(0, count))
  pairs.second.push(second.slice(0, count))
  return pairs
}
