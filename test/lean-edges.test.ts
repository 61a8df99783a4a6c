/** The lean way of applying plain edges does what the general way does, whatever it finds and whoever is beside it. */
import fc from 'fast-check'
import t from 'tap'
import { createEdgeGatherer, packEdges } from '../shared/catalog/edge-payload.ts'
import { query } from '../shared/db/query.ts'
import { createPlainEdgeReader } from '../shared/formats/plain-edges.ts'
import { withDatabase } from './support/database.ts'
import { anyEdgeLoad } from './support/edge-catalogs.ts'
import { compareWays } from './support/two-ways.ts'

function packAsEdges(lines: readonly string[], firstLine: number): Promise<Buffer> {
  const read = createPlainEdgeReader()
  const gatherer = createEdgeGatherer()
  lines.forEach((text, at) => {
    const edge = read(text, firstLine + at)
    if (!edge) throw new Error(`not read as a plain edge: ${text}`)
    gatherer.add(edge)
  })
  return packEdges(gatherer.take().batch)
}

t.test('whatever the catalog is, what is left behind is the same', async (t) => {
  const { db } = await withDatabase(t)
  // The chunks that are played beside have numbers of their own.
  await query(db, 'alter table chunk alter column id restart with 1000000')
  let changedCount = 0
  await fc.assert(fc.asyncProperty(anyEdgeLoad, async (load) => {
    const { differences, hasChanged } = await compareWays(db, load, packAsEdges)
    if (differences.length > 0) throw new Error(differences.join('\n'))
    if (hasChanged) changedCount += 1
  }), { numRuns: 40, interruptAfterTimeLimit: 240_000 })
  t.ok(changedCount > 10, 'loads that change something are among them')
})
