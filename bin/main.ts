/** Runs the command that this process was called with. Imported once the version of Node.js is known to do. */
import { runCommandLine } from './command-line.ts'
import { processTerminal } from './terminal.ts'

const code = await runCommandLine(process.argv.slice(2), processTerminal())
if (code !== null) process.exitCode = code
