/**
 * A writer that keeps changing the graph, and reads back each change after it is acknowledged. So other
 * reads in that time are fresh because the server makes them fresh, not because nothing changed. A read that
 * misses the write is an error.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFrom, type Random } from '../../test/torture/workload.ts'
import type { Ask } from './ask.ts'
import { changeQuery, faultOf, hopsInput, hopsQuery, mustBeRight, pageOf } from './questions.ts'
import type { Catalog } from './stage.ts'

export type Churned = { writes: number; checkedReads: number }

const pageCount = 10

/** Ends when the signal is aborted, with the graph as it was before. Throws if an answer is wrong. */
export async function churn(
  catalog: Catalog,
  ask: Ask,
  { everyMs, signal, seed }: { everyMs: number; signal: AbortSignal; seed: number }
): Promise<Churned> {
  const random = randomFrom(seed)
  let count = 0
  while (!signal.aborted) {
    const edge = newEdge(catalog, random)
    for (const field of ['edgesToAdd', 'edgesToRemove'] as const) {
      await changeEdges(catalog, ask, field, [edge])
      await checkTwoHops(catalog, ask, edge.downstream)
      count += 1
      await sleep(everyMs)
    }
  }
  return { writes: count, checkedReads: count }
}

/** The result of `work`, and the changes written while it ran. */
export async function whileChurning<Result>(
  catalog: Catalog,
  ask: Ask,
  options: { everyMs: number; seed: number },
  work: () => Promise<Result>
): Promise<{ result: Result; churned: Churned }> {
  const stop = new AbortController()
  const writing = churn(catalog, ask, { ...options, signal: stop.signal })
  try {
    // A wrong answer ends the bench at once.
    const result = await Promise.race([work(), failureOf(writing)])
    stop.abort()
    return { result, churned: await writing }
  } finally {
    stop.abort()
  }
}

export type Edge = { upstream: number; downstream: number }

/** An edge that skips one asset: it changes degrees, but not which assets a start reaches. */
export function newEdge({ graph, oracle }: Catalog, random: Random): Edge {
  for (;;) {
    const upstream = Math.floor(random() * graph.assetCount)
    const { nodes, degrees } = oracle.reach(upstream, 'DOWNSTREAM', 2)
    const begin = degrees.indexOf(2)
    const downstream = begin < 0 ? undefined : nodes[begin + Math.floor(random() * (nodes.length - begin))]
    if (downstream !== undefined) return { upstream, downstream }
  }
}

/** Returns when the change is acknowledged and the oracle has it. */
export async function changeEdges(
  { graph, oracle }: Catalog,
  ask: Ask,
  field: 'edgesToAdd' | 'edgesToRemove',
  edges: readonly Edge[]
): Promise<void> {
  await ask(changeQuery, {
    input: {
      [field]: edges.map(({ upstream, downstream }) => ({
        upstreamUrn: graph.urnOf(upstream),
        downstreamUrn: graph.urnOf(downstream)
      }))
    }
  })
  for (const { upstream, downstream } of edges) {
    if (field === 'edgesToAdd') oracle.add(upstream, downstream)
    else oracle.remove(upstream, downstream)
  }
}

/** The milliseconds of the read. Throws if its answer is wrong. */
export async function checkTwoHops({ graph, oracle }: Catalog, ask: Ask, start: number): Promise<number> {
  const asked = await ask(hopsQuery, hopsInput(graph.urnOf(start), 'UPSTREAM', 2))
  mustBeRight(faultOf(pageOf(asked), graph, oracle.reach(start, 'UPSTREAM', 2), 0, pageCount))
  return asked.ms
}

const failureOf = (work: Promise<unknown>): Promise<never> =>
  new Promise((_resolve, reject) => {
    work.catch(reject)
  })
