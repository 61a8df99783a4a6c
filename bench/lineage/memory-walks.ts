/** Row 1: Tributary's walks in the process, from the starts of the contenders, with every answer checked. */
import { createLineageMemory, type LineageMemory } from '../../shared/catalog/lineage/lineage-memory.ts'
import type { LineageReader } from '../../shared/catalog/lineage/lineage-reader.ts'
import { withLineage, type LineageSources } from '../../shared/catalog/lineage/with-lineage.ts'
import type { Walk } from '../../shared/model/walk.ts'
import { createLog } from '../../shared/platform/log.ts'
import { downstreamsOf, walker } from './adjacency.ts'
import { answerOf, rightAnswer } from './answers.ts'
import { connectBenchDatabase } from './bench-database.ts'
import { mustBeRight, type Cell, type WalkBeside, type WalkRow } from './graph-walks.ts'
import { entityIdOf, nodeCountOf, walkedEdges, type BenchGraph } from './graphs.ts'
import { timed, type Clock } from './measure.ts'
import type { Pick } from './picks.ts'

export type OpenMemory = { sources: LineageSources & { memory: LineageMemory }; close: () => Promise<void> }

const enoughBytes = 4 * 1024 * 1024 * 1024
const warmUpRuns = 5
const runs = 25

/** The graph of a database in this process's memory, as an API process has it. */
export async function openMemory(url: string): Promise<OpenMemory> {
  const [db, graphDb] = [connectBenchDatabase(url), connectBenchDatabase(url)]
  const memory = createLineageMemory({
    db,
    graphDb,
    maxBytes: enoughBytes,
    log: createLog({ logLevel: 'warn' })
  })
  memory.start()
  await memory.settled()
  return {
    sources: { db, memory },
    async close() {
      await memory.stop()
      await db.destroy()
      await graphDb.destroy()
    }
  }
}

export const memoryWalk = 'Tributary in memory'
export const freshMemoryWalk = 'Tributary in memory, and asking Postgres what is new'

/** Tributary's own rows, and a single walk to run between those of others. */
export async function runMemoryWalks(
  { sources }: OpenMemory,
  graph: BenchGraph
): Promise<{ rows: WalkRow[]; walkBeside: WalkBeside }> {
  const level = graph.columnCount > 0 ? 'column' : 'asset'
  const oracle = walker(downstreamsOf(nodeCountOf(graph), walkedEdges(graph)))
  const walkFrom = (reader: LineageReader, { node }: Pick): Promise<Walk> => {
    if (reader.engine !== 'memory') throw new Error('the graph is not in memory')
    return reader.walk({
      startIds: [entityIdOf(node)],
      direction: 'DOWNSTREAM',
      level,
      hopsWanted: Infinity,
      bounds: { maxHops: 10_000, maxEntities: 10_000_000 }
    })
  }
  const alone: Record<string, Cell> = {}
  const fresh: Record<string, Cell> = {}
  for (const pick of graph.picks) {
    const right = rightAnswer(oracle(pick.node), true)
    const check = ({ ids, degrees }: Walk) => {
      mustBeRight(
        `${memoryWalk} from ${pick.name} of ${graph.name}`,
        answerOf(ids, (index) => degrees[index] ?? 0),
        right
      )
    }
    const runAlone = (clock: Clock) => withLineage(sources, (reader) => clock(() => walkFrom(reader, pick)))
    const runFresh = (clock: Clock) => clock(() => withLineage(sources, (reader) => walkFrom(reader, pick)))
    await timed(runAlone, check, warmUpRuns)
    const [walked, asked] = [await timed(runAlone, check, runs), await timed(runFresh, check, runs)]
    alone[pick.name] = { ...walked, besideMs: walked.medianMs }
    fresh[pick.name] = { ...asked, besideMs: walked.medianMs }
  }
  return {
    rows: [
      { contender: memoryWalk, givesDegrees: true, cells: alone },
      { contender: freshMemoryWalk, givesDegrees: true, cells: fresh }
    ],
    walkBeside: async (pick) =>
      (
        await timed(
          (clock) => withLineage(sources, (reader) => clock(() => walkFrom(reader, pick))),
          () => {},
          1
        )
      ).medianMs
  }
}
