/** Walks: the same degrees whichever way edges came in and whichever way they are read; filters, pages, bounds. */
import fc from 'fast-check'
import t from 'tap'
import { graphCases, naiveDegrees, randomGraph } from './cases/graphs.ts'
import { degreeReaders, doors, edgesOf, inOrder, urnDegrees, urnEdges, urnOfName } from './support/graph.ts'
import { withServer } from './support/server.ts'

const randomGraphCount = 500

t.test('degrees of known graphs', async (t) => {
  const server = await withServer(t, { withWorker: true })
  for (const door of doors) {
    for (const [index, graph] of graphCases.entries()) {
      await t.test(`${graph.name}, written through ${door.name}, has these degrees`, async (t) => {
        const namespace = `${door.name.replaceAll(' ', '_')}_${index}`
        await door.write(server, urnEdges(edgesOf(graph.edges), namespace))
        for (const { from, direction, expected, folded } of graph.walks) {
          const start = urnOfName(from, namespace)
          for (const reader of degreeReaders) {
            t.strictSame(inOrder(await reader.read(server, start, direction, true)), inOrder(urnDegrees(expected, namespace)), `${direction} from ${from} by ${reader.name}`)
          }
          if (folded) t.strictSame(inOrder(await degreeReaders[1]?.read(server, start, direction, false) ?? new Map()), inOrder(urnDegrees(folded, namespace)), `${from} folded to assets`)
        }
      })
    }
  }
})

t.test('degrees of random graphs', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const seed = Number(process.env.TRIBUTARY_TEST_SEED ?? Date.now() % 1_000_000)
  const graphs = fc.sample(randomGraph, { numRuns: randomGraphCount, seed })
  for (const door of doors) {
    await t.test(`${randomGraphCount} random graphs, written through ${door.name}, have the degrees of a naive oracle`, async (t) => {
      const namespaceOf = (index: number): string => `${door.name.replaceAll(' ', '_')}_r${index}`
      await door.write(server, graphs.flatMap(({ edges }, index) => urnEdges(edges, namespaceOf(index))))
      const wrong: unknown[] = []
      for (const [index, { edges, from, direction }] of graphs.entries()) {
        // A start that no edge names was never written.
        if (!edges.some((edge) => edge.includes(from))) continue
        const expected = inOrder(urnDegrees(naiveDegrees(edges, from, direction), namespaceOf(index)))
        for (const reader of degreeReaders) {
          const found = inOrder(await reader.read(server, urnOfName(from, namespaceOf(index)), direction, true))
          if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push({ seed, reader: reader.name, from, direction, edges: edges.map((edge) => edge.join(' -> ')).join('; '), found, expected })
        }
      }
      t.strictSame(wrong.slice(0, 3), [], `seed ${seed}`)
    })
  }
})
