/** The output of `tributary up` and `npm start` for someone new to the catalog. */

import { quoteForShell } from '../bin/quote-for-shell.ts'

/**
 * How a person calls a command that finds this server and its token. `dataDir` is null if it is the default;
 * `command` is how a person calls the command line.
 */
export const commandHere = (dataDir: string | null, command: string): string =>
  dataDir === null ? command : `TRIBUTARY_DATA_DIR=${quoteForShell(dataDir)} ${command}`

/** `command` is how a person calls a command that finds this server and its token. */
type Greeting = { url: string; tokenFile: string; command: string }

/** Lines that can be pasted into a shell. */
export function whatToTry({ url, tokenFile, command }: Greeting): string[] {
  return [
    '',
    'Try next:',
    `  curl -s ${url}/api/graphql -H "Authorization: Bearer $(cat ${quoteForShell(tokenFile)})" -H 'Content-Type: application/json' \\`,
    `    -d '{"query":"{ listDomains(input: {}) { domains { urn properties { name } } } }"}'`,
    `  echo '{"op":"upsertEntity","urn":"urn:li:dataset:(urn:li:dataPlatform:hive,my.table,PROD)"}' | ${command} load -`,
    `  curl -s ${url}/health/ready`,
    'Ctrl-C stops everything; the data stays.'
  ]
}
