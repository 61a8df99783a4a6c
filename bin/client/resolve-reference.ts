/** Lets the server say which entity a short reference means; a URN stands for itself. */
import { exitCodes, Refusal } from '../failure.ts'
import { isObject } from './load-view.ts'
import { getJson, type Server } from './server.ts'

/** Throws ServerRefused where none or several are meant, or Refusal where nobody answers. */
export async function resolveReference(server: Server, reference: string): Promise<string> {
  if (reference.startsWith('urn:li:')) return reference
  const answer = await getJson(server, `resolve?${new URLSearchParams({ reference }).toString()}`)
  if (isObject(answer) && typeof answer.urn === 'string') return answer.urn
  throw new Refusal(`The server at ${new URL(server.url).origin} does not answer as Tributary does.`, exitCodes.unreachable)
}
