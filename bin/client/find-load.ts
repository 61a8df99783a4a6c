/** Finds a load by its id, or by the beginning of its id. */
import { exitCodes, Refusal } from '../failure.ts'
import { isObject, readLoad, type LoadView } from './load-view.ts'
import { getJson } from './ask.ts'
import type { Server } from './server.ts'

const idChars = 36
const namedMaxCount = 5

/**
 * Returns the whole id. A text that is a whole id, or cannot be the beginning of one, is returned unchanged,
 * for the server to find or refuse. Throws ServerRefused, and Refusal unless exactly one load begins with the
 * text.
 */
export async function findLoadId(server: Server, text: string): Promise<string> {
  if (text.length >= idChars || !/^[0-9a-f][0-9a-f-]*$/i.test(text)) return text
  const loads = await listLoads(server, { idPrefix: text, limit: String(namedMaxCount + 1) })
  const [only] = loads
  if (only === undefined) throw new Refusal(`No load id begins with ${text}.`)
  if (loads.length > 1)
    throw new Refusal(
      `The ids of several loads begin with ${text}: ${loads
        .slice(0, namedMaxCount)
        .map(({ id }) => id)
        .join(', ')}${loads.length > namedMaxCount ? ' and more' : ''}.`
    )
  return only.id
}

/** Newest first. Throws ServerRefused, and Refusal if nothing answers as Tributary does. */
export async function listLoads(
  server: Server,
  query: Readonly<Record<string, string>>
): Promise<LoadView[]> {
  const answer = await getJson(server, `loads?${new URLSearchParams(query).toString()}`)
  if (!isObject(answer) || !Array.isArray(answer.loads))
    throw new Refusal(
      'Unexpected answer from the server: not a list. Is this a Tributary server?',
      exitCodes.unreachable
    )
  return answer.loads.map(readLoad)
}
