/**
 * Gathers what the fields of one request ask for, across all types, into one call; remembered until the request ends.
 *
 * Mercurius' own loaders are per type and field, so a page of mixed entities would ask once for each type, and they are
 * not there for documents that are executed without being kept.
 */
import type { GraphqlContext } from './context.ts'
import { spendReads } from './read-budget.ts'

type Waiting<Value> = { key: string, resolve: (value: Value) => void, reject: (error: unknown) => void }
type Requested<Value> = { known: Map<string, Promise<Value>>, waiting: Waiting<Value>[] }

export type Batched<Value> = (context: GraphqlContext, key: string) => Promise<Value>

/**
 * `loadMany` answers keys in their order. The result loads one key, together with all others asked for at the same time.
 * Each load takes from the request's budget, also of what is known: throws QUERY_TOO_COMPLEX.
 */
export function batched<Value>(loadMany: (keys: readonly string[], context: GraphqlContext) => Promise<readonly Value[]>): Batched<Value> {
  const requests = new WeakMap<GraphqlContext, Requested<Value>>()

  async function dispatch(context: GraphqlContext, waiting: readonly Waiting<Value>[]): Promise<void> {
    try {
      const values = await loadMany(waiting.map(({ key }) => key), context)
      if (values.length !== waiting.length) throw new Error(`${waiting.length} keys were asked for, ${values.length} answered`)
      for (const [index, value] of values.entries()) waiting[index]?.resolve(value)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  return (context, key) => {
    spendReads(context, 1)
    const requested: Requested<Value> = requests.get(context) ?? { known: new Map(), waiting: [] }
    requests.set(context, requested)
    const known = requested.known.get(key)
    if (known) return known
    // Fields of one level are resolved in one go, or as promises of one go: after those, all have asked.
    if (requested.waiting.length === 0) {
      void Promise.resolve().then(() => process.nextTick(() => void dispatch(context, requested.waiting.splice(0))))
    }
    const promise = new Promise<Value>((resolve, reject) => requested.waiting.push({ key, resolve, reject }))
    requested.known.set(key, promise)
    return promise
  }
}
