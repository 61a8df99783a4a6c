/** Names commands in messages and help as a person here can call them: `tributary load` may be `npx tributary load`. */
import { commandTable } from './command-table.ts'

const words = [...new Set(commandTable.map(({ name }) => name.split(' ')[0])), 'help'].join('|')
const named = new RegExp(`(?<!^|[\\w/.-])(?<!npx\\s+)tributary (?=(?:${words})\\b|\\[)`, 'g')

/** `command` is how a person calls the command line: see ownCommand. At its beginning a message is about the command, and keeps its name. */
export const asCalled = (text: string, command: string): string => text.replaceAll(named, () => `${command} `)
