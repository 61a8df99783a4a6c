/** Loads as a client sends and follows them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { JsonObject } from '../../../shared/model/changes.ts'
import { isTerminal, readLoad, type Api, type LoadState } from '../../torture/catalog-calls.ts'

/** Only for a load that never ends: how long one takes depends on the machine. */
const doneMaxMs = 300_000

export const lines = (records: readonly JsonObject[]): string[] =>
  records.map((record) => `${JSON.stringify(record)}\n`)

/** The load at its end, which must be `done`. Waits for a server that is unreachable for a while. */
export async function untilDone(t: Test, api: Api, id: string): Promise<LoadState> {
  for (const giveUpAt = Date.now() + doneMaxMs; ;) {
    const load = await readLoad(api, id).catch(() => null)
    if (load !== null && (isTerminal(load) || Date.now() > giveUpAt)) {
      t.equal(load.state, 'done', JSON.stringify(load))
      return load
    }
    if (Date.now() > giveUpAt) throw new Error(`the load ${id} cannot be read`)
    await sleep(50)
  }
}

/** `count` tables in a chain, each created and linked to the previous one: 2 * count - 1 records. */
export function chain(name: string, count: number): JsonObject[] {
  const table = (index: number): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name}.t${index},PROD)`
  return [
    ...Array.from({ length: count }, (_, index): JsonObject => ({ op: 'upsertEntity', urn: table(index) })),
    ...Array.from({ length: count - 1 }, (_, index): JsonObject => ({
      upstreamUrn: table(index),
      downstreamUrn: table(index + 1)
    }))
  ]
}

/** The counts of a chain that was applied completely. */
export function chainCounts(count: number): LoadState['counts'] {
  return { received: 2 * count - 1, applied: 2 * count - 1, unchanged: 0, rejected: 0 }
}
