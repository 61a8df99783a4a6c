/** Checks the API that the client commands talk to: it answers, is ready, and accepts the token. */
import type { Config } from '../../shared/platform/config.ts'
import { findServer, getJson, getText, ServerRefused } from '../client/server.ts'
import { reasonOf, Refusal } from '../failure.ts'
import { fine, note, wrong, type Finding } from './finding.ts'

/** A worker's machine has no API of its own, so a missing one is only wrong if TRIBUTARY_URL names it. */
export async function examineApi(config: Config): Promise<Finding[]> {
  const server = findServer(config, { url: undefined, token: undefined }, { needsToken: false })
  try {
    await getText(server, 'health/ready')
  } catch (error) {
    if (error instanceof ServerRefused)
      return [wrong('api', `at ${server.url} is not ready: ${error.message}`)]
    const text = `at ${server.url} does not answer: ${reasonOf(error)}`
    return [
      config.clientUrl === null ? note('api', `${text}; TRIBUTARY_URL names another`) : wrong('api', text)
    ]
  }
  const ready = fine('api', `at ${server.url} is ready`)
  if (server.token === '')
    return [
      ready,
      note('token', 'none is set for the client commands: TRIBUTARY_TOKEN, or the file of `tributary up`')
    ]
  try {
    await getJson(server, 'loads?limit=1')
    return [ready, fine('token', 'of the client commands is accepted by the API')]
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error instanceof ServerRefused && error.status === 403)
      return [ready, fine('token', 'of the client commands is accepted by the API')]
    return [ready, wrong('token', `of the client commands is not accepted: ${error.message}`)]
  }
}
