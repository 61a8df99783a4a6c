/**
 * The stored form of a chunk's records: lines of `<line>\t<raw record>\n`, lightly compressed; or only edges,
 * as edge-payload.ts packs them.
 */
import { UnreadableChunk } from '../write/urns-of-ids.ts'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { holdsEdges, unpackEdges, type EdgeBatch } from '../write/edge-payload.ts'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** A record as it was sent, with its line number in the load. */
export type RawRecord = { line: number; text: string }

/**
 * Line breaks inside a record are white space between its tokens (JSON allows none in a string), so they
 * become spaces. Most records have none, and testing for one is ten times faster than replacing.
 */
export const toStoredLine = ({ line, text }: RawRecord): string =>
  `${line}\t${text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]+/g, ' ') : text}\n`

/**
 * Level 1 reduces the size to a third, for a tenth of the time that applying the records takes (measured:
 * 279-349 bytes of WAL an edge instead of 515).
 */
export const packLines = (lines: readonly string[]): Promise<Buffer> => deflate(lines.join(''), { level: 1 })

/** The edges of a payload that contains only edges; null for any other payload. Throws UnreadableChunk. */
export const unpackEdgesOnly = async (payload: Buffer | null): Promise<EdgeBatch | null> =>
  payload && holdsEdges(payload) ? unpackEdges(payload).catch(unreadable) : null

function unreadable(cause: unknown): never {
  throw new UnreadableChunk(cause)
}

/** The line numbers in a payload of any kind. Throws UnreadableChunk. */
export async function unpackLineNumbers(payload: Buffer | null): Promise<number[]> {
  const edges = await unpackEdgesOnly(payload)
  return edges ? [...edges.lines] : (await unpackLines(payload)).map((record) => record.line)
}

/** The inverse of packLines. Throws UnreadableChunk. */
export async function unpackLines(payload: Buffer | null): Promise<RawRecord[]> {
  if (!payload) throw new UnreadableChunk(new Error('there are none'))
  try {
    const text = (await inflate(payload)).toString('utf8')
    return text.split('\n').slice(0, -1).map(toRawRecord)
  } catch (error) {
    throw error instanceof UnreadableChunk ? error : new UnreadableChunk(error)
  }
}

function toRawRecord(stored: string): RawRecord {
  const tab = stored.indexOf('\t')
  const line = Number(stored.slice(0, tab))
  if (tab < 1 || !Number.isSafeInteger(line)) throw new UnreadableChunk(new Error('a line has no number'))
  return { line, text: stored.slice(tab + 1) }
}
