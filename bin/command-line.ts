/** Runs the command line, and turns what it throws into a line and an exit code. */
import { asCalled } from './as-called.ts'
import { runProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/** The exit code, or null if the command keeps running. Never throws. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number | null> {
  try {
    return await runProgram(args, terminal)
  } catch (error) {
    const { describeFailure } = await import('./describe-failure.ts')
    const { message, exitCode } = describeFailure(error)
    terminal.err(asCalled(message, terminal.command))
    return exitCode
  }
}
