/** The signals by which a person or a scheduler stops a client: Ctrl-C, SIGTERM. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../failure.ts'

const exitCodesOfSignals: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 }

/** Ends the command with the exit code that shells expect after a signal. */
export class Interrupted extends Refusal {
  constructor(signal: NodeJS.Signals) {
    super('Interrupted.', exitCodesOfSignals[signal])
    this.name = 'Interrupted'
  }
}

/** Aborted, with Interrupted as its reason, at the first signal; a second signal ends the process. */
export function listenForInterruption(): AbortSignal {
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      stopped.abort(new Interrupted(signal))
    })
  return stopped.signal
}

/** Throws the signal's reason if it is aborted meanwhile. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {})
  signal?.throwIfAborted()
}
