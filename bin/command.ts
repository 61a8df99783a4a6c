/** The definition of a command: its options and its function, which tests call without a process. */
import type { Terminal } from './terminal.ts'

export type Option = {
  /** The value's name in help, such as `URN`; absent for a switch. */
  value?: string
  /** The option may be given several times. */
  isRepeatable?: true
  /** The only values allowed. */
  choices?: readonly string[]
  help: string
}

/** The words that a shell offers for an operand. */
export type OperandWords = 'files' | readonly string[]

export type Command = {
  /** More paragraphs of help. */
  notes?: readonly string[]
  /** Lines for a shell, as somebody would write them first, to copy from the help. */
  examples: readonly [string, ...string[]]
  /**
   * The operands by their names in help, in order. Dots after the last one mean any number; brackets mean
   * optional.
   */
  operands?: readonly string[]
  operandWords?: OperandWords
  options: Readonly<Record<string, Option>>
  /** The exit code, or null if the process keeps running (serve, work, up). */
  run(input: CommandInput, terminal: Terminal): Promise<number | null>
}

export type CommandInput = {
  operands: readonly string[]
  /** The value of an option; if it is repeated, the last one. */
  text(option: string): string | undefined
  /** All values of an option, in order. */
  texts(option: string): readonly string[]
  isSet(option: string): boolean
}
