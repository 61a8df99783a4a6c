/**
 * The body of an export: made as fast as the client takes it, and never longer than its time.
 *
 * While rows are read a snapshot is held, and in SQL a transaction. So who takes nothing for a while, or takes too long in
 * all, is cut off: the connection ends without the last chunk, and no client takes what came for the whole.
 */
import { Readable } from 'node:stream'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'

/** How long an export may take in all, and how long it waits for a client that takes nothing. */
export type ExportPace = { maxMs: number; stallMaxMs: number }

export const exportPace: ExportPace = { maxMs: limits.exportMaxMs, stallMaxMs: limits.exportStallMaxMs }

/** A body of the text. When it is closed, whatever for, the generator has ended. */
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
      // An empty part would be taken for nothing at all.
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
