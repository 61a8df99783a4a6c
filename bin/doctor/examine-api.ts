/** Checks the API that the client commands talk to: it is Tributary, is ready, and accepts the token. */
import type { Config } from '../../shared/platform/config.ts'
import { getJson, getText } from '../client/ask.ts'
import { findServer } from '../client/find-server.ts'
import { isObject } from '../client/load-view.ts'
import { NotOurs, NotReached, ServerRefused, type Server } from '../client/server.ts'
import { Refusal } from '../failure.ts'
import { fine, note, wrong, type Finding } from './finding.ts'

/** A worker's machine has no API of its own, so a missing one is only wrong if TRIBUTARY_URL names it. */
export async function examineApi(config: Config): Promise<Finding[]> {
  const missing = config.clientUrl === null ? note : wrong
  let server: Server
  try {
    server = await findServer(config, { url: undefined, token: undefined }, { needsToken: false })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error instanceof NotOurs) return [wrong('api', error.message)]
    const usual = `http://127.0.0.1:${config.port}`
    const other =
      config.clientUrl === null ? await whatListens({ url: usual, token: '', provenBy: null }) : null
    return [missing('api', `${error.message}${other === null ? '' : ` At ${usual} ${other} answers.`}`)]
  }
  // without the token, which another program must not see
  const anonymous = { ...server, token: '' }
  try {
    const other = await whatListens(anonymous)
    if (other !== null && other !== ownName)
      return [
        missing(
          'api',
          `at ${server.url} ${other} answers: ${config.clientUrl === null ? 'set TRIBUTARY_URL to the address of the server' : 'TRIBUTARY_URL names another address'}`
        )
      ]
    await getText(anonymous, 'health/ready')
  } catch (error) {
    if (error instanceof ServerRefused)
      return [wrong('api', `at ${server.url} is not ready: ${error.message}`)]
    if (!(error instanceof Refusal)) throw error
    return [missing('api', `at ${server.url} cannot be used: ${error.message}`)]
  }
  return [fine('api', `at ${server.url} is ready`), await examineToken(config, server)]
}

const ownName = 'a Tributary server that was not started with this data folder'

/** What answers there, by its own word; null if nothing does. */
async function whatListens(server: Server): Promise<string | null> {
  try {
    const version = await getJson(server, 'version')
    return isObject(version) && version.name === 'tributary' ? ownName : 'another program'
  } catch (error) {
    if (error instanceof NotReached) return null
    if (error instanceof Refusal) return 'another program'
    throw error
  }
}

async function examineToken({ dataDir, clientUrl }: Config, server: Server): Promise<Finding> {
  if (server.token === '')
    return note(
      'token',
      clientUrl === null
        ? 'none is set for the client commands: TRIBUTARY_TOKEN, or the file of `tributary up`'
        : `none is set for the client commands: TRIBUTARY_TOKEN. One in ${dataDir} is only for the server that was started with that folder`
    )
  try {
    await getJson(server, 'loads?limit=1')
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const isLimited = error instanceof ServerRefused && error.status === 403
    if (!isLimited) return wrong('token', `of the client commands is not accepted: ${error.message}`)
  }
  return fine('token', 'of the client commands is accepted by the API')
}
