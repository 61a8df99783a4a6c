/** Checks that a file of dbt is the one that its option is for, before anything is sent. */
import { closeSync, openSync, readSync } from 'node:fs'
import { constants, gunzipSync } from 'node:zlib'
import { Refusal } from '../failure.ts'
import type { LoadInput } from './find-inputs.ts'

const fileNames: Readonly<Record<string, string>> = {
  manifest: 'manifest.json',
  catalog: 'catalog.json',
  'run-results': 'run_results.json'
}

const beginBytes = 64 * 1024

/**
 * Throws Refusal if the beginning of the file names another artifact than `expected`. A file that does not
 * name one there, such as one with sorted keys, is left to the server.
 */
export function checkArtifact(input: LoadInput, option: string, expected: string): void {
  const [, kind] = /\/dbt\/([a-z-]+)\/v\d+\.json"/.exec(beginOf(input)) ?? []
  if (kind === undefined || kind === expected) return
  throw new Refusal(
    `${option} takes ${fileNames[expected] ?? expected}, but ${input.path} is ${fileNames[kind] ?? `${kind}.json`} of dbt.`
  )
}

function beginOf({ path, bytes, packing }: LoadInput): string {
  // Only a file of known size can be read twice.
  if (bytes === null || packing === 'zstd') return ''
  try {
    const file = openSync(path, 'r')
    try {
      const begin = Buffer.alloc(Math.min(bytes, beginBytes))
      readSync(file, begin, 0, begin.length, 0)
      const text = packing === 'gzip' ? gunzipSync(begin, { finishFlush: constants.Z_SYNC_FLUSH }) : begin
      return text.subarray(0, beginBytes).toString('latin1')
    } finally {
      closeSync(file)
    }
  } catch {
    // Whoever sends the file says what is wrong with it.
    return ''
  }
}
