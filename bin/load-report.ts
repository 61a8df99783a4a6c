/** Prints the result of a load: counts, the first rejects, and how to get the rest. */
import { paint } from './colour.ts'
import { readRejects, type Reject } from './client/follow-load.ts'
import { count, perSecond } from './quantity.ts'
import { hasEnded, isObject, loadAsJson, type LoadView } from './client/load-view.ts'
import type { Server } from './client/server.ts'
import { printable } from './printable.ts'
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
    if (!isQuiet) terminal.out(`${name === null ? '' : `${name}: `}${outcomeOf(load, options)}`)
    if (!isQuiet && Array.isArray(load.ignoredColumns))
      terminal.err(warn(terminal, `Ignored columns: ${load.ignoredColumns.map(textOf).join(', ')}`))
    if (!isQuiet) for (const line of warningLines(load.warnings)) terminal.err(warn(terminal, line))
    for (const line of reportLines(load.report)) terminal.out(line)
    for (const line of reportLines(load.snapshot)) if (!isQuiet) terminal.out(line)
    for (const line of rejectLines(load, rejects, options, terminal.command))
      terminal.err(warn(terminal, line))
  }
  if (load.error !== null) {
    terminal.err(warn(terminal, `Reason: ${load.error}`))
    if (load.error.startsWith('SNAPSHOT_REMOVES_TOO_MUCH') && load.state === 'failed')
      terminal.err(warn(terminal, `That is: ${terminal.command} load retry ${load.id} --force`))
  }
}

function outcomeOf(load: LoadView, { elapsedMs, isReplay }: ReportOptions): string {
  const { received, applied, unchanged, rejected } = load.counts
  const speed =
    elapsedMs === null
      ? ''
      : ` in ${(elapsedMs / 1_000).toFixed(1)} s (${perSecond(applied + unchanged + rejected, elapsedMs)})`
  const isDryRun = load.dryRun === true
  return (
    `${isDryRun ? 'Dry run' : 'Load'} ${load.id} ${hasEnded(load) ? `is ${load.state}` : `continues (${load.state})`}: ` +
    `${count(received)} received, ${count(applied)} ${isDryRun ? 'would be applied' : 'applied'}, ${count(unchanged)} unchanged, ${count(rejected)} rejected` +
    (isReplay === true ? '; it was sent before' : speed)
  )
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

/** The server's report beside the counts, as lines of name and value, with nested values indented. */
function reportLines(value: unknown): string[] {
  return isObject(value) ? linesOf(value, '  ').map((line) => line.replace(/\S.*/, printable)) : []
}

function linesOf(value: Record<string, unknown>, indent: string): string[] {
  return Object.entries(value).flatMap(([name, part]) => {
    const title = `${indent}${wordsOf(name)}:`
    if (Array.isArray(part)) return part.length === 0 ? [] : [title, ...listOf(part, part.length, indent)]
    if (!isObject(part)) return [`${title} ${textOf(part)}`]
    if (typeof part.count === 'number' && Array.isArray(part.urns))
      return [`${title} ${count(part.count)}`, ...listOf(part.urns, part.count, indent)]
    const parts = Object.entries(part)
    if (parts.every(([, number]) => typeof number === 'number'))
      return [`${title} ${parts.map(([word, number]) => `${textOf(number)} ${wordsOf(word)}`).join(', ')}`]
    return [title, ...linesOf(part, `${indent}  `)]
  })
}

function listOf(items: readonly unknown[], total: number, indent: string): string[] {
  const shown = items
    .slice(0, listedCount)
    .map((item) => `${indent}  ${isObject(item) ? Object.values(item).map(textOf).join('  ') : textOf(item)}`)
  return total > shown.length
    ? [...shown, `${indent}  … and ${count(total - shown.length)} more; --json prints what the server lists`]
    : shown
}

/** `columnEdges` becomes "column edges". */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

function textOf(value: unknown): string {
  return typeof value === 'number' ? count(value) : typeof value === 'string' ? value : JSON.stringify(value)
}
