/** How a process starts its services in order, and stops them in reverse within one deadline. */
import { constants } from 'node:os'
import type { Log } from './log.ts'

/** Something long-lived. `stop` may be called twice, and before `start`. */
export type Service = { readonly name: string; start(): Promise<void>; stop(): Promise<void> }

/** What a service is made of: `start` is called at most once, `stop` at most once and only after `start` was called. */
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
  /** From the first signal to the forced end of the process. */
  shutdownMs: number
  /** Ends the process with 1 when it settles: something that the services need is gone. */
  failed?: Promise<unknown>
  /** Where signals come from and how the process ends; a test gives its own. */
  host?: ProcessHost
}

type ProcessEvent = 'SIGINT' | 'SIGTERM' | 'unhandledRejection' | 'uncaughtException'

/** The part of `process` that the lifecycle needs. */
export type ProcessHost = {
  on(event: ProcessEvent, listener: (reason: unknown) => void): unknown
  exit(code: number): void
}

/** Starts the services in order. When one fails, `onFailure` is called, those before it are stopped and its error is thrown. */
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

/** Stops the services in reverse order; one that fails does not keep the others from stopping. Returns the failures. */
export async function stopServices(services: readonly Service[]): Promise<unknown[]> {
  const failures: unknown[] = []
  for (const service of services.toReversed()) {
    await service.stop().catch((error: unknown) => failures.push(error))
  }
  return failures
}

/**
 * Runs services as a process: resolves with true once all have started, with false if a signal came before and the process
 * is ending. SIGINT or SIGTERM stops them and ends the process with 0; a second signal, or `shutdownMs`, ends it at once with 1.
 * An error that nobody handles is logged and ends it with 1. Throws the error of the service that did not start; whatever its
 * clean-up ends is then no news.
 */
export async function runServices(services: readonly Service[], options: RunOptions): Promise<boolean> {
  const { log, shutdownMs, failed, host = process } = options
  let isStopping = false
  // What has been stopped refuses to start, so a signal makes the start fail; that failure is not the reason to show.
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
