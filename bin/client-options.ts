/** The options of every command that talks to a server. */
import { readConfig } from '../shared/platform/config.ts'
import { findServer } from './client/find-server.ts'
import type { Server } from './client/server.ts'
import type { CommandInput, Option } from './command.ts'
import type { Terminal } from './terminal.ts'

export const serverOptions: Readonly<Record<'url' | 'token', Option>> = {
  url: { value: 'URL', help: 'The server. Default: TRIBUTARY_URL, otherwise the one that runs here.' },
  token: { value: 'TEXT', help: 'The token. Default: TRIBUTARY_TOKEN, otherwise the file of `tributary up`.' }
}

/** Throws Refusal. */
export function serverOf(input: CommandInput, terminal: Terminal): Promise<Server> {
  return findServer(readConfig(terminal.env), { url: input.text('url'), token: input.text('token') })
}
