/** Finds a load by its id, or by the beginning of its id. */
import { exitCodes, Refusal } from '../failure.ts'
import { findId } from '../find-id.ts'
import { isObject, readLoad, type LoadView } from './load-view.ts'
import { getJson } from './ask.ts'
import type { Server } from './server.ts'

/** As findId, among the loads that the token may see. Throws also ServerRefused. */
export const findLoadId = (server: Server, text: string): Promise<string> =>
  findId(text, 'load', async (idPrefix, limit) => {
    const loads = await listLoads(server, { idPrefix, limit: String(limit) })
    return loads.map(({ id, state, source }) => ({
      id,
      name: typeof source === 'string' ? `${source}, ${state}` : state
    }))
  })

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
