/**
 * The body of an export: produced as fast as the client takes it, within a time limit.
 *
 * While rows are read, a snapshot is open, and in SQL a transaction. So a client that stops reading for a
 * while, or takes too long in all, is cut off. The connection then ends without the last chunk, so no client
 * mistakes the part for the whole.
 */
import { Readable } from 'node:stream'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'

/** How long an export may take in all, and how long it waits for a client that reads nothing. */
export type ExportPace = { maxMs: number; stallMaxMs: number }

export const exportPace: ExportPace = { maxMs: limits.exportMaxMs, stallMaxMs: limits.exportStallMaxMs }

/** A body with this text. When it is closed, for whatever reason, the generator has ended. */
export function paced(text: AsyncGenerator<string>, { maxMs, stallMaxMs }: ExportPace): Readable {
  let stall: NodeJS.Timeout | undefined
  const cutOff = (limit: 'exportMaxMs' | 'exportStallMaxMs', maximum: number): void => {
    body.destroy(
      new CatalogError('DEADLINE_EXCEEDED', 'The export was cut off: its client took too long', {
        limit,
        maximum
      })
    )
  }
  async function* watched(): AsyncGenerator<string> {
    for await (const part of text) {
      stall = setTimeout(cutOff, stallMaxMs, 'exportStallMaxMs', stallMaxMs)
      // An empty part would end the body.
      if (part !== '') yield part
      clearTimeout(stall)
    }
  }
  const body = Readable.from(watched(), { objectMode: false })
  const total = setTimeout(cutOff, maxMs, 'exportMaxMs', maxMs)
  body.once('close', () => {
    clearTimeout(total)
    clearTimeout(stall)
  })
  return body
}
