/** Prints the result of a load: what it did, the first rejects, and how to get the rest. */
import { paint } from './colour.ts'
import { readRejects, type Reject } from './client/follow-load.ts'
import { count, perSecond } from './quantity.ts'
import { isObject, loadAsJson, type LoadView } from './client/load-view.ts'
import type { Server } from './client/server.ts'
import { countsSentence, findingsOf, snapshotSentences, type Listing } from './load-sentences.ts'
import { printable } from './printable.ts'
import { colourOfState } from './state-colours.ts'
import type { Terminal } from './terminal.ts'

const rejectsShownCount = 10

export type ReportOptions = {
  /** The name of the input for people; null if only one input, or none, was sent. */
  name: string | null
  /** The operand, for JSON output; null if nothing was sent. */
  file: string | null
  asJson: boolean
  isQuiet: boolean
  /** Null if this command did not send the load. */
  elapsedMs: number | null
  /** The load existed before: the same key, the same body. */
  isReplay?: boolean
  /** Where a line of the load is in the inputs. */
  place?: (line: number) => string
}

/** Messages go to standard error, the result to standard output. Throws what reading the rejects throws. */
export async function reportLoad(
  server: Server,
  load: LoadView,
  options: ReportOptions,
  terminal: Terminal
): Promise<void> {
  const rejects = load.counts.rejected > 0 ? await readRejects(server, load, rejectsShownCount) : []
  const { asJson, isQuiet, name, file } = options
  if (asJson)
    terminal.out(JSON.stringify({ ...(file === null ? {} : { file }), ...loadAsJson(load), rejects }))
  else {
    if (!isQuiet) terminal.out(`${name === null ? '' : `${name}: `}${outcomeOf(load, options, terminal)}`)
    if (!isQuiet && Array.isArray(load.ignoredColumns))
      terminal.err(warn(terminal, `Ignored columns: ${load.ignoredColumns.map(textOf).join(', ')}`))
    if (!isQuiet) for (const line of warningLines(load.warnings)) terminal.err(warn(terminal, line))
    const { sentences, listings } = findingsOf(load)
    for (const line of [...sentences, ...(isQuiet ? [] : snapshotSentences(load))])
      terminal.out(`  ${printable(line)}`)
    for (const listing of listings) for (const line of listingLines(listing)) terminal.out(`  ${line}`)
    for (const line of rejectLines(load, rejects, options, terminal.command))
      terminal.err(warn(terminal, line))
  }
  if (load.error !== null) {
    terminal.err(warn(terminal, `Reason: ${load.error}`))
    if (load.error.startsWith('SNAPSHOT_REMOVES_TOO_MUCH') && load.state === 'failed')
      terminal.err(warn(terminal, `That is: ${terminal.command} load retry ${load.id} --force`))
  }
}

function outcomeOf(load: LoadView, { elapsedMs, isReplay }: ReportOptions, { colours }: Terminal): string {
  const { applied, unchanged, rejected } = load.counts
  const ready = applied + unchanged + rejected
  const speed =
    elapsedMs === null || ready === 0
      ? ''
      : ` in ${(elapsedMs / 1_000).toFixed(1)} s (${perSecond(ready, elapsedMs)})`
  const ended = endings[load.state] ?? `continues (${load.state})`
  return (
    `${titleOf(load)} ${paint(printable(ended), colourOfState(load.state), colours.out)}: ${countsSentence(load)}` +
    (isReplay === true ? '; it was sent before' : speed)
  )
}

const endings: Readonly<Record<string, string>> = {
  done: 'is done',
  failed: 'has failed',
  aborted: 'was aborted',
  cancelled: 'is cancelled'
}

function titleOf({ id, dryRun, mode, undoes }: LoadView): string {
  const undone = mode === 'undo' && typeof undoes === 'string' ? ` of load ${printable(undoes)}` : ''
  if (dryRun === true) return `Dry run ${id}${undone === '' ? '' : ` of the undo${undone}`}`
  return `${undone === '' ? 'Load' : 'Undo'} ${id}${undone}`
}

function rejectLines(
  load: LoadView,
  rejects: readonly Reject[],
  { place = (line) => `line ${line}` }: ReportOptions,
  command: string
): string[] {
  if (rejects.length === 0) return []
  const more = load.counts.rejected - rejects.length
  return [
    ...rejects.map(({ line, code, message }) => `${place(line)}: ${code}: ${message}`),
    more > 0
      ? `… and ${count(more)} more. All of them: ${command} load rejects ${load.id}`
      : `With their records: ${command} load rejects ${load.id}`,
    ...(rejects.some(({ code }) => code === 'MISSING_REFERENCE')
      ? [
          `With placeholders for missing entities: ${command} load retry ${load.id} --missing-references create`
        ]
      : [])
  ]
}

function warningLines(warnings: unknown): string[] {
  if (!isObject(warnings) || typeof warnings.count !== 'number' || !Array.isArray(warnings.messages))
    return []
  const { count: total, messages } = warnings
  const shown = messages.slice(0, listedCount).map((message) => `Warning: ${textOf(message)}`)
  return total > shown.length ? [...shown, `… and ${count(total - shown.length)} more warnings`] : shown
}

const warn = ({ colours }: Terminal, line: string): string => paint(printable(line), 'yellow', colours.err)

const listedCount = 20

function listingLines({ title, total, urns }: Listing): string[] {
  const shown = urns.slice(0, listedCount).map((urn) => `  ${printable(urn)}`)
  return [
    title,
    ...shown,
    ...(total > shown.length
      ? [`  … and ${count(total - shown.length)} more; --json prints what the server lists`]
      : [])
  ]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
