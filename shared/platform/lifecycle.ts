/** Starts the services of a process in order, and stops them in reverse order before one deadline. */
import { constants } from 'node:os'
import type { Config } from './config.ts'
import type { Log } from './log.ts'

/** A long-lived part of a process. `stop` may be called twice, and before `start`. */
export type Service = { readonly name: string; start(): Promise<void>; stop(): Promise<void> }

/** The functions of a service. Each is called at most once, and `stop` only after `start`. */
type ServiceParts = { start: () => Promise<void>; stop: () => Promise<void> }

/** Makes a service that may be stopped twice, or before it has started. A stop during the start waits for the start. */
export function createService(name: string, parts: ServiceParts): Service {
  let started: Promise<void> | undefined
  let stopped: Promise<void> | undefined
  async function stopOnce(starting: Promise<void> | undefined): Promise<void> {
    if (starting === undefined) return
    await starting.catch(() => {})
    await parts.stop()
  }
  return {
    name,
    start() {
      if (stopped !== undefined) return Promise.reject(new Error(`${name} has been stopped`))
      started ??= parts.start()
      return started
    },
    stop() {
      stopped ??= stopOnce(started)
      return stopped
    }
  }
}

export type RunOptions = {
  log: Log
  /** The time from the first signal until the process is forced to exit. */
  shutdownMs: number
  /** If it settles, the process exits with 1, because something that the services need is gone. */
  failed?: Promise<unknown>
  /** Where signals come from and how the process exits. Tests pass their own. */
  host?: ProcessHost
}

type ProcessEvent = 'SIGINT' | 'SIGTERM' | 'unhandledRejection' | 'uncaughtException'

/** The part of `process` that the lifecycle needs. */
export type ProcessHost = {
  on(event: ProcessEvent, listener: (reason: unknown) => void): unknown
  exit(code: number): void
}

/**
 * Starts the services in order. If one fails, calls `onFailure`, stops those before it, and throws its error.
 */
export async function startServices(
  services: readonly Service[],
  onFailure: () => void = () => {}
): Promise<void> {
  for (const [index, service] of services.entries()) {
    try {
      await service.start()
    } catch (error) {
      onFailure()
      await stopServices(services.slice(0, index + 1))
      throw error
    }
  }
}

/**
 * Stops the services in reverse order. If one fails, the others are stopped nevertheless. Returns the
 * failures.
 */
export async function stopServices(services: readonly Service[]): Promise<unknown[]> {
  const failures: unknown[] = []
  for (const service of services.toReversed()) {
    await service.stop().catch((error: unknown) => failures.push(error))
  }
  return failures
}

/** The time from the first signal until the process is forced to exit. */
export const shutdownMsOf = (config: Pick<Config, 'shutdownSeconds' | 'shutdownDelaySeconds'>): number =>
  (config.shutdownSeconds + config.shutdownDelaySeconds) * 1_000

/**
 * Runs services as a process. Resolves with true when all have started; with false if a signal came earlier
 * and the process is exiting. SIGINT or SIGTERM stops the services and exits with 0. A second signal exits at
 * once with 128 plus its number, and an expired `shutdownMs` with 1. An unhandled error is logged, and the
 * process exits with 1. Throws the error of a service that does not start; later errors while the others stop
 * are ignored.
 */
export async function runServices(services: readonly Service[], options: RunOptions): Promise<boolean> {
  const { log, shutdownMs, failed, host = process } = options
  let isStopping = false
  // A stopped service refuses to start, so a signal makes the start fail. That failure is not reported.
  let isSignalled = false

  async function shutDown(code: number): Promise<void> {
    isStopping = true
    const deadline = setTimeout(() => {
      log.error({ shutdownMs }, 'the deadline of the shutdown has passed')
      host.exit(1)
    }, shutdownMs)
    const failures = await stopServices(services)
    for (const err of failures) log.error({ err }, 'a service did not stop cleanly')
    clearTimeout(deadline)
    log.info('stopped')
    host.exit(failures.length > 0 ? 1 : code)
  }

  function onSignal(signal: unknown): void {
    if (isStopping) {
      log.warn({ signal }, 'stopping at once on the second signal')
      host.exit(128 + signalNumber(signal))
      return
    }
    log.info({ signal }, 'stopping')
    isSignalled = true
    void shutDown(0)
  }

  function onFatal(err: unknown): void {
    log.fatal({ err }, 'an error that nobody handled')
    if (isStopping) host.exit(1)
    else void shutDown(1)
  }

  host.on('SIGINT', onSignal)
  host.on('SIGTERM', onSignal)
  host.on('unhandledRejection', onFatal)
  host.on('uncaughtException', onFatal)
  void failed
    ?.then(
      (reason) => reason,
      (reason: unknown) => reason
    )
    .then((reason) => {
      if (isStopping) return
      log.fatal({ err: reason }, 'something that the process needs has ended')
      void shutDown(1)
    })
  try {
    await startServices(services, () => {
      isStopping = true
    })
  } catch (error) {
    if (!isSignalled) throw error
  }
  return !isStopping
}

function signalNumber(signal: unknown): number {
  return signal === 'SIGTERM' ? constants.signals.SIGTERM : constants.signals.SIGINT
}
