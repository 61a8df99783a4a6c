/** Finds the command, checks its arguments, runs it, and turns what it throws into a line and an exit code. */
import { readFileSync } from 'node:fs'
import { packagePath } from '../shared/platform/paths.ts'
import { helpOf, readInput } from './command.ts'
import { commandTable } from './command-table.ts'
import { exitCodes, Refusal } from './failure.ts'
import type { Terminal } from './terminal.ts'

/** The exit code, or null where the command goes on running. Never throws. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number | null> {
  try {
    return await dispatch(args, terminal)
  } catch (error) {
    const { describeFailure } = await import('./describe-failure.ts')
    const { message, exitCode } = describeFailure(error)
    terminal.err(message)
    return exitCode
  }
}

async function dispatch(args: readonly string[], terminal: Terminal): Promise<number | null> {
  if (args.length === 1 && args[0] === '--version') {
    terminal.out(packageVersion())
    return exitCodes.ok
  }
  const entry = commandTable
    .filter(({ name }) => name === args.slice(0, wordCount(name)).join(' '))
    .sort((a, b) => wordCount(b.name) - wordCount(a.name))[0]
  if (entry === undefined) {
    const asksForHelp = args.length === 0 || args.includes('--help') || args.includes('-h') || args[0] === 'help'
    if (!asksForHelp) throw new Refusal(`There is no command ${args.slice(0, 2).join(' ')}. See tributary --help.`)
    for (const line of overview()) terminal.out(line)
    return exitCodes.ok
  }
  const rest = args.slice(wordCount(entry.name))
  const command = await entry.open()
  if (rest.includes('--help') || rest.includes('-h')) {
    for (const line of helpOf(entry, command)) terminal.out(line)
    return exitCodes.ok
  }
  return command.run(readInput(entry, command, rest), terminal)
}

function overview(): string[] {
  const width = Math.max(...commandTable.map(({ name }) => name.length))
  return [
    'Usage: tributary COMMAND [options]',
    '',
    ...commandTable.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'tributary COMMAND --help tells more. `npm start` runs everything at once, with a database of its own.'
  ]
}

function wordCount(name: string): number {
  return name.split(' ').length
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packagePath('package.json'), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown'
}
