/**
 * Builds the command line of commander from the table of commands. A command is loaded when it is called, or
 * when its help is requested.
 */
import { readFileSync } from 'node:fs'
import { Command as Parser, CommanderError, Help, Option as ParserOption } from 'commander'
import { packagePath } from '../shared/platform/paths.ts'
import { asCalled } from './as-called.ts'
import type { Command, CommandInput, Option } from './command.ts'
import { commandTable, type CommandEntry } from './command-table.ts'
import { exitCodes, Refusal } from './failure.ts'
import type { Terminal } from './terminal.ts'

/**
 * Runs the command in the arguments. Returns the exit code, or null if the command keeps running. Throws
 * Refusal for invalid arguments, and what the command throws.
 */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number | null> {
  const called = await readArguments(args, terminal)
  return called === null ? exitCodes.ok : called.command.run(called.input, terminal)
}

/** A command with what it was given. */
export type Called = { name: string; command: Command; input: CommandInput }

/** The command in the arguments; null if they ask for help or the version, which is then printed. Throws Refusal for invalid arguments. */
export async function readArguments(args: readonly string[], terminal: Terminal): Promise<Called | null> {
  const program = createProgram(terminal)
  try {
    await program.root.parseAsync(args.length === 0 ? ['--help'] : [...args], { from: 'user' })
    return program.called()
  } catch (error) {
    // help and version end with this error
    if (error instanceof CommanderError && error.exitCode === 0) return null
    throw error
  }
}

/** Longer lines are hard to read. */
const helpMaxWidth = 120
const plainHelpWidth = 100

/** The values of each option in the arguments, in order; true for a switch. */
type GivenOptions = ReadonlyMap<string, readonly (string | true)[]>

type Program = { root: Parser; called: () => Called | null }

function createProgram(terminal: Terminal): Program {
  const entries = new Map<Parser, CommandEntry>()
  const optionsOf = new Map<Parser, GivenOptions>()
  let called: Called | null = null
  const said = (text: string): string => asCalled(text, terminal.command)
  const root = new Parser('tributary')
  root
    .description(
      said(
        'A metadata catalog for domains and lineage. `tributary up` runs everything at once, with a database of its own.'
      )
    )
    .version(packageVersion(), '-v, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print help.')
    .helpCommand(false)
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => {
        printLines(text, terminal)
      },
      writeErr: () => {},
      getOutHelpWidth: () => Math.min(terminal.columns() ?? plainHelpWidth, helpMaxWidth)
    })
    .configureHelp({
      // otherwise nothing is wrapped in a narrow terminal
      minWidthToWrap: 16,
      formatHelp: (command, helper) =>
        new Help().formatHelp(command, command === root ? withAllCommands(helper, entries) : helper)
    })
    .exitOverride((error) => {
      throw refusalOf(error, root)
    })
    .hook('preSubcommand', (_parent, called) => declare(called))
    .addHelpText('after', '\n`tributary help COMMAND` tells more.')
  for (const entry of commandTable) add(entry)
  root
    .command('help')
    .description('Prints the help of a command.')
    .argument('[COMMAND...]')
    .helpGroup('Help:')
    .action(printHelp)
  return { root, called: () => called }

  /** A group such as `token` is not a command of its own; `load` is both. */
  function add(entry: CommandEntry): void {
    let parser = root
    for (const word of entry.name.split(' '))
      parser =
        parser.commands.find((command) => command.name() === word) ??
        create(parser, word).helpGroup(entry.group)
    entries.set(parser.description(said(entry.summary)), entry)
  }

  function create(parent: Parser, name: string): Parser {
    const parser = parent.command(name)
    return parser
      .helpCommand(false)
      .exitOverride((error) => {
        throw refusalOf(error, parser)
      })
      .hook('preSubcommand', (_parent, called) => declare(called))
  }

  /** Tells the parser the options of the command, which are not in the table. */
  async function declare(parser: Parser): Promise<void> {
    const entry = entries.get(parser)
    if (entry === undefined || optionsOf.has(parser)) return
    const command = await entry.open()
    parser.description(said([entry.summary, ...(command.notes ?? [])].join('\n\n')))
    for (const operand of command.operands ?? [])
      parser.argument(operand.startsWith('[') ? operand : `<${operand}>`)
    const given = new Map<string, (string | true)[]>()
    for (const [name, option] of Object.entries(command.options)) {
      parser.addOption(parserOption(name, { ...option, help: said(option.help) }))
      parser.on(`option:${name}`, (value?: string) => {
        given.set(name, [...(given.get(name) ?? []), value ?? true])
      })
    }
    optionsOf.set(parser, given)
    parser.addHelpText('after', ['', 'Examples:', ...command.examples.map((line) => `  ${line}`)].join('\n'))
    parser.action(() => {
      refuseOptionsAbove(parser)
      called = { name: entry.name, command, input: inputOf(parser.args, given) }
    })
  }

  /** Refuses `tributary load --dry-run status ID`, where the option would have no effect. */
  function refuseOptionsAbove(parser: Parser): void {
    for (let above = parser.parent; above !== null; above = above.parent) {
      for (const option of optionsOf.get(above)?.keys() ?? [])
        throw new Refusal(`--${option} is an option of ${nameOf(above)}, not of ${nameOf(parser)}.`)
    }
  }

  async function printHelp(words: readonly string[]): Promise<void> {
    let parser = root
    for (const word of words) {
      const below = parser.commands.find((command) => command.name() === word)
      if (below === undefined) throw new Refusal(`Unknown command ${words.join(' ')}. See tributary help.`)
      await declare(below)
      parser = below
    }
    parser.outputHelp()
  }
}

