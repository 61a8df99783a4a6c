/** A hash of texts for the tables of URNs, the same of a text and of its bytes where all of them are ASCII. */
import { randomInt } from 'node:crypto'

/** Another in each process: thousands of URNs with one hash are made in seconds for one that is known, and would stop the process for as long. */
const basis = randomInt(2 ** 32)

/** FNV-1a from a basis of our own, mixed once more so that the low bits are good. */
export function hashOfBytes(bytes: Uint8Array, begin: number, end: number): number {
  let hash = basis
  for (let at = begin; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  return mixed(hash)
}

/** Over UTF-16 units. */
export function hashOfText(text: string): number {
  let hash = basis
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mixed(hash)
}

function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (once ^ (once >>> 13)) | 0
}
