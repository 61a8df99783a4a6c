/** Runs the command line in this process, with a terminal that belongs to the test. */
import { Readable } from 'node:stream'
import { runCommandLine } from '../../bin/command-line.ts'
import { showsColour } from '../../bin/colour.ts'
import type { Terminal } from '../../bin/terminal.ts'

/** The exit code, the lines printed on both outputs, the lines that a terminal would have overwritten, and the questions. */
export type Outcome = {
  code: number | null
  out: string[]
  err: string[]
  drawn: string[]
  questions: string[]
}

export type Given = {
  env?: Record<string, string>
  input?: string | Readable
  isTty?: boolean
  columns?: number
  signal?: AbortSignal
  /** How a person calls the command line. */
  command?: string
  /** What a person at the terminal answers; null for Ctrl-C. */
  answer?: string | null
  /** Is told each line of errors at once. */
  onError?: (line: string) => void
}

export async function runCommand(
  args: readonly string[],
  {
    env,
    input = '',
    isTty = false,
    signal,
    command = 'tributary',
    columns = 100,
    answer = null,
    onError
  }: Given = {}
): Promise<Outcome> {
  const outcome: Outcome = { code: null, out: [], err: [], drawn: [], questions: [] }
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
    ask: isTty
      ? async (question) => {
          outcome.questions.push(question)
          return answer
        }
      : null,
    interruption: () => signal ?? new AbortController().signal
  }
  outcome.code = await runCommandLine(args, terminal)
  return outcome
}
