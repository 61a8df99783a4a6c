/** The API of `npm start`, which uses the next port if the usual one is taken. */
import { startApi } from '../api/start.ts'
import { exitCodes, Refusal } from '../bin/failure.ts'
import type { Config } from '../shared/platform/config.ts'
import { createService, type Service } from '../shared/platform/lifecycle.ts'
import type { Log } from '../shared/platform/log.ts'

const portsTriedCount = 20

/** `url` is its address on this machine, once it has started. */
export type MovingApi = Service & { url(): string }

/**
 * Starting throws Refusal (exit code 78) if the port is taken and must not change, or all tried ports are
 * taken.
 */
export function startApiOnFreePort(config: Config, log: Log, { mayMove }: { mayMove: boolean }): MovingApi {
  const last = mayMove ? config.port + portsTriedCount - 1 : config.port
  let running: ReturnType<typeof startApi> | undefined

  async function start(): Promise<void> {
    for (let port = config.port; port <= last; port += 1) {
      const api = startApi({ ...config, port }, log)
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
      await running?.stop()
    }
  })
  return { ...service, url: () => reachable(running?.url() ?? '') }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

/** The local address of a server that listens on every address. */
function reachable(url: string): string {
  return url.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, '//127.0.0.1')
}
