/**
 * Finds the server that a command talks to, and decides whether it gets the token of the data folder.
 *
 * The table "Server and token" of docs/command-line.md lists every combination.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../shared/platform/config.ts'
import { isSameOrigin, readServerRecords } from '../../shared/platform/server-records.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { checkConnection } from './connection.ts'
import { NotOurs, NotReached, type Server } from './server.ts'

export type GivenServer = { url: string | undefined; token: string | undefined }

/**
 * Options win over TRIBUTARY_URL and TRIBUTARY_TOKEN, and these win over what is in the data folder. The token is
 * empty if none is needed and none may be sent. Throws Refusal, NotReached and NotOurs.
 */
export async function findServer(
  config: Config,
  given: GivenServer,
  { needsToken = true } = {}
): Promise<Server> {
  const url = given.url ?? config.clientUrl ?? null
  if (url !== null && (!URL.canParse(url) || !/^https?:/.test(url)))
    throw new Refusal(`--url takes a URL such as https://tributary.example.com, not ${url}.`)
  if (url !== null && (new URL(url).username !== '' || new URL(url).password !== ''))
    throw new Refusal('--url takes no user and password: give the token by --token or TRIBUTARY_TOKEN.')
  const token = given.token ?? config.clientToken ?? null
  const ownToken = readTokenFile(config.dataDir)
  if (needsToken && token === null && ownToken === null)
    throw new Refusal(
      `A token is needed: give --token or TRIBUTARY_TOKEN (there is no file ${resolve(config.dataDir, 'token')} either). Where \`tributary up\` or npm start runs, call the command in the same folder.`
    )
  if (!isSendable(token ?? ownToken ?? ''))
    throw new Refusal(
      `${token === null ? join(config.dataDir, 'token') : given.token === undefined ? 'TRIBUTARY_TOKEN' : '--token'} is not a token: a token has only visible ASCII characters, and no spaces.`
    )
  if (url !== null && token !== null) return { url, token, provenBy: null }
  if (url !== null) return serverAt(url, config, { ownToken, needsToken })
  // the same text from the environment is the same secret
  const isOwn = token === null || token === ownToken
  return serverHere(config, { token: token ?? ownToken ?? '', isOwn: isOwn && ownToken !== null })
}

/** Whether a header can contain it. */
const isSendable = (token: string): boolean => /^[!-~]*$/.test(token)

/** The token that `tributary up` wrote, or null. */
export function readTokenFile(dataDir: string): string | null {
  try {
    return readFileSync(join(dataDir, 'token'), 'utf8').trim() || null
  } catch {
    return null
  }
}

/** The address of the server that was started with the data folder, once it has proved itself. Throws Refusal. */
export async function findOwnServer(config: Config): Promise<string> {
  const { running, stale } = await lookForServers(config.dataDir)
  if (running === null) throw notRunning(config, stale)
  return running
}

/** The address was given and the token was not, so the file's token goes there if it is the server of the file. */
async function serverAt(
  url: string,
  { dataDir }: Config,
  { ownToken, needsToken }: { ownToken: string | null; needsToken: boolean }
): Promise<Server> {
  const record = readServerRecords(dataDir).find((each) => isSameAddress(each.url, url))
  if (ownToken !== null && record !== undefined) {
    const server = { url: record.url, token: ownToken, provenBy: dataDir }
    await checkConnection(server)
    return server
  }
  if (!needsToken) return { url, token: '', provenBy: null }
  const path = join(dataDir, 'token')
  throw new Refusal(
    `The token in ${path} is only sent to the server that was started with it, and ${new URL(url).origin} is not its address. Leave out --url and TRIBUTARY_URL, or give the token for that server with --token or TRIBUTARY_TOKEN.`
  )
}

/** No address was given: the server that runs with the data folder. */
async function serverHere(
  config: Config,
  { token, isOwn }: { token: string; isOwn: boolean }
): Promise<Server> {
  const { running, stale } = await lookForServers(config.dataDir)
  if (running !== null) return { url: running, token, provenBy: config.dataDir }
  const url = `http://127.0.0.1:${config.port}`
  const impostor = stale.find(({ problem }) => problem instanceof NotOurs)
  if (isOwn) throw impostor?.problem ?? notRunning(config, stale)
  // a token that was given goes to the usual address, unless it is known that somebody else has taken it
  if (impostor !== undefined && isSameOrigin(impostor.url, url)) throw impostor.problem
  return { url, token, provenBy: null }
}

type Stale = { url: string; problem: Refusal }

/** Asks all at once; of several that run, the one that was started first. */
async function lookForServers(dataDir: string): Promise<{ running: string | null; stale: Stale[] }> {
  const found = await Promise.all(
    readServerRecords(dataDir).map(async ({ url }) => {
      try {
        await checkConnection({ url, token: '', provenBy: dataDir })
        return { url, problem: null }
      } catch (error) {
        if (error instanceof Refusal) return { url, problem: error }
        throw error
      }
    })
  )
  return {
    running: found.find(({ problem }) => problem === null)?.url ?? null,
    stale: found.flatMap(({ url, problem }) => (problem === null ? [] : [{ url, problem }]))
  }
}

function notRunning({ dataDir }: Config, stale: readonly Stale[]): Refusal {
  const [last] = stale.toReversed()
  const ended =
    last === undefined
      ? ''
      : last.problem instanceof NotReached
        ? ` The one at ${last.url} has ended.`
        : ` ${last.problem.message}`
  return new Refusal(
    `No server runs with the data folder ${resolve(dataDir)}, to which its token belongs.${ended} Is it started? \`tributary up\`, or npm start in a checkout, starts it; for another server give --url and --token, or TRIBUTARY_URL and TRIBUTARY_TOKEN.`,
    exitCodes.unreachable
  )
}

/** `localhost` is the same address as the one that the server has written. */
function isSameAddress(recorded: string, url: string): boolean {
  const [one, other] = [new URL(recorded), new URL(url)]
  const isLocalhost = other.hostname === 'localhost' && ['127.0.0.1', '[::1]'].includes(one.hostname)
  return (
    one.protocol === other.protocol &&
    one.port === other.port &&
    (one.hostname === other.hostname || isLocalhost) &&
    ['', '/'].includes(other.pathname)
  )
}
