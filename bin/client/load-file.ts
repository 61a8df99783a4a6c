/** Opens what a load is sent from: a file or standard input, plain or gzip, in the format that its name tells. */
import { createReadStream, statSync } from 'node:fs'
import { Transform, type Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { reasonOf, Refusal } from '../failure.ts'
import type { LoadBody } from './send-load.ts'

export type SentSoFar = { bytes: number, lines: number }

export type LoadFile = {
  format: string
  body: LoadBody
  /** Bytes of the file; null for standard input. */
  totalBytes: number | null
  /** Whether the lines of the file are counted: not in a packed one. */
  hasLines: boolean
  sent: SentSoFar
}

export type OpenOptions = {
  format: string | undefined
  /** Packs a plain file on the way: worth it on a network, not on one machine. */
  pack: boolean
  input: () => Readable
}

const contentTypes: Readonly<Record<string, string>> = {
  ndjson: 'application/x-ndjson', openlineage: 'application/x-ndjson', csv: 'text/csv'
}

/** `path` may be `-`. Throws Refusal where the file cannot be read. */
export function openLoadFile(path: string, options: OpenOptions): LoadFile {
  const name = path.replace(/\.gz$/, '')
  const isPacked = name !== path
  const format = options.format ?? formatOf(name)
  const totalBytes = path === '-' ? null : sizeOf(path)
  const sent: SentSoFar = { bytes: 0, lines: 0 }
  const source = path === '-' ? options.input() : createReadStream(path)
  const pack = options.pack && !isPacked
  return {
    format,
    totalBytes,
    hasLines: !isPacked,
    sent,
    body: {
      stages: [source, countingStream(sent, !isPacked), ...(pack ? [createGzip({ level: packLevel })] : [])],
      contentType: contentTypes[format] ?? 'application/json',
      isGzip: isPacked || pack,
      ...(totalBytes === null || pack ? {} : { bytes: totalBytes })
    }
  }
}

/** `.json` is what recipes of connectors write: an array of proposals. */
function formatOf(name: string): string {
  if (name.endsWith('.json')) return 'mcp'
  return name.endsWith('.csv') ? 'csv' : 'ndjson'
}

function sizeOf(path: string): number | null {
  try {
    const stat = statSync(path)
    if (stat.isDirectory()) throw new Error('it is a directory')
    // a pipe (such as a process substitution) has no size
    return stat.isFile() ? stat.size : null
  } catch (error) {
    throw new Refusal(`The file ${path} cannot be read: ${reasonOf(error)}`, undefined, { cause: error })
  }
}

const newline = 0x0a
/** Beyond it, packing costs more time than the network saves. */
const packLevel = 4

function countingStream(sent: SentSoFar, countLines: boolean): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent.bytes += chunk.length
      if (countLines) for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) sent.lines += 1
      done(null, chunk)
    }
  })
}
