/** Shows how far a load is: a line that is rewritten on a terminal, a plain line now and then elsewhere. */
import type { Terminal } from '../terminal.ts'
import type { SentSoFar } from './load-file.ts'
import { hasEnded, type LoadView } from './load-view.ts'

export type Progress = {
  /** Shows what has been sent until the load is known. */
  sending(): void
  load(load: LoadView): void
  /** Ends the line. Safe to call twice. */
  end(): void
}

export type ProgressSource = { sent: SentSoFar, totalBytes: number | null, hasLines: boolean }

const redrawEveryMs = 100
const plainEveryMs = 5_000
const barChars = 12

export function showProgress(terminal: Terminal, source: ProgressSource, now: () => number = Date.now): Progress {
  const { redraw } = terminal
  const startedAt = now()
  const everyMs = redraw === null ? plainEveryMs : redrawEveryMs
  let shownAt = redraw === null ? startedAt : 0
  let isDrawn = false

  function show(line: () => string, isLast = false): void {
    if (now() - shownAt < everyMs && !(isLast && redraw !== null)) return
    shownAt = now()
    if (redraw === null) terminal.err(line())
    else {
      redraw(line())
      isDrawn = true
    }
  }

  function sending(): void {
    show(() => {
      const { sent, totalBytes, hasLines } = source
      const amount = hasLines && sent.lines > 0 ? `${count(sent.lines)} records sent` : `${megabytes(sent.bytes)} sent`
      const share = totalBytes === null ? '' : `${bar(sent.bytes / Math.max(totalBytes, 1))} `
      return `${share}${amount}, ${perSecond(hasLines ? sent.lines : 0, now() - startedAt)}`
    })
  }
  const timer = setInterval(sending, redrawEveryMs)
  timer.unref()

  return {
    sending,
    load(load) {
      clearInterval(timer)
      const { counts } = load
      show(() => {
        const settled = counts.applied + counts.unchanged + counts.rejected
        return `${bar(settled / Math.max(counts.received, 1))} ${count(counts.received)} records sent, ` +
          `${count(counts.applied + counts.unchanged)} applied, ${count(counts.rejected)} rejected, ${perSecond(settled, now() - startedAt)}`
      }, hasEnded(load))
    },
    end() {
      clearInterval(timer)
      if (isDrawn) redraw?.('')
      isDrawn = false
    }
  }
}

function bar(share: number): string {
  const full = Math.round(Math.min(Math.max(share, 0), 1) * barChars)
  return `[${'#'.repeat(full)}${'.'.repeat(barChars - full)}]`
}

export function count(value: number): string {
  return value.toLocaleString('en')
}

export function perSecond(records: number, elapsedMs: number): string {
  return `${count(Math.round(records / Math.max(elapsedMs / 1_000, 0.001)))} records/s`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
