/** Puts the edge changes of a batch together by id, with what cancels itself out left away. */
import type { GraphDelta } from '../model/graph-delta.ts'

export type ListChange = { added: number[], removed: number[] }

export type GroupedEdges = {
  /** What is added to and removed from the list of each upstream, and of each downstream. */
  downstreamOf: Map<number, ListChange>
  upstreamOf: Map<number, ListChange>
  /** How many edges more there are now. */
  balance: number
}

export function groupEdges(deltas: readonly GraphDelta[]): GroupedEdges {
  const balances = new Map<number, Map<number, number>>()
  for (const delta of deltas) {
    if (delta.kind !== 'stated' && delta.kind !== 'unstated') continue
    let ofUpstream = balances.get(delta.upstreamId)
    if (!ofUpstream) balances.set(delta.upstreamId, ofUpstream = new Map())
    ofUpstream.set(delta.downstreamId, (ofUpstream.get(delta.downstreamId) ?? 0) + (delta.kind === 'stated' ? 1 : -1))
  }
  const grouped: GroupedEdges = { downstreamOf: new Map(), upstreamOf: new Map(), balance: 0 }
  for (const [upstreamId, ofUpstream] of balances) {
    for (const [downstreamId, balance] of ofUpstream) {
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
  if (!change) changes.set(id, change = { added: [], removed: [] })
  return change
}
