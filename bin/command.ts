/** What a command is: its options and the function behind it, which a test calls without a process. */
import type { Terminal } from './terminal.ts'

export type Option = {
  /** How help names the value, such as `URN`; absent for a switch. */
  value?: string
  /** The only values that are taken. */
  choices?: readonly string[]
  help: string
}

/** Words that a shell may complete an operand with. */
export type OperandWords = 'files' | readonly string[]

export type Command = {
  /** Further paragraphs of help. */
  notes?: readonly string[]
  /** The operands, as help names them, in order. Dots after the last one mean any number; brackets mean optional. */
  operands?: readonly string[]
  operandWords?: OperandWords
  options: Readonly<Record<string, Option>>
  /** The exit code, or null if the process keeps running (serve, work, up). */
  run(input: CommandInput, terminal: Terminal): Promise<number | null>
}

export type CommandInput = {
  operands: readonly string[]
  text(option: string): string | undefined
  isSet(option: string): boolean
}
