/** `tributary sign-in`: prints a link that signs a browser in to the web UI. Needs access to the database. */
import { createSignInCode } from '../../shared/catalog/access/create-sign-in-code.ts'
import { limits } from '../../shared/limits.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { serverOptions } from '../client-options.ts'
import { findServer } from '../client/find-server.ts'
import { signInLink } from '../client/sign-in-link.ts'
import type { Command } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { findTokenId } from '../find-token.ts'
import { withMigratedDatabase } from '../open-database.ts'

export const signInCommand: Command = {
  notes: [
    'The browser gets the rights of the token, without seeing it. The link works once and expires after five minutes.'
  ],
  examples: ['tributary sign-in', 'tributary sign-in --token-id 3f9a'],
  options: {
    ...serverOptions,
    'token-id': {
      value: 'ID',
      help: 'Another token, by its id in `tributary token list`, or the beginning of it.'
    },
    json: { help: 'Print the link and facts about its token as JSON.' }
  },
  async run(input, terminal) {
    const config = readConfig(terminal.env)
    const tokenId = input.text('token-id')
    if (tokenId !== undefined && input.text('token') !== undefined)
      throw new Refusal('Give --token or --token-id, not both.')
    const server = await findServer(
      config,
      { url: input.text('url'), token: input.text('token') },
      { needsToken: tokenId === undefined }
    )
    const { code, token } = await withMigratedDatabase(config, async (db) =>
      createSignInCode(
        db,
        tokenId === undefined ? { token: server.token } : { tokenId: await findTokenId(db, tokenId) }
      )
    )
    const url = signInLink(server, code)
    const { id, actorUrn, scopes } = token
    const seconds = limits.signInCodeMaxSeconds
    if (input.isSet('json'))
      terminal.out(JSON.stringify({ url, tokenId: id, actorUrn, scopes, expiresInSeconds: seconds }))
    else {
      terminal.out(url)
      terminal.err(
        `Signs one browser in as ${actorUrn} (${scopes.join(', ')}), once, within ${seconds / 60} minutes.`
      )
    }
    return exitCodes.ok
  }
}
