#!/usr/bin/env node
/** The command line: `tributary COMMAND`. */
import { nodeVersionProblem } from '../shared/platform/node-version.ts'

const problem = nodeVersionProblem()
if (problem !== null) {
  console.error(problem)
  process.exit(1)
}

// not imported statically, because an old Node could not even parse it
const { runCommandLine } = await import('./command-line.ts')
const { processTerminal } = await import('./terminal.ts')

const code = await runCommandLine(process.argv.slice(2), processTerminal())
if (code !== null) process.exitCode = code
