/**
 * `npm run bench -- loading`: the speed of a load compared with a raw COPY, from the first byte over HTTP
 * until the load is done. Client, API, worker and Postgres share the machine; Postgres is durable. The COPY
 * runs in the same Postgres, twice before and once after, and the median counts: the three sometimes differ
 * by a third, as loads do. Arguments: the number of edges (1,000,000), and `edges` or `proposals` to measure
 * only these.
 */
import { query } from '../../shared/db/query.ts'
import { runAlone } from '../../shared/db/run-alone.ts'
import {
  assetLines,
  drawEdges,
  edgeLines,
  mixedLines,
  proposalLines,
  removalLines,
  type Edges
} from './edges.ts'
import { timeRawCopy } from './raw-copy.ts'
import { openStage, sendFile, type Stage, writeLines } from './stage.ts'

type Row = {
  name: string
  seconds: number
  acceptedSeconds: number
  edgesPerSecond: number
  ofRawCopy: number
  walBytesPerEdge: number
  cpuSeconds: Record<string, number>
}

export async function benchLoading(args: readonly string[]): Promise<object> {
  const edgeCount = Number(args[0] ?? 1_000_000)
  const edges = drawEdges(edgeCount, 7)
  const asEdges =
    args[1] === 'proposals'
      ? []
      : await onStage(edges, async (stage) => {
          const file = await writeLines(stage, 'edges.ndjson', edgeLines(edges))
          const [mixed, removals] = [
            await writeLines(stage, 'mixed.ndjson', mixedLines(edges)),
            await writeLines(stage, 'removals.ndjson', removalLines(edges))
          ]
          return [
            await measure(stage, 'new edges', file, edgeCount),
            await measure(stage, 'the same edges again', file, edgeCount),
            await measure(stage, 'every other one removed, the others again', mixed, edgeCount),
            await measure(stage, 'all of them removed', removals, edgeCount)
          ]
        })
  const asProposals =
    args[1] === 'edges'
      ? []
      : await onStage(edges, async (stage) => {
          const file = await writeLines(stage, 'proposals.ndjson', proposalLines(edges))
          return [await measure(stage, 'edges as upstreamLineage proposals, 10 each', file, edgeCount)]
        })
  const rows = [...asEdges, ...asProposals]
  console.table(rows.map(({ cpuSeconds, ...row }) => ({ ...row, ...cpuSeconds })))
  return { edgeCount, rows }
}

/** A catalog with nothing but the assets, and the COPY to compare with. */
async function onStage(
  edges: Edges,
  work: (stage: Stage) => Promise<Omit<Row, 'ofRawCopy'>[]>
): Promise<Row[]> {
  const stage = await openStage()
  try {
    const copies = [await timeRawCopy(stage.databaseUrl, edges), await timeRawCopy(stage.databaseUrl, edges)]
    await sendFile(stage, await writeLines(stage, 'assets.ndjson', assetLines()), { source: 'bench' })
    // The work of autovacuum after the assets is not part of the measurement.
    await runAlone(stage.db, ['vacuum (analyze)'])
    const measured = await work(stage)
    copies.push(await timeRawCopy(stage.databaseUrl, edges))
    console.log(
      `raw COPY of ${edges.upstream.length} pairs: ${copies.map((seconds) => seconds.toFixed(2)).join(', ')} s; queue on ${stage.queue}`
    )
    return measured.map((row) => ({
      ...row,
      ofRawCopy: round((copies.toSorted((a, b) => a - b)[1] ?? 0) / row.seconds)
    }))
  } finally {
    await stage.stop()
  }
}

async function measure(
  stage: Stage,
  name: string,
  file: string,
  edgeCount: number
): Promise<Omit<Row, 'ofRawCopy'>> {
  await query(stage.db, 'checkpoint')
  const [cpuBefore, walBefore] = [stage.cpu(), await walBytes(stage)]
  const { acceptedS, doneS } = await sendFile(stage, file, { source: 'bench' })
  const [cpuAfter, walAfter] = [stage.cpu(), await walBytes(stage)]
  return {
    name,
    seconds: round(doneS),
    acceptedSeconds: round(acceptedS),
    edgesPerSecond: Math.round(edgeCount / doneS),
    walBytesPerEdge: Math.round((walAfter - walBefore) / edgeCount),
    cpuSeconds: Object.fromEntries(
      Object.entries(cpuAfter).map(([whose, seconds]) => [
        whose,
        round(seconds - cpuBefore[whose as keyof typeof cpuBefore])
      ])
    )
  }
}

async function walBytes({ db }: Stage): Promise<number> {
  const [row] = await query<{ bytes: string }>(
    db,
    "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as bytes"
  )
  return Number(row?.bytes)
}

const round = (value: number): number => Math.round(value * 100) / 100
