/** The environment of a command and its outputs. Tests pass their own. */
import type { Readable } from 'node:stream'
import { listenForInterruption } from './client/interruption.ts'
import { ownCommand } from './own-command.ts'

export type Terminal = {
  env: Readonly<Record<string, string | undefined>>
  /** How a person calls the command line: see ownCommand. */
  command: string
  /** Prints a result line, to standard output. */
  out(line: string): void
  /** Prints a message for people: progress, rejects, reasons. */
  err(line: string): void
  /** Rewrites the last line on standard error; null if that is not a terminal (a file, a pipe, a CI log). */
  redraw: ((line: string) => void) | null
  /** Whether standard error shows colours, and they are not disabled. */
  hasColour: boolean
  /** Maximum characters of a line of help. */
  width: number
  input(): Readable
  /**
   * Aborted when a person or a scheduler stops the command. After the first call, signals have no other
   * effect.
   */
  interruption: () => AbortSignal
}

export function processTerminal(): Terminal {
  ignoreClosedPipes()
  return {
    env: process.env,
    command: ownCommand(process.env),
    out: (line) => {
      process.stdout.write(`${line}\n`)
    },
    err: (line) => {
      process.stderr.write(`${line}\n`)
    },
    redraw: process.stderr.isTTY ? redrawLine : null,
    hasColour: process.stderr.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb',
    width: Math.min(process.stdout.columns || 100, 120),
    input: () => process.stdin,
    interruption: listenForInterruption
  }
}

/** If the reader has gone (`| head`), the rest of the output is dropped without an error. */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: Error & { code?: string }) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}

function redrawLine(line: string): void {
  process.stderr.write(`\r\u001B[2K${line.slice(0, (process.stderr.columns || 80) - 1)}`)
}
