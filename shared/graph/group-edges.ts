/** Puts the edge changes of a batch together by id, with what cancels itself out left away. */
import type { GraphDelta } from '../statements/graph-delta.ts'
import type { Pause } from './turns.ts'

const changesPerLook = 1_024

export type ListChange = { added: number[]; removed: number[] }

export type GroupedEdges = {
  /** What is added to and removed from the list of each upstream, and of each downstream. */
  downstreamOf: Map<number, ListChange>
  upstreamOf: Map<number, ListChange>
  /** How many edges more there are now. */
  balance: number
}

/** In slices, except for one look at the kinds: a transaction may have changed a million. */
export async function groupEdges(deltas: readonly GraphDelta[], pause: Pause): Promise<GroupedEdges> {
  const grouped: GroupedEdges = { downstreamOf: new Map(), upstreamOf: new Map(), balance: 0 }
  // As loads mostly are: nothing to be balanced, which takes half of the time.
  const onlyAdds = !deltas.some(({ kind }) => kind === 'unstated')
  return onlyAdds
    ? groupAdded(deltas, grouped, pause)
    : groupBalances(await balancesOf(deltas, pause), grouped, pause)
}

async function groupAdded(
  deltas: readonly GraphDelta[],
  grouped: GroupedEdges,
  pause: Pause
): Promise<GroupedEdges> {
  for (const [index, delta] of deltas.entries()) {
    if (index % changesPerLook === 0) await pause()
    if (delta.kind !== 'stated') continue
    changeOf(grouped.downstreamOf, delta.upstreamId).added.push(delta.downstreamId)
    changeOf(grouped.upstreamOf, delta.downstreamId).added.push(delta.upstreamId)
    grouped.balance += 1
  }
  return grouped
}

/** The change in the number of statements of each edge, by upstream and downstream. */
async function balancesOf(
  deltas: readonly GraphDelta[],
  pause: Pause
): Promise<Map<number, Map<number, number>>> {
  const balances = new Map<number, Map<number, number>>()
  for (const [index, delta] of deltas.entries()) {
    if (index % changesPerLook === 0) await pause()
    if (delta.kind !== 'stated' && delta.kind !== 'unstated') continue
    let ofUpstream = balances.get(delta.upstreamId)
    if (!ofUpstream) balances.set(delta.upstreamId, (ofUpstream = new Map()))
    ofUpstream.set(
      delta.downstreamId,
      (ofUpstream.get(delta.downstreamId) ?? 0) + (delta.kind === 'stated' ? 1 : -1)
    )
  }
  return balances
}

async function groupBalances(
  balances: ReadonlyMap<number, ReadonlyMap<number, number>>,
  grouped: GroupedEdges,
  pause: Pause
): Promise<GroupedEdges> {
  let count = 0
  for (const [upstreamId, ofUpstream] of balances) {
    for (const [downstreamId, balance] of ofUpstream) {
      if ((count += 1) % changesPerLook === 0) await pause()
      const list = balance > 0 ? 'added' : 'removed'
      for (let times = Math.abs(balance); times > 0; times -= 1) {
        changeOf(grouped.downstreamOf, upstreamId)[list].push(downstreamId)
        changeOf(grouped.upstreamOf, downstreamId)[list].push(upstreamId)
      }
      grouped.balance += balance
    }
  }
  return grouped
}

function changeOf(changes: Map<number, ListChange>, id: number): ListChange {
  let change = changes.get(id)
  if (!change) changes.set(id, (change = { added: [], removed: [] }))
  return change
}
