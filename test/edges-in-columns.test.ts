/**
 * Edges applied in columns have the same effect as edges applied record by record, whatever the catalog
 * contains.
 */
import t from 'tap'
import { createEdgeGatherer } from '../shared/catalog/loads/edge-gatherer.ts'
import { idsOf, packEdges, type EdgeBatch } from '../shared/catalog/write/edge-payload.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { createPlainEdgeReader } from '../shared/formats/plain-edges.ts'
import { UrnPacker } from '../shared/urn/packed-urns.ts'
import { addEdge, chart, dataset, job, removeEdge } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { anyColumnEdgeLoad, anyEdgeLoad, type EdgeLoad, type Happening } from './support/edge-catalogs.ts'
import { casesOf, fc } from './support/fast-check.ts'
import { compareWays, linesApart } from './support/two-ways.ts'

function gathered(lines: readonly string[], firstLine: number): EdgeBatch {
  const read = createPlainEdgeReader()
  const gatherer = createEdgeGatherer()
  lines.forEach((text, at) => {
    const edge = read(text, firstLine + at * linesApart)
    if (!edge) throw new Error(`not read as a plain edge: ${text}`)
    gatherer.add(edge)
  })
  return gatherer.take().batch
}

/** With only the URNs that are still ends. */
function withoutUnused(batch: EdgeBatch): EdgeBatch {
  const packer = new UrnPacker()
  const placed = (ends: Int32Array): Int32Array =>
    ends.map((end) => (end < 0 ? end : packer.placeOf(batch.urns.at(end))))
  const [upstreams, downstreams] = [placed(batch.upstreams), placed(batch.downstreams)]
  return { ...batch, upstreams, downstreams, urns: packer.packed() }
}

let idsCount = 0

/**
 * Stored as by a process that knows the id of every second dataset, including deleted ones and placeholders.
 */
async function packWithIds(lines: readonly string[], firstLine: number, db: Db): Promise<Buffer> {
  const batch = gathered(lines, firstLine)
  const rows = await query<{ id: number; urn: string }>(
    db,
    "select id, urn from entity where entity_type = 'dataset'"
  )
  const idOf = new Map(rows.map(({ id, urn }) => [urn, id]))
  const numbered = (ends: Int32Array): Int32Array =>
    ends.map((place, at) =>
      at % 2 === 0 && idOf.has(batch.urns.at(place)) ? -(idOf.get(batch.urns.at(place)) ?? 0) : place
    )
  const withIds = withoutUnused({
    ...batch,
    upstreams: numbered(batch.upstreams),
    downstreams: numbered(batch.downstreams)
  })
  idsCount += idsOf(withIds.upstreams, withIds.downstreams).length
  return packEdges(withIds)
}

const packAsEdges = (lines: readonly string[], firstLine: number): Promise<Buffer> =>
  packEdges(gathered(lines, firstLine))

for (const [kind, loads] of [
  ['assets', anyEdgeLoad],
  ['columns', anyColumnEdgeLoad]
] as const)
  t.test(`whatever the catalog is, edges between ${kind} leave the same behind`, async (t) => {
    const { db } = await withDatabase(t)
    // The chunks of the other load have numbers of their own.
    await query(db, 'alter table chunk alter column id restart with 1000000')
    let changedCount = 0
    await fc.assert(
      fc.asyncProperty(loads, fc.boolean(), async (load, byIds) => {
        const { differences, hasChanged } = await compareWays(db, load, byIds ? packWithIds : packAsEdges)
        if (differences.length > 0) throw new Error(differences.join('\n'))
        if (hasChanged) changedCount += 1
      }),
      { numRuns: casesOf(120), interruptAfterTimeLimit: 240_000 }
    )
    t.ok(changedCount > 10, 'loads that change something are among them')
    t.ok(idsCount > 10, 'and edges that are given by ids')
  })

t.test(
  'when two lines remove an edge, the second counts if the load stated the edge in between',
  async (t) => {
    const { db } = await withDatabase(t)
    const [upstreamUrn, downstreamUrn] = [dataset('a'), dataset('b')]
    const stated = (by: Happening['by'], source: string): Happening => ({
      by,
      source,
      creates: true,
      changes: () => [addEdge(upstreamUrn, downstreamUrn)],
      [fc.toStringMethod]: () => by
    })
    const line = JSON.stringify({ op: 'removeEdge', upstreamUrn, downstreamUrn })
    const load: EdgeLoad = {
      present: [upstreamUrn, downstreamUrn],
      before: [stated('call', 'other')],
      meanwhile: [stated('own load', 'etl')],
      chunks: [[line, line, line]],
      mode: 'merge',
      missingReferences: 'reject',
      isDestructive: true,
      isLast: false,
      isLimited: false
    }
    t.match(await compareWays(db, load, packAsEdges), { differences: { length: 0 }, hasChanged: true })
  }
)

t.test(
  'what a load adds, removes and adds again is the same in columns, whatever types stand side by side',
  async (t) => {
    const { db } = await withDatabase(t)
    const pairs = [
      [dataset('a'), dataset('b')],
      [dataset('a'), job('j')],
      [job('j'), dataset('c')],
      [dataset('c'), chart('d')]
    ]
    const lines = (op: string): string[] =>
      pairs.map(([upstreamUrn, downstreamUrn]) => JSON.stringify({ op, upstreamUrn, downstreamUrn }))
    const load: EdgeLoad = {
      present: [...new Set(pairs.flat())],
      before: [],
      meanwhile: [],
      chunks: [lines('addEdge'), lines('removeEdge'), lines('addEdge'), lines('removeEdge')],
      mode: 'merge',
      missingReferences: 'create',
      isDestructive: true,
      isLast: false,
      isLimited: false
    }
    t.match(await compareWays(db, load, packAsEdges), { differences: { length: 0 }, hasChanged: true })
  }
)

t.test('an edge makes its aspect exist even if the edge has been removed since', async (t) => {
  const { db } = await withDatabase(t)
  const [upstreamUrn, downstreamUrn] = [dataset('a'), dataset('b')]
  const removed: Happening = {
    by: 'newer load',
    source: 'other',
    creates: true,
    changes: () => [removeEdge(upstreamUrn, downstreamUrn)],
    [fc.toStringMethod]: () => 'removed'
  }
  const load: EdgeLoad = {
    present: [upstreamUrn, downstreamUrn],
    before: [],
    meanwhile: [removed],
    chunks: [[JSON.stringify({ upstreamUrn, downstreamUrn })]],
    mode: 'merge',
    missingReferences: 'reject',
    isDestructive: true,
    isLast: false,
    isLimited: false
  }
  t.match(await compareWays(db, load, packAsEdges), { differences: { length: 0 }, hasChanged: true })
})

t.test('the audit trail names the owner of an edge that was to be removed and never existed', async (t) => {
  const { db } = await withDatabase(t)
  const load: EdgeLoad = {
    present: [],
    before: [],
    meanwhile: [],
    chunks: [[JSON.stringify({ op: 'removeEdge', upstreamUrn: dataset('a'), downstreamUrn: dataset('b') })]],
    mode: 'merge',
    missingReferences: 'create',
    isDestructive: false,
    isLast: true,
    isLimited: false
  }
  t.match(await compareWays(db, load, packAsEdges), { differences: { length: 0 } })
})
