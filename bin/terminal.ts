/** The environment of a command and its outputs. Tests pass their own. */
import type { Readable } from 'node:stream'
import { askPerson } from './ask-person.ts'
import { showsColour } from './colour.ts'
import { listenForInterruption } from './client/interruption.ts'
import { ownCommand } from './own-command.ts'
import { harmless, printable } from './printable.ts'
import { cutEnd } from './text-width.ts'

/** Where the width is unknown. */
const usualColumns = 80

export type Terminal = {
  env: Readonly<Record<string, string | undefined>>
  /** How a person calls the command line: see ownCommand. */
  command: string
  /** Prints a result line, to standard output. */
  out(line: string): void
  /** Prints a message for people: progress, rejects, reasons. */
  err(line: string): void
  /**
   * Rewrites the last line on standard error, cut to the terminal; null if that is not a terminal (a file, a pipe, a CI log). Takes a
   * function of the width, because a window may be resized.
   */
  redraw: ((lineFor: (columns: number) => string) => void) | null
  /** The width of the terminal that shows standard output; null if that is not a terminal. */
  columns(): number | null
  /** Which outputs show colours. */
  colours: { out: boolean; err: boolean }
  input(): Readable
  /** Asks a question and reads a line, null if there is none; null if nobody is at the terminal, or cannot see the question. */
  ask: ((question: string) => Promise<string | null>) | null
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
      process.stdout.write(`${process.stdout.isTTY ? harmless(line) : line}\n`)
    },
    err: (line) => {
      process.stderr.write(`${process.stderr.isTTY ? harmless(line) : line}\n`)
    },
    redraw: process.stderr.isTTY ? lineThatFits(process.stderr) : null,
    columns: () => (process.stdout.isTTY ? process.stdout.columns || usualColumns : null),
    colours: { out: showsColour(process.stdout, process.env), err: showsColour(process.stderr, process.env) },
    input: () => process.stdin,
    ask:
      process.stdin.isTTY && process.stderr.isTTY
        ? (question) => askPerson(question, process.stdin, process.stderr)
        : null,
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

/** Draws again when the window is resized. The last column stays empty: many terminals begin a new line after a character in it. */
function lineThatFits(stream: NodeJS.WriteStream): (lineFor: (columns: number) => string) => void {
  let shown = (_columns: number): string => ''
  let isWatched = false
  const draw = (): void => {
    const columns = (stream.columns || usualColumns) - 1
    stream.write(`\r\u001B[2K${cutEnd(printable(shown(columns)), columns)}`)
  }
  return (lineFor) => {
    shown = lineFor
    if (!isWatched) stream.on('resize', draw)
    isWatched = true
    draw()
  }
}
