/**
 * The expected content of the catalog: all accepted changes folded in their order, without the catalog's
 * code.
 */
import { isAt, type Edge } from './workload.ts'

export type AcceptedChange =
  { op: 'add'; edge: Edge; source: string } | { op: 'remove'; edge: Edge } | { op: 'delete'; urn: string }

/** What was accepted as one unit: a load, whose changes are in the order of its lines, or a call. */
export type Accepted = { seq: number; changes: Iterable<AcceptedChange> }

export const edgeText = (edge: Edge): string => `${edge.upstreamUrn} -> ${edge.downstreamUrn}`

/** Each edge with the sources that state it. */
export function foldAccepted(accepted: readonly Accepted[]): Map<string, Set<string>> {
  const stated = new Map<string, { edge: Edge; sources: Set<string> }>()
  for (const { changes } of accepted.toSorted((a, b) => a.seq - b.seq)) {
    for (const change of changes) {
      if (change.op === 'delete') {
        for (const [key, { edge }] of stated) if (isAt(edge, change.urn)) stated.delete(key)
        continue
      }
      const key = edgeText(change.edge)
      if (change.op === 'remove') {
        stated.delete(key)
        continue
      }
      const entry = stated.get(key) ?? { edge: change.edge, sources: new Set<string>() }
      stated.set(key, { edge: entry.edge, sources: entry.sources.add(change.source) })
    }
  }
  return new Map([...stated].map(([key, { sources }]) => [key, sources]))
}

/** The edges in which two results differ, as text. */
export function differences(expected: Map<string, Set<string>>, actual: Map<string, Set<string>>): string[] {
  const show = (sources: Set<string> | undefined) => [...(sources ?? [])].sort().join('+') || 'none'
  return [...new Set([...expected.keys(), ...actual.keys()])]
    .filter((key) => show(expected.get(key)) !== show(actual.get(key)))
    .map((key) => `${key}: expected ${show(expected.get(key))}, found ${show(actual.get(key))}`)
}
