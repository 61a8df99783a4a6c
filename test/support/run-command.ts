/** Runs the command line in this process, with a terminal that belongs to the test. */
import { Readable } from 'node:stream'
import { runCommandLine } from '../../bin/command-line.ts'
import { showsColour } from '../../bin/colour.ts'
import type { Terminal } from '../../bin/terminal.ts'

/** The exit code, the lines printed on both outputs, and the lines that a terminal would have overwritten. */
export type Outcome = { code: number | null; out: string[]; err: string[]; drawn: string[] }

export type Given = {
  env?: Record<string, string>
  input?: string | Readable
  isTty?: boolean
  columns?: number
  signal?: AbortSignal
  /** How a person calls the command line. */
  command?: string
  /** Is told each line of errors at once. */
  onError?: (line: string) => void
}

export async function runCommand(
  args: readonly string[],
  { env, input = '', isTty = false, signal, command = 'tributary', columns = 100, onError }: Given = {}
): Promise<Outcome> {
  const outcome: Outcome = { code: null, out: [], err: [], drawn: [] }
  const hasColour = showsColour({ isTTY: isTty }, env ?? {})
  const terminal: Terminal = {
    env: { TRIBUTARY_DATA_DIR: '/nowhere', ...env },
    command,
    out: (line) => {
      outcome.out.push(line)
    },
    err: (line) => {
      outcome.err.push(line)
      onError?.(line)
    },
    redraw: isTty
      ? (lineFor) => {
          outcome.drawn.push(lineFor(columns))
        }
      : null,
    columns: () => (isTty ? columns : null),
    colours: { out: hasColour, err: hasColour },
    input: () => (typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input),
    interruption: () => signal ?? new AbortController().signal
  }
  outcome.code = await runCommandLine(args, terminal)
  return outcome
}
