/** The API of `npm start`, which uses the next port if the usual one is taken, and records its address beside the token. */
import type { AddressInfo } from 'node:net'
import { startApi } from '../api/start.ts'
import { exitCodes, reasonOf, Refusal } from '../bin/failure.ts'
import type { Config } from '../shared/platform/config.ts'
import { newSecret } from '../shared/platform/instance-proof.ts'
import { createService, type Service } from '../shared/platform/lifecycle.ts'
import type { Log } from '../shared/platform/log.ts'
import {
  readServerRecords,
  removeServerRecord,
  writeServerRecord,
  type ServerRecord
} from '../shared/platform/server-records.ts'

const portsTriedCount = 20

export type MovingApi = Service & {
  /** Its address on this machine, once it has started. */
  url(): string
  /** Why the address could not be recorded, so that commands do not find the server; null if it was. */
  recordProblem(): string | null
}

/**
 * Starting throws Refusal (exit code 78) if the port is taken and must not change, or all tried ports are
 * taken.
 */
export function startApiOnFreePort(config: Config, log: Log, { mayMove }: { mayMove: boolean }): MovingApi {
  const last = mayMove ? config.port + portsTriedCount - 1 : config.port
  const key = newSecret()
  let running: ReturnType<typeof startApi> | undefined
  let record: ServerRecord | undefined
  let problem: string | null = null

  /** Before the first request is answered, so that who finds the server ready also finds its record. */
  function onListening(address: AddressInfo): void {
    record = { url: urlHere(address), key, startedAt: new Date().toISOString() }
    try {
      writeServerRecord(config.dataDir, record)
      if (!readServerRecords(config.dataDir).some((each) => each.key === key)) problem = untrusted
    } catch (error) {
      problem = reasonOf(error)
    }
  }

  async function start(): Promise<void> {
    for (let port = config.port; port <= last; port += 1) {
      const api = startApi({ ...config, port }, log, { key, onListening })
      try {
        await api.start()
        running = api
        return
      } catch (error) {
        await api.stop()
        if (!isTaken(error)) throw error
      }
    }
    const tried = mayMove
      ? `The ports ${config.port} to ${last} are all in use`
      : `The port ${config.port} is in use`
    throw new Refusal(`${tried}. Name another with PORT.`, exitCodes.config)
  }

  const service = createService('api', {
    start,
    stop: async () => {
      // while the port is still ours, because the next server at this address has the same file
      if (record !== undefined) removeServerRecord(config.dataDir, record)
      await running?.stop()
    }
  })
  return { ...service, url: () => record?.url ?? '', recordProblem: () => problem }
}

/** On a file system without permissions, as of Windows, or beside a token of another user. */
const untrusted = 'its file would not be for the owner of the token only'

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

/** The address for clients on this machine, also of a server that listens on every address. */
function urlHere({ address, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