function parserOption(name: string, { value, help, choices, isRepeatable }: Option): ParserOption {
  const option = new ParserOption(
    value === undefined ? `--${name}` : `--${name} <${value}>`,
    isRepeatable ? `${help} May be given several times.` : help
  )
  return choices === undefined
    ? option
    : option.argParser((text: string) => {
        if (!choices.includes(text)) throw new Refusal(`--${name} takes ${listed(choices)}, not ${text}.`)
        return text
      })
}

function inputOf(operands: readonly string[], given: GivenOptions): CommandInput {
  const texts = (option: string): string[] =>
    (given.get(option) ?? []).filter((value) => typeof value === 'string')
  return {
    operands,
    text: (option) => texts(option).at(-1),
    texts,
    isSet: (option) => given.get(option)?.includes(true) ?? false
  }
}

/** The overview lists every command in its group, including those of two words. */
function withAllCommands(helper: Help, entries: ReadonlyMap<Parser, CommandEntry>): Help {
  const below = (parser: Parser): Parser[] =>
    parser.commands.flatMap((command) => [
      ...(entries.has(command) || command.commands.length === 0 ? [command] : []),
      ...below(command)
    ])
  return Object.assign(new Help(), helper, {
    visibleCommands: below,
    subcommandTerm: (command: Parser) => entries.get(command)?.name ?? command.name()
  })
}

/** The message in one line, with the command that shows help. */
function refusalOf(error: CommanderError, parser: Parser): Error {
  if (error.exitCode === 0) return error
  const name = nameOf(parser)
  return new Refusal(
    `${problemOf(error, name, parser)} See ${name.replace('tributary', 'tributary help')}.`,
    undefined,
    { cause: error }
  )
}

const nameOf = (parser: Parser): string =>
  parser.parent === null ? parser.name() : `${nameOf(parser.parent)} ${parser.name()}`

function problemOf(
  { code, message }: CommanderError,
  name: string,
  { args, registeredArguments, commands }: Parser
): string {
  const wanted = registeredArguments.map((argument) => argument.name())
  if (code === 'commander.help')
    return `${name} needs a command: ${listed(commands.map((command) => command.name()))}.`
  if (code === 'commander.excessArguments')
    return `${name} takes ${wanted.length === 0 ? 'no operand' : `${wanted.join(' ')} only`}, not also ${args.slice(wanted.length).join(' ')}.`
  const [problem = '', hint] = message.replace(/^error: /, '').split('\n')
  return `${name}: ${problem}.${hint === undefined ? '' : ` ${hint.replaceAll(/[()]/g, '')}`}`
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

function printLines(text: string, terminal: Terminal): void {
  const said = asCalled(text.replace(/\n$/, ''), terminal.command)
  for (const line of said.split('\n')) terminal.out(line)
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packagePath('package.json'), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown'
}
