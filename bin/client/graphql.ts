/** Asks the server over GraphQL. */
import { exitCodes, Refusal } from '../failure.ts'
import { isObject } from './load-view.ts'
import { postJson } from './ask.ts'
import type { Server } from './server.ts'

/**
 * The data of the answer. Throws Refusal with the code and message of the first error, ServerRefused, and
 * Refusal if nothing answers.
 */
export async function askGraphql(
  server: Server,
  query: string,
  variables: Readonly<Record<string, unknown>>
): Promise<Record<string, unknown>> {
  const answer = await postJson(server, 'api/graphql', undefined, { query, variables })
  if (isObject(answer) && Array.isArray(answer.errors)) {
    const [error]: unknown[] = answer.errors
    if (isObject(error))
      throw new Refusal(
        `The server refused: ${isObject(error.extensions) && typeof error.extensions.reason === 'string' ? `${error.extensions.reason}: ` : ''}${String(error.message)}`
      )
  }
  if (isObject(answer) && isObject(answer.data)) return answer.data
  throw new Refusal(
    `Unexpected answer from ${new URL(server.url).origin}. Is this a Tributary server?`,
    exitCodes.unreachable
  )
}
