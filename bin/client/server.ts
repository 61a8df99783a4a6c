/** The server that the client commands talk to: where it is, and the token to show it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../shared/platform/config.ts'
import { Refusal, exitCodes, reasonOf } from '../failure.ts'

export type Server = { url: string, token: string }

/** Options win over TRIBUTARY_URL and TRIBUTARY_TOKEN, those over the token file and this machine. Throws Refusal. */
export function findServer(config: Config, given: { url: string | undefined, token: string | undefined }): Server {
  const url = given.url ?? config.clientUrl ?? `http://127.0.0.1:${config.port}`
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new Refusal(`--url takes a URL such as https://tributary.example.com, not ${url}.`)
  const token = given.token ?? config.clientToken ?? readTokenFile(config.dataDir)
  if (token === null) {
    throw new Refusal(`A token is needed: give --token or TRIBUTARY_TOKEN (there is no file ${join(config.dataDir, 'token')} either).`)
  }
  return { url, token }
}

/** The token that `npm start` wrote, or null. */
export function readTokenFile(dataDir: string): string | null {
  try {
    return readFileSync(join(dataDir, 'token'), 'utf8').trim() || null
  } catch {
    return null
  }
}

/** The URL of a path on the server, which may lie below a path itself. */
export function urlOn(server: Server, path: string): URL {
  return new URL(path, server.url.endsWith('/') ? server.url : `${server.url}/`)
}

export function headersFor(server: Server): Record<string, string> {
  return { authorization: `Bearer ${server.token}`, 'user-agent': 'tributary-cli' }
}

/** An answer other than success. */
export class ServerRefused extends Refusal {
  readonly status: number

  constructor(status: number, body: string) {
    // a proxy in front of a server that is away answers for it
    super(messageOf(status, body), status === 502 || status === 504 ? exitCodes.unreachable : exitCodes.refused)
    this.name = 'ServerRefused'
    this.status = status
  }
}

export function unreachable(server: Server, error: unknown): Refusal {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return new Refusal(`The server at ${new URL(server.url).origin} does not answer: ${reasonOf(cause)}`, exitCodes.unreachable, { cause: error })
}

/** Reads JSON with GET. Throws ServerRefused, or Refusal where nobody answers. */
export async function getJson(server: Server, path: string): Promise<unknown> {
  return parseJson(server, await getText(server, path))
}

/** Throws Refusal: whoever answers with success and no JSON is somebody else. */
export function parseJson(server: Server, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal(`The server at ${new URL(server.url).origin} does not answer as Tributary does.`, exitCodes.unreachable, { cause: error })
  }
}

const answerMaxMs = 60_000

export async function getText(server: Server, path: string): Promise<string> {
  let response: Response
  let text: string
  try {
    response = await fetch(urlOn(server, path), { headers: headersFor(server), signal: AbortSignal.timeout(answerMaxMs) })
    text = await response.text()
  } catch (error) {
    throw unreachable(server, error)
  }
  if (!response.ok) throw new ServerRefused(response.status, text)
  return text
}

function messageOf(status: number, body: string): string {
  try {
    const problem: unknown = JSON.parse(body)
    if (typeof problem === 'object' && problem !== null && 'code' in problem && 'message' in problem) {
      return `The server refused: ${String(problem.code)}: ${String(problem.message)}`
    }
  } catch {
    // a proxy's page
  }
  return `The server answered with status ${status}.`
}
