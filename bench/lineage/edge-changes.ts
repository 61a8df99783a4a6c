/** Row 4: the time of the read that follows 1,000 changes of edges, written as a client writes them. */
import { updateLineage, type EdgeInput } from '../../shared/catalog/write/update-lineage.ts'
import { withLineage } from '../../shared/catalog/lineage/with-lineage.ts'
import { entityIdOf, type BenchGraph } from './graphs.ts'
import { benchCall } from './load-graph.ts'
import { median } from './measure.ts'
import type { OpenMemory } from './memory-walks.ts'

const addedCount = 500
const rounds = 9

export type ChangesFinding = {
  changes: number
  rounds: number
  writeMs: number
  readMs: number
  slowestReadMs: number
}

/**
 * Each round adds edges from one asset to 500 others and removes those of the previous round, in one call.
 * Their statements and their row of the change log are in Postgres; the next read asks for the neighbours of
 * both assets.
 */
export async function benchEdgeChanges({ sources }: OpenMemory, graph: BenchGraph): Promise<ChangesFinding> {
  const assets = graph.assetCount
  const edgesOf = (round: number): EdgeInput[] =>
    Array.from({ length: addedCount }, (_, index) => ({
      upstreamUrn: graph.urnOf(round),
      downstreamUrn: graph.urnOf(targetOf(round, index, assets))
    }))
  const writeMs: number[] = []
  const readMs: number[] = []
  await updateLineage(sources.db, { edgesToAdd: edgesOf(0), edgesToRemove: [] }, benchCall)
  for (let round = 1; round <= rounds; round += 1) {
    const begun = performance.now()
    await updateLineage(
      sources.db,
      { edgesToAdd: edgesOf(round), edgesToRemove: edgesOf(round - 1) },
      benchCall
    )
    const written = performance.now()
    const neighbours = await withLineage(sources, async (reader) => {
      if (reader.engine !== 'memory') throw new Error('the graph is not in memory')
      const neighboursOf = await reader.neighbours(
        [entityIdOf(round), entityIdOf(round - 1)],
        'DOWNSTREAM',
        'asset'
      )
      return {
        fresh: new Set(neighboursOf(entityIdOf(round))),
        gone: new Set(neighboursOf(entityIdOf(round - 1)))
      }
    })
    readMs.push(performance.now() - written)
    writeMs.push(written - begun)
    for (let index = 0; index < addedCount; index += 1) {
      if (!neighbours.fresh.has(entityIdOf(targetOf(round, index, assets))))
        throw new Error(`an edge that was added in round ${round} is not seen`)
      if (neighbours.gone.has(entityIdOf(targetOf(round - 1, index, assets))))
        throw new Error(`an edge that was removed in round ${round} is still seen`)
    }
  }
  return {
    changes: 2 * addedCount,
    rounds,
    writeMs: median(writeMs),
    readMs: median(readMs),
    slowestReadMs: Math.max(...readMs)
  }
}

/** Spread over the graph, without the assets at which rounds begin. */
const targetOf = (round: number, index: number, assets: number): number =>
  rounds + 1 + ((round * 7_919 + index * 104_729) % (assets - rounds - 1))
