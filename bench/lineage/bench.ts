/**
 * `npm run bench -- lineage [--only=S,M,MC,L,Debian,marquez,fans] [--quick]`: lineage walks in the process,
 * compared with SQL. All contenders run in one durable Postgres on the same data, alternating with
 * Tributary's walk. Every answer is checked node by node, and a wrong one ends the run. Ratios come first,
 * because times depend on the machine.
 */
import { cpus, loadavg } from 'node:os'
import { rounded, tableOf, type Finding } from '../lineage-http/findings.ts'
import { startBenchPostgres, type BenchPostgres } from './bench-database.ts'
import { benchEdgeChanges } from './edge-changes.ts'
import { benchFans } from './fans.ts'
import { bestFrom, type Best } from './finals.ts'
import {
  changesFindings,
  fanFindings,
  isLarge,
  loadFindings,
  marquezFindings,
  walkFindings
} from './findings-of.ts'
import { prepareContenders, runContenders } from './graph-walks.ts'
import { graphNames, makeGraph, type GraphName } from './graphs.ts'
import { loadIntoCatalog } from './load-graph.ts'
import { benchLoadTime } from './load-time.ts'
import { benchMarquez } from './marquez-bench.ts'
import { openMemory, runMemoryWalks } from './memory-walks.ts'
import { bestLine, walkTable } from './walk-table.ts'

type Wishes = { isQuick: boolean; limitMs: number }
type Part = { findings: Finding[]; details: object }

/** Statements are cancelled after this time, and shown as `> 45 s`. */
const limitMs = 45_000
const quickLimitMs = 5_000

const otherParts: Record<string, (postgres: BenchPostgres, wishes: Wishes) => Promise<Part>> = {
  async marquez(postgres, wishes) {
    const found = await benchMarquez(postgres, wishes)
    console.log(
      `the technique of Marquez: ${found.jobs} jobs, ${found.datasets} datasets, ${found.ioRows} io rows`
    )
    return { findings: marquezFindings(found.rows, found.limitMs), details: found }
  },
  async fans(postgres) {
    const found = await benchFans(postgres)
    return { findings: fanFindings(found), details: found }
  }
}

/** Throws if a part is unknown or an answer was wrong. */
export async function benchLineage(args: readonly string[]): Promise<object> {
  const isQuick = args.includes('--quick')
  const wishes = { isQuick, limitMs: isQuick ? quickLimitMs : limitMs }
  const postgres = await startBenchPostgres()
  const findings: Finding[] = []
  const parts: Record<string, object> = {}
  try {
    for (const name of partsOf(args, isQuick)) {
      const begun = performance.now()
      const loadBefore = loadavg()[0] ?? 0
      const other = otherParts[name]
      const part = other
        ? await other(postgres, wishes)
        : await benchGraph(postgres, name as GraphName, wishes)
      findings.push(...part.findings)
      parts[name] = {
        ...part.details,
        loadAverage: [loadBefore, loadavg()[0]],
        seconds: rounded((performance.now() - begun) / 1_000)
      }
    }
  } finally {
    await postgres.stop()
  }
  for (const line of tableOf(findings)) console.log(line)
  return {
    at: new Date().toISOString(),
    cpus: cpus().length,
    isQuick,
    limitMs: wishes.limitMs,
    findings,
    parts
  }
}

function partsOf(args: readonly string[], isQuick: boolean): string[] {
  const known = [...graphNames, ...Object.keys(otherParts)]
  const wanted = args
    .find((arg) => arg.startsWith('--only='))
    ?.slice('--only='.length)
    .split(',')
  const unknown = wanted?.filter((name) => !known.includes(name)) ?? []
  if (unknown.length > 0)
    throw new Error(`no part is called ${unknown.join(', ')}; there are ${known.join(', ')}`)
  return wanted ?? known.filter((name) => !isQuick || (name !== 'L' && name !== 'MC'))
}

async function benchGraph(
  postgres: BenchPostgres,
  name: GraphName,
  { limitMs: endedAfterMs }: Wishes
): Promise<Part> {
  const graph = makeGraph(name)
  if (!graph) {
    console.log(`${name}: left out, apt-cache knows no packages on this machine`)
    return { findings: [], details: { leftOut: 'apt-cache knows no packages on this machine' } }
  }
  const { db, url } = await postgres.newDatabase(`walks_${name.toLowerCase()}`)
  try {
    await loadIntoCatalog(db, graph)
    const load = name === 'L' ? benchLoadTime(url, graph) : null
    const contenders = await prepareContenders(db, graph, endedAfterMs)
    const memory = await openMemory(url)
    try {
      const own = await runMemoryWalks(memory, graph)
      const against = { limitMs: endedAfterMs, walkBeside: own.walkBeside }
      const rows = await runContenders(db, graph, contenders, against)
      for (const line of walkTable(graph, [...rows, ...own.rows])) console.log(line)
      const walked: Finding[] = []
      const bests: Record<string, Best | null> = {}
      for (const pick of graph.picks.filter(isLarge)) {
        const best = await bestFrom(pick, { db, graph, contenders, rows, ...against })
        if (best) console.log(bestLine(pick, best))
        bests[pick.name] = best
        walked.push(...walkFindings(name, pick, rows, best))
      }
      const changes = await benchEdgeChanges(memory, graph)
      const { assetCount, columnCount, picks } = graph
      return {
        findings: [...walked, ...changesFindings(name, changes), ...(load ? loadFindings(name, load) : [])],
        details: {
          assetCount,
          columnCount,
          edgeCount: graph.edges.upstream.length,
          columnEdgeCount: graph.columnEdges.upstream.length,
          picks,
          rows: [...rows, ...own.rows],
          bests,
          changes,
          load
        }
      }
    } finally {
      await memory.close()
    }
  } finally {
    await db.destroy()
  }
}
