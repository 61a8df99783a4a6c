/** Writes an answer as JSON: a small one at once, a large one in pieces, with turns for others in between. */
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

const atOnceMaxBytes = 128 * 1024
const pieceMinChars = 64 * 1024

/** `byteCount` is its approximate size as JSON. `value` must be plain data. */
export function writeAnswer(value: object, byteCount: number): string | Readable {
  return byteCount <= atOnceMaxBytes
    ? JSON.stringify(value)
    : Readable.from(inTurns(value), { objectMode: false })
}

async function* inTurns(value: object): AsyncGenerator<string> {
  let piece = ''
  for (const text of textsOf(value)) {
    piece += text
    if (piece.length < pieceMinChars) continue
    yield piece
    piece = ''
    await nextTurn()
  }
  yield piece
}

/** Values and 64 characters of text that are written at once: far fewer than would keep others waiting. */
const partMaxCount = 256

/**
 * `count` minus the number of values in this one. Negative if it contains more than `count`; the rest is then
 * not counted.
 */
function leftAfter(value: unknown, count: number): number {
  if (typeof value === 'string') return count - 1 - value.length / 64
  let left = count - 1
  if (typeof value !== 'object' || value === null) return left
  if (Array.isArray(value))
    for (let at = 0; at < value.length && left >= 0; at += 1) left = leftAfter(value[at], left)
  else
    for (const each of Object.values(value)) {
      left = leftAfter(each, left)
      if (left < 0) break
    }
  return left
}

type Open = { entries: Iterator<readonly [string | number, unknown]>; isList: boolean; isFirst: boolean }

/** The text that JSON.stringify gives, in small parts: it writes a part of many values several times as fast. Exported for its test. */
export function* textsOf(value: unknown): Generator<string> {
  const open: Open[] = []
  const begin = (each: unknown): string => {
    if (each === null || typeof each !== 'object' || 'toJSON' in each || leftAfter(each, partMaxCount) >= 0)
      return JSON.stringify(each) ?? 'null'
    const isList = Array.isArray(each)
    open.push({ entries: isList ? each.entries() : Object.entries(each).values(), isList, isFirst: true })
    return isList ? '[' : '{'
  }
  yield begin(value)
  for (let inner = open.at(-1); inner; inner = open.at(-1)) {
    const { done, value: entry } = inner.entries.next()
    if (done) {
      open.pop()
      yield inner.isList ? ']' : '}'
      continue
    }
    const [key, own] = entry
    if (!inner.isList && own === undefined) continue
    const before = `${inner.isFirst ? '' : ','}${inner.isList ? '' : `${JSON.stringify(key)}:`}`
    inner.isFirst = false
    yield before + begin(own)
  }
}
