/**
 * Gathers the keys that fields of a request load, across all types, into one call, and remembers the values
 * until the request ends.
 *
 * Mercurius' own loaders are per type and field: a page of mixed entities would need a call for each type.
 * They also do not work for documents that are not cached.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { GraphqlContext } from './context.ts'

type Waiting<Value> = { key: string; resolve: (value: Value) => void; reject: (error: unknown) => void }
type Requested<Value> = { known: Map<string, Promise<Value>>; waiting: Waiting<Value>[]; isLoading: boolean }

/** Keys of one load: a larger load would hold up the event loop. */
const keysPerLoadMaxCount = 250
/** Values handed over in one turn of the event loop. */
const valuesPerTurn = 10

export type Batched<Value> = (context: GraphqlContext, key: string) => Promise<Value>

/**
 * `loadMany` answers keys in their order. The returned function loads one key, together with all others
 * requested at the same time. Each load counts against the request's budget, even if the value is known:
 * throws QUERY_TOO_COMPLEX.
 */
export function batched<Value>(
  loadMany: (keys: readonly string[], context: GraphqlContext) => Promise<readonly Value[]>
): Batched<Value> {
  const requests = new WeakMap<GraphqlContext, Requested<Value>>()

  /**
   * One load at a time, so that a request does not take all connections. Keys requested meanwhile are loaded
   * next.
   */
  async function loadAll(context: GraphqlContext, requested: Requested<Value>): Promise<void> {
    while (requested.waiting.length > 0) await load(context, requested.waiting.splice(0, keysPerLoadMaxCount))
    requested.isLoading = false
  }

  async function load(context: GraphqlContext, waiting: readonly Waiting<Value>[]): Promise<void> {
    try {
      const values = await loadMany(
        waiting.map(({ key }) => key),
        context
      )
      if (values.length !== waiting.length)
        throw new Error(`${waiting.length} keys were asked for, ${values.length} answered`)
      for (const [index, value] of values.entries()) {
        waiting[index]?.resolve(value)
        // A value may be shown many times, and all fields that wait for it continue at once.
        if ((index + 1) % valuesPerTurn === 0) await nextTurn()
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  return (context, key) => {
    context.budget.spendReads(1)
    const requested: Requested<Value> = requests.get(context) ?? {
      known: new Map(),
      waiting: [],
      isLoading: false
    }
    requests.set(context, requested)
    const known = requested.known.get(key)
    if (known) return known
    // Fields of one level are resolved in one turn of the event loop or in its promises. In the next turn,
    // all have requested their keys.
    if (!requested.isLoading) {
      requested.isLoading = true
      void Promise.resolve().then(() => process.nextTick(() => void loadAll(context, requested)))
    }
    const promise = new Promise<Value>((resolve, reject) => requested.waiting.push({ key, resolve, reject }))
    requested.known.set(key, promise)
    return promise
  }
}
