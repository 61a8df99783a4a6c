/** Asks the server which entity a short reference means. */
import { exitCodes, Refusal } from '../failure.ts'
import { isObject } from './load-view.ts'
import { getJson } from './ask.ts'
import type { Server } from './server.ts'

export type Resolved = { urn: string; type: string; exists: boolean }

/** Throws ServerRefused if it means no entity or several, or Refusal if nothing answers. */
export async function resolveEntity(server: Server, reference: string): Promise<Resolved> {
  const answer = await getJson(server, `resolve?${new URLSearchParams({ reference }).toString()}`)
  if (isObject(answer) && typeof answer.urn === 'string')
    return { urn: answer.urn, type: String(answer.type), exists: answer.exists === true }
  throw new Refusal(
    `Unexpected answer from ${new URL(server.url).origin}. Is this a Tributary server?`,
    exitCodes.unreachable
  )
}

/** The URN of the reference, which may be a URN itself. Throws as resolveEntity does. */
export async function resolveReference(server: Server, reference: string): Promise<string> {
  return reference.startsWith('urn:li:') ? reference : (await resolveEntity(server, reference)).urn
}

/** The URN of a domain given by name, path (`Sales/Orders`), id or URN. Throws as resolveEntity does. */
export function resolveDomain(server: Server, reference: string): Promise<string> {
  return resolveReference(server, /^(urn:li:|domain:)/.test(reference) ? reference : `domain:${reference}`)
}
