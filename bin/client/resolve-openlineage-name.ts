/** Asks the server which URN a dataset name in OpenLineage events becomes. */
import { exitCodes, Refusal } from '../failure.ts'
import { isObject } from './load-view.ts'
import { getJson } from './ask.ts'
import type { Server } from './server.ts'

export type ResolvedName = { urn: string; rule: string; connection: string | null }

/** Throws ServerRefused, or Refusal if the server does not answer. */
export async function resolveOpenLineageName(
  server: Server,
  namespace: string,
  name: string
): Promise<ResolvedName> {
  const answer = await getJson(
    server,
    `openlineage/resolve?${new URLSearchParams({ namespace, name }).toString()}`
  )
  if (isObject(answer) && typeof answer.urn === 'string' && typeof answer.rule === 'string')
    return {
      ...answer,
      urn: answer.urn,
      rule: answer.rule,
      connection: typeof answer.connection === 'string' ? answer.connection : null
    }
  throw new Refusal(
    `Unexpected answer from ${new URL(server.url).origin}. Is this a Tributary server?`,
    exitCodes.unreachable
  )
}
