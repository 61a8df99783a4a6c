/**
 * Shows the progress of a load: on a terminal one line that is rewritten, elsewhere a line from time to time.
 */
import type { Terminal } from '../terminal.ts'
import { hasEnded, type LoadView } from './load-view.ts'
import { createPace } from './pace.ts'
import { applyingLine, sendingLine } from './progress-line.ts'
import type { Upload } from './upload.ts'

export type Progress = {
  /** Called when an attempt has ended without an answer, before another one. */
  waiting(reason: string, waitMs: number): void
  /** Called when the upload is done and following begins. */
  load(load: LoadView): void
  /** Ends the line. Safe to call twice. */
  end(): void
}

export const noProgress: Progress = { waiting() {}, load() {}, end() {} }

export type ProgressSource = Pick<Upload, 'name' | 'totalBytes' | 'hasLines' | 'sent'>

const redrawEveryMs = 100
const plainEveryMs = 5_000
/** What is left to do gets less while nothing is heard, and a window may be resized. */
const lookEveryMs = 1_000

/** `upload` is null if the followed load was sent before. */
export function showProgress(
  terminal: Terminal,
  upload: ProgressSource | null,
  now: () => number = Date.now
): Progress {
  const { redraw } = terminal
  const everyMs = redraw === null ? plainEveryMs : redrawEveryMs
  let shownAt = redraw === null ? now() : 0
  let isDrawn = false
  let followed: LoadView | null = null
  let pace = createPace(now)

  function show(isLast = false): void {
    if (now() - shownAt < everyMs && !(isLast && redraw !== null)) return
    shownAt = now()
    if (redraw === null) terminal.err(line(null))
    else {
      redraw(line)
      isDrawn = true
    }
  }

  function line(columns: number | null): string {
    if (followed !== null) return applyingLine(followed.counts, pace, columns)
    if (upload === null) return ''
    const { name, totalBytes, hasLines, sent } = upload
    const { bytes, lines } = sent()
    return sendingLine({ name, totalBytes, bytes, lines: hasLines ? lines : null }, pace, columns)
  }

  function clear(): void {
    if (isDrawn) redraw?.(() => '')
    isDrawn = false
  }

  const timer = setInterval(
    () => {
      if (followed === null && upload !== null) {
        pace.reached(upload.sent().bytes)
        show()
      } else if (redraw !== null && isDrawn) show()
    },
    Math.min(everyMs, lookEveryMs)
  )
  timer.unref()

  return {
    waiting(reason, waitMs) {
      clear()
      terminal.err(`${reason} Sending it again in ${Math.max(1, Math.round(waitMs / 1_000))} s.`)
    },
    load(load) {
      // records are applied at a different speed than they are sent
      if (followed === null) pace = createPace(now)
      followed = load
      const { applied, unchanged, rejected } = load.counts
      pace.reached(applied + unchanged + rejected)
      show(hasEnded(load))
    },
    end() {
      clearInterval(timer)
      clear()
    }
  }
}
