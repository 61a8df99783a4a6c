/**
 * Shows the progress of a load: on a terminal one line that is rewritten, elsewhere a line from time to time.
 */
import type { Terminal } from '../terminal.ts'
import { hasEnded, type LoadView } from './load-view.ts'
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
const barChars = 20

/** `upload` is null if the followed load was sent before. */
export function showProgress(
  terminal: Terminal,
  upload: ProgressSource | null,
  now: () => number = Date.now
): Progress {
  const { redraw } = terminal
  const everyMs = redraw === null ? plainEveryMs : redrawEveryMs
  let startedAt = now()
  let shownAt = redraw === null ? startedAt : 0
  let isDrawn = false
  let isSent = upload === null

  function show(line: () => string, isLast = false): void {
    if (now() - shownAt < everyMs && !(isLast && redraw !== null)) return
    shownAt = now()
    if (redraw === null) terminal.err(line())
    else {
      redraw(line())
      isDrawn = true
    }
  }

  function clear(): void {
    if (isDrawn) redraw?.('')
    isDrawn = false
  }

  const timer = setInterval(
    () => {
      if (upload !== null) show(() => sendingLine(upload, now() - startedAt, redraw !== null))
    },
    Math.min(everyMs, 1_000)
  )
  timer.unref()

  return {
    waiting(reason, waitMs) {
      clear()
      terminal.err(`${reason} Sending it again in ${Math.max(1, Math.round(waitMs / 1_000))} s.`)
    },
    load(load) {
      clearInterval(timer)
      if (!isSent) {
        // records are applied at a different speed than they are sent
        isSent = true
        startedAt = now()
      }
      show(() => applyingLine(load, now() - startedAt, redraw !== null), hasEnded(load))
    },
    end() {
      clearInterval(timer)
      clear()
    }
  }
}

function sendingLine(
  { name, totalBytes, hasLines, sent }: ProgressSource,
  elapsedMs: number,
  hasBar: boolean
): string {
  const { bytes, lines } = sent()
  const share = totalBytes === null || !hasBar ? '' : `${bar(bytes / Math.max(totalBytes, 1))} `
  const amount = totalBytes === null ? megabytes(bytes) : `${megabytes(bytes)} of ${megabytes(totalBytes)}`
  const records = hasLines ? ` (${count(lines)} lines)` : ''
  return `${share}${name}: ${amount} sent${records}, ${megabytes(bytes / Math.max(elapsedMs / 1_000, 0.001))}/s`
}

function applyingLine(
  { counts: { received, applied, unchanged, rejected } }: LoadView,
  elapsedMs: number,
  hasBar: boolean
): string {
  const settled = applied + unchanged + rejected
  return (
    `${hasBar ? `${bar(settled / Math.max(received, 1))} ` : ''}${count(settled)} of ${count(received)} records: ` +
    `${count(applied)} applied, ${count(unchanged)} unchanged, ${count(rejected)} rejected, ${perSecond(settled, elapsedMs)}`
  )
}

function bar(share: number): string {
  const full = Math.floor(Math.min(Math.max(share, 0), 1) * barChars)
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
