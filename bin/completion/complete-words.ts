/**
 * The words that can be completed at each place of the command line; completion scripts are made from them.
 */
import { commandTable } from '../command-table.ts'
import type { OperandWords } from '../command.ts'

type CompletedOption = {
  flag: string
  help: string
  takesValue: boolean
  takesFile: boolean
  choices: readonly string[]
}

export type CompletedCommand = {
  /** The words of the command, such as `load status`; empty for `tributary` itself. */
  path: string
  /** The commands below it: the next word of each, and its help. */
  below: readonly { word: string; help: string }[]
  options: readonly CompletedOption[]
  operandWords: OperandWords
}

const helpOption: CompletedOption = {
  flag: '--help',
  help: 'Print help.',
  takesValue: false,
  takesFile: false,
  choices: []
}

/** Every command and every group, a group before its commands. Loads all commands. */
export async function completedCommands(): Promise<CompletedCommand[]> {
  const found = new Map<
    string,
    { below: Map<string, string>; options: CompletedOption[]; operandWords: OperandWords }
  >()
  const at = (path: string): NonNullable<ReturnType<typeof found.get>> => {
    const known = found.get(path) ?? {
      below: new Map<string, string>(),
      options: [helpOption],
      operandWords: []
    }
    found.set(path, known)
    return known
  }
  at('').options.push({ ...helpOption, flag: '--version', help: 'Print the version.' })
  for (const { name, summary, open } of commandTable) {
    const { options, operandWords = [] } = await open()
    const words = name.split(' ')
    words.forEach((word, index) => {
      const parent = at(words.slice(0, index).join(' '))
      if (index === words.length - 1) parent.below.set(word, summary)
      else if (!parent.below.has(word)) parent.below.set(word, `Commands of ${word}.`)
    })
    const command = at(name)
    command.operandWords = operandWords
    command.options.push(
      ...Object.entries(options).map(([option, { value, help, choices = [] }]) => ({
        flag: `--${option}`,
        help,
        takesValue: value !== undefined,
        takesFile: value === 'FILE',
        choices
      }))
    )
  }
  const first = at('').below
  first.set('help', 'Prints the help of a command.')
  at('help').operandWords = [...first.keys()]
  return [...found].map(([path, { below, options, operandWords }]) => ({
    path,
    below: [...below].map(([word, help]) => ({ word, help })),
    options,
    operandWords
  }))
}

/** Puts a text in single quotes. Shells differ only in how they escape an apostrophe. */
export const quoted = (text: string, apostrophe: string): string => `'${text.replaceAll("'", apostrophe)}'`
