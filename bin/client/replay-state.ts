/** Stores how far the events of another server have been replayed, so that the next run continues there. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { reasonOf, Refusal } from '../failure.ts'
import { isObject } from './load-view.ts'

/** `last` is the digest of the event before `offset`; null if there is none. */
export type ReplayState = { offset: number; last: string | null }

export type ReplayStore = { path: string; read: () => ReplayState; write: (state: ReplayState) => void }

/**
 * One file for each pair of servers. Throws Refusal if the file has unexpected content when it is read, or
 * cannot be written.
 */
export function replayStore(folder: string, path: string | undefined, from: string, to: string): ReplayStore {
  const pair = createHash('sha256')
    .update(JSON.stringify([from, to]))
    .digest('hex')
    .slice(0, 16)
  const file = path ?? join(folder, `from-marquez-${pair}.json`)
  return {
    path: file,
    read() {
      let text: string
      try {
        text = readFileSync(file, 'utf8')
      } catch {
        return { offset: 0, last: null }
      }
      const state = parse(text)
      if (isObject(state) && state.from === from && state.to === to && Number.isSafeInteger(state.offset))
        return { offset: Number(state.offset), last: typeof state.last === 'string' ? state.last : null }
      throw new Refusal(
        `${file} does not say how far ${from} was replayed into ${to}. Give another --state, or delete it.`
      )
    },
    write(state) {
      try {
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(`${file}.new`, `${JSON.stringify({ from, to, ...state })}\n`)
        renameSync(`${file}.new`, file)
      } catch (error) {
        throw new Refusal(`${file} cannot be written: ${reasonOf(error)}`)
      }
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
