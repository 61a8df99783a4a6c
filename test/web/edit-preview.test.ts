/** What the preview of a change of lineage says is what the change does. */
import t from 'tap'
import {
  downstreamOf,
  effectsOf,
  emptyDraft,
  inverseOf,
  keyOfEdge,
  withAdded,
  withRemoved,
  type Draft,
  type Edge
} from '../../web/src/pages/edit-lineage/preview.ts'
import { fc } from '../support/fast-check.ts'

const urns = ['a', 'b', 'c', 'd', 'e', 'f']
const anyEdge: fc.Arbitrary<Edge> = fc.record({
  upstreamUrn: fc.constantFrom(...urns),
  downstreamUrn: fc.constantFrom(...urns)
})
const anyEdges = fc.uniqueArray(anyEdge, { selector: keyOfEdge, maxLength: 14 })

/** By repeated joining, as a plain oracle. */
function reach(start: string, edges: readonly Edge[]): string[] {
  let found = new Set<string>()
  for (;;) {
    const next = new Set(found)
    for (const { upstreamUrn, downstreamUrn } of edges)
      if (upstreamUrn === start || found.has(upstreamUrn)) next.add(downstreamUrn)
    if (next.size === found.size) return [...found].sort()
    found = next
  }
}

const sorted = (values: Iterable<string>): string[] => [...values].sort()

t.test('downstream is everything that edges lead to, through cycles as well', async () => {
  fc.assert(
    fc.property(anyEdges, (edges) => {
      t.strictSame(sorted(downstreamOf('a', edges)), reach('a', edges))
    })
  )
})

t.test('effects are the difference between the assets reached before and after', async () => {
  fc.assert(
    fc.property(anyEdges, fc.array(fc.tuple(fc.boolean(), anyEdge), { maxLength: 6 }), (edges, steps) => {
      let draft: Draft = emptyDraft
      const doesExist = (edge: Edge): boolean => edges.some((each) => keyOfEdge(each) === keyOfEdge(edge))
      let after = [...edges]
      for (const [isAddition, edge] of steps) {
        draft = (isAddition ? withAdded : withRemoved)(draft, edge, doesExist(edge))
        after = after.filter((each) => keyOfEdge(each) !== keyOfEdge(edge))
        if (isAddition) after.push(edge)
      }
      const effects = new Map(effectsOf(edges, draft).map((effect) => [effect.of, effect]))
      for (const start of new Set([...draft.added, ...draft.removed].map((edge) => edge.upstreamUrn))) {
        const [was, is] = [reach(start, edges), reach(start, after)]
        t.strictSame(
          sorted(effects.get(start)?.gained ?? []),
          is.filter((urn) => !was.includes(urn))
        )
        t.strictSame(
          sorted(effects.get(start)?.lost ?? []),
          was.filter((urn) => !is.includes(urn))
        )
      }
    })
  )
})

t.test('an edge that exists and is removed and added again is not part of the change', async () => {
  const edge = { upstreamUrn: 'a', downstreamUrn: 'b' }
  t.strictSame(withAdded(withRemoved(emptyDraft, edge, true), edge, true), emptyDraft)
  t.strictSame(withRemoved(withAdded(emptyDraft, edge, false), edge, false), emptyDraft)
  t.strictSame(inverseOf({ added: [edge], removed: [] }), { added: [], removed: [edge] })
})
