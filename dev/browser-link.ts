/** Tells a person, in the output of `tributary up` and `npm start`, how to open the web UI. */
import { fstatSync } from 'node:fs'
import { signInLink } from '../bin/client/sign-in-link.ts'
import { withDatabase } from '../bin/open-database.ts'
import { createSignInCode } from '../shared/catalog/access/create-sign-in-code.ts'
import { CatalogError } from '../shared/errors.ts'
import { limits } from '../shared/limits.ts'

type Browser = {
  url: string
  databaseUrl: string
  /** The first token of the catalog, from its file. */
  token: string | null
  /** True if the output goes to a file, which must not contain the code. */
  isKept: boolean
  /** How a person calls the command line. */
  command: string
}

/** A link that signs a browser in; without a token, or if the output is kept, how to get one. */
export async function howToOpen({ url, databaseUrl, token, isKept, command }: Browser): Promise<string[]> {
  const code = token === null || isKept ? null : await codeOf(databaseUrl, token)
  if (code !== null)
    return [
      'Open in a browser:',
      '',
      `  ${signInLink({ url }, code)}`,
      '',
      `The link signs you in, once, within ${limits.signInCodeMaxSeconds / 60} minutes. For another one: ${command} sign-in`,
      ''
    ]
  return [
    `Open in a browser: ${url}/ui/`,
    token === null
      ? `To sign in, use a token, or a link from: ${command} sign-in --token-id ID`
      : `To sign in, use the link that this prints: ${command} sign-in`,
    ''
  ]
}

/** Null if the file has the token of another catalog. */
async function codeOf(databaseUrl: string, token: string): Promise<string | null> {
  try {
    const { code } = await withDatabase(databaseUrl, (db) => createSignInCode(db, { token }))
    return code
  } catch (error) {
    if (error instanceof CatalogError && error.code === 'NOT_FOUND') return null
    throw error
  }
}

/**
 * Whether standard output is a file or the journal of systemd, rather than a terminal or a pipe: a code must
 * not get into a log.
 */
export function isOutputKept(env: NodeJS.ProcessEnv): boolean {
  return env.JOURNAL_STREAM !== undefined || fstatSync(process.stdout.fd).isFile()
}
