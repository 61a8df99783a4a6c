/** Finds the load that a person means by its id, or by how its id begins. */
import { exitCodes, Refusal } from '../failure.ts'
import { isObject, readLoad, type LoadView } from './load-view.ts'
import { getJson, type Server } from './server.ts'

const idChars = 36
const namedMaxCount = 5

/**
 * The whole id. A whole one, and what is not a beginning of one, is the server's to find or refuse. Throws Refusal if
 * none or several begin so, ServerRefused.
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

/** Newest first. Throws ServerRefused, and Refusal where nobody answers as Tributary does. */
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
