/**
 * Loads the lineage graph from one snapshot of the database, without delaying other requests of the process.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { domainDocumentMaxBytes } from '../../graph/domain-documents.ts'
import { LineageGraph } from '../../graph/lineage-graph.ts'
import type { Pause } from '../../graph/turns.ts'
import { domainParents } from '../../store/domain-reads.ts'
import { ensureEpoch, positionOf, type GraphPosition } from '../../store/graph-changes.ts'
import {
  copyDomains,
  copyEntities,
  copyStatements,
  prepareForCopy,
  sizeOfGraph,
  type GraphSize
} from '../../store/graph-copy.ts'
import { readAllDomainDocuments } from '../../store/graph-rows.ts'

export type LoadedGraph = { graph: LineageGraph; position: GraphPosition }

/** Bytes in memory per byte of the tables on disk: about 130 for 220 of an entity, and 12 for 80 of a statement. */
const memoryShare = { entity: 0.6, statement: 0.15 }

const estimateBytes = ({ entityBytes, statementBytes }: GraphSize): number =>
  entityBytes * memoryShare.entity + statementBytes * memoryShare.statement

/** Null if the graph would need more than `maxBytes`. Throws what the database throws. */
export async function loadGraph(db: Db, maxBytes: number, pause: Pause): Promise<LoadedGraph | null> {
  await ensureEpoch(db)
  const read = await inTransaction(
    db,
    async (tx) => {
      const position = await positionOf(tx)
      const size = await sizeOfGraph(tx)
      if (estimateBytes(size) > maxBytes) return null
      await prepareForCopy(tx)
      // Each statement is in two lists, so more statements would not fit.
      const graph = new LineageGraph({
        ...size,
        statementCount: Math.floor(maxBytes / (2 * Int32Array.BYTES_PER_ELEMENT))
      })
      await loadEntities(tx, graph, pause)
      await loadDomains(tx, graph)
      return { graph, position, statements: await copyStatements(tx) }
    },
    { readOnly: true, isolation: 'repeatable read' }
  )
  if (!read) return null
  const { statements, ...loaded } = read
  await loaded.graph.loadEdges(statements.second, statements.first, pause)
  return loaded
}

async function loadEntities(tx: Tx, graph: LineageGraph, pause: Pause): Promise<void> {
  for await (const entities of copyEntities(tx)) {
    for (const entity of entities) graph.load(entity)
    await pause()
  }
}

async function loadDomains(tx: Tx, graph: LineageGraph): Promise<void> {
  const { first: assets, second: domains } = await copyDomains(tx)
  assets.forEach((ids, piece) =>
    ids.forEach((id, index) => graph.loadDomain(id, domains[piece]?.[index] ?? 0))
  )
  graph.loadDomainTree(await domainParents(tx), await readAllDomainDocuments(tx, domainDocumentMaxBytes))
}
