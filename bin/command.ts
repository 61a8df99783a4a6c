/** What a command is: its options and the function behind it, which a test calls without a process. */
import { parseArgs } from 'node:util'
import type { CommandEntry } from './command-table.ts'
import { Refusal } from './failure.ts'
import type { Terminal } from './terminal.ts'

export type Option = {
  /** How help names the value, such as `URN`; absent for a switch. */
  value?: string
  help: string
}

export type Command = {
  /** Further lines of help. */
  notes?: readonly string[]
  /** How help names what stands beside the options, in order; all are required, and of the last one with dots there may be more. */
  operands?: readonly string[]
  options: Readonly<Record<string, Option>>
  /** The exit code, or null where the process goes on (serve, work). */
  run(input: CommandInput, terminal: Terminal): Promise<number | null>
}

export type CommandInput = {
  operands: readonly string[]
  text(option: string): string | undefined
  isSet(option: string): boolean
}

/** Throws Refusal where the arguments do not fit the command. */
export function readInput({ name }: CommandEntry, command: Command, args: readonly string[]): CommandInput {
  const { values, positionals } = parse(name, command, args)
  const wanted = command.operands ?? []
  const takesMore = wanted.at(-1)?.endsWith('...') === true && positionals.length > wanted.length
  if (positionals.length !== wanted.length && !takesMore) {
    const expected = wanted.length === 0 ? 'takes no operand' : positionals.length < wanted.length ? `needs ${wanted.join(' ')}` : `takes ${wanted.join(' ')} only`
    const excess = positionals.length > wanted.length ? `, not also ${positionals.slice(wanted.length).join(' ')}` : ''
    throw new Refusal(`tributary ${name} ${expected}${excess}. See tributary ${name} --help.`)
  }
  return {
    operands: positionals,
    text(option) {
      const value = values[option]
      return typeof value === 'string' ? value : undefined
    },
    isSet: option => values[option] === true
  }
}

type Parsed = { values: Record<string, unknown>, positionals: string[] }

function parse(name: string, command: Command, args: readonly string[]): Parsed {
  const options = Object.fromEntries(Object.entries(command.options).map(([option, { value }]) =>
    [option, { type: value === undefined ? 'boolean' as const : 'string' as const }]))
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true })
  } catch (error) {
    const [, option] = error instanceof Error ? /^Option '(--[\w-]+)[^']*' argument is ambiguous/.exec(error.message) ?? [] : []
    if (option !== undefined) throw new Refusal(`What follows ${option} looks like an option; a value that begins with a dash is written ${option}=VALUE. See tributary ${name} --help.`, undefined, { cause: error })
    const reason = error instanceof Error ? error.message.split(/[.\n]/)[0] : String(error)
    throw new Refusal(`${reason}. See tributary ${name} --help.`, undefined, { cause: error })
  }
}

export function helpOf({ name, summary }: CommandEntry, command: Command): string[] {
  const options = Object.entries(command.options).map(([option, { value, help }]) =>
    [`--${option}${value === undefined ? '' : ` ${value}`}`, help] as const)
  const width = Math.max(0, ...options.map(([left]) => left.length))
  return [
    `Usage: tributary ${[name, ...command.operands ?? [], ...(options.length > 0 ? ['[options]'] : [])].join(' ')}`,
    '',
    summary,
    ...(command.notes ?? []),
    ...(options.length > 0 ? ['', ...options.map(([left, help]) => `  ${left.padEnd(width)}  ${help}`)] : [])
  ]
}
