/**
 * `npm run bench -- sizes [L|XL]`: what a catalog of a size takes and does: disk, memory, start, reads and a load.
 *
 * XL has ten million assets and fifty million edges, more than the default of LINEAGE_MEMORY_MB has room for. It takes
 * 20 minutes, 12 GB of disk and 8 GB of memory:
 *
 *     LINEAGE_MEMORY_MB=4096 node --max-old-space-size=12000 dist/bench/run.js sizes XL
 *
 * NODE_OPTIONS would change the processes that are measured too.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { query } from '../../shared/db/query.ts'
import { limits } from '../../shared/limits.ts'
import { keepRunning } from '../../test/torture/processes.ts'
import { randomFrom } from '../../test/torture/workload.ts'
import { connectBenchDatabase, startBenchPostgres } from '../lineage/bench-database.ts'
import type { BenchGraph, GraphName } from '../lineage/graphs.ts'
import { sendFile, writeLines } from '../loading/stage.ts'
import { startApi, type ApiProcess } from './api-process.ts'
import { asker, type Ask } from './ask.ts'
import { median, rounded, type Finding } from './findings.ts'
import { benchLoad } from './load.ts'
import { checkPage, pageInput, pageOf, pageQuery } from './questions.ts'
import { fillCatalog, untilInMemory, type Catalog } from './stage.ts'

const newEdgeCount = 500_000
const readTries = 7
const pageCount = 100

type Read = { start: string; reached: number; firstMs: number; medianMs: number }

type Disk = { name: string; tableMb: number; indexMb: number; rows: number }

export async function benchSizes([name = 'L']: readonly string[]): Promise<object> {
  if (name !== 'L' && name !== 'XL') throw new Error('sizes are measured of L or XL')
  if (name === 'XL' && Number(process.env.LINEAGE_MEMORY_MB ?? 0) < 4_096)
    throw new Error('XL needs LINEAGE_MEMORY_MB=4096 in the environment')
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-sizes-'))
  const postgres = await startBenchPostgres()
  try {
    const catalog = await fillCatalog(postgres, name satisfies GraphName, folder)
    const { assetCount, edges } = catalog.graph
    console.log(`${name}: ${assetCount} assets, ${edges.upstream.length} edges`)
    const disk = await readDisk(catalog)
    console.table(disk)
    const findings = await benchLoad(catalog)
    for (const { name: what, value, unit, context } of findings)
      console.log(`${what}: ${rounded(value)} ${unit} ${JSON.stringify(context)}`)
    const { reads, load } = await timeReadsAndLoad(catalog)
    console.table(reads)
    console.table([load])
    return {
      graph: name,
      assetCount,
      edgeCount: edges.upstream.length,
      disk,
      findings: withoutGoals(findings),
      reads,
      load
    }
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Their goals are those of L on a quiet machine. */
const withoutGoals = (findings: readonly Finding[]) =>
  findings.map(({ name, value, unit, context }) => ({ name, value, unit, context }))

/** The tables of more than a megabyte, the largest first. */
async function readDisk({ databaseUrl }: Catalog): Promise<Disk[]> {
  const db = connectBenchDatabase(databaseUrl)
  try {
    return await query<Disk>(
      db,
      `
      select relname as name, round(pg_table_size(oid) / 1e6)::float8 as "tableMb",
             round(pg_indexes_size(oid) / 1e6)::float8 as "indexMb", reltuples::float8 as rows
      from pg_class where relkind = 'r' and pg_total_relation_size(oid) > 1e6 and relnamespace = 'public'::regnamespace
      order by pg_total_relation_size(oid) desc`
    )
  } finally {
    await db.destroy()
  }
}

/** First pages of walks that are not longer than a walk may be, and a load; on one API and one worker. */
async function timeReadsAndLoad(catalog: Catalog): Promise<{ reads: Read[]; load: Record<string, number> }> {
  const api = await startApi(catalog)
  const worker = keepRunning(
    'worker',
    ['work'],
    { DATABASE_URL: catalog.databaseUrl, LOG_LEVEL: 'warn', TRIBUTARY_DATA_DIR: catalog.folder },
    catalog.folder
  )
  try {
    const ask = asker(api)
    await untilInMemory(catalog, ask)
    const reads = await timeReads(catalog, ask)
    return { reads, load: await timeLoad(catalog, api) }
  } finally {
    await worker.stop()
    await api.stop()
  }
}

/** The first page of each start, with its exact total, which must be right. */
async function timeReads({ graph, oracle }: Catalog, ask: Ask): Promise<Read[]> {
  const reads: Read[] = []
  for (const { name, node } of graph.picks) {
    const reached = oracle.reach(node, 'DOWNSTREAM')
    if (reached.nodes.length > limits.walkMaxEntities) continue
    const ms: number[] = []
    for (let count = 0; count < readTries; count += 1) {
      const asked = await ask(pageQuery, pageInput(graph.urnOf(node), 'DOWNSTREAM', pageCount))
      checkPage(pageOf(asked), graph, reached, 0, pageCount)
      ms.push(asked.ms)
    }
    reads.push({
      start: name,
      reached: reached.nodes.length,
      firstMs: rounded(ms[0] ?? NaN),
      medianMs: rounded(median(ms))
    })
  }
  return reads
}

/** Edges between assets that exist, drawn at random, from the first byte over HTTP until the load is done. */
async function timeLoad(catalog: Catalog, api: ApiProcess): Promise<Record<string, number>> {
  const file = await writeLines(catalog, 'new-edges.ndjson', newEdgeLines(catalog.graph))
  const { acceptedS, doneS } = await sendFile({ api }, file, { source: 'bench-sizes' })
  return {
    edges: newEdgeCount,
    acceptedSeconds: rounded(acceptedS),
    seconds: rounded(doneS),
    edgesPerSecond: Math.round(newEdgeCount / doneS)
  }
}

function* newEdgeLines(graph: BenchGraph): Generator<string> {
  const random = randomFrom(51)
  const draw = () => Math.floor(random() * graph.assetCount)
  for (let count = 0; count < newEdgeCount; count += 1) {
    const downstream = draw()
    const upstream = (downstream + 1 + Math.floor(random() * (graph.assetCount - 1))) % graph.assetCount
    yield `${JSON.stringify({ upstreamUrn: graph.urnOf(upstream), downstreamUrn: graph.urnOf(downstream) })}\n`
  }
}
