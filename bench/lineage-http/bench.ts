/**
 * `npm run bench -- lineage-http [--only=walk,2hop,domain,hub,load,changes,map]`: lineage over HTTP, as clients
 * use it. Every measured answer, and every answer that arrives meanwhile, is checked against the bench's own
 * walk; a wrong one ends the run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBenchPostgres } from '../lineage/bench-database.ts'
import type { GraphName } from '../lineage/graphs.ts'
import { rounded, tableOf, type Finding } from './findings.ts'
import { benchHub } from './hub.ts'
import { benchLoad } from './load.ts'
import { benchLogCost } from './log-cost.ts'
import { benchMap } from './map.ts'
import { benchDomainReads, benchTwoHops } from './point-reads.ts'
import { fillCatalog, type Catalog } from './stage.ts'
import { benchWalk } from './walk.ts'

type Part = { name: string; graph: GraphName; run: (catalog: Catalog) => Promise<Finding[]> }

const parts: readonly Part[] = [
  { name: 'walk', graph: 'M', run: benchWalk },
  { name: '2hop', graph: 'M', run: benchTwoHops },
  { name: 'domain', graph: 'M', run: benchDomainReads },
  { name: 'changes', graph: 'M', run: benchLogCost },
  { name: 'load', graph: 'L', run: benchLoad },
  { name: 'hub', graph: 'L', run: benchHub },
  { name: 'map', graph: 'L', run: benchMap }
]

/** Throws if a part is unknown or an answer was wrong. */
export async function benchLineageHttp(args: readonly string[]): Promise<object> {
  const chosen = chosenParts(args)
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-http-'))
  const postgres = await startBenchPostgres()
  const findings: Finding[] = []
  const load: Record<string, number> = {}
  try {
    const catalogs = new Map<GraphName, Catalog>()
    for (const { name, graph, run } of chosen) {
      const catalog = catalogs.get(graph) ?? (await fillCatalog(postgres, graph, folder))
      catalogs.set(graph, catalog)
      findings.push(...(await run(catalog)))
      load[name] = rounded(loadavg()[0] ?? NaN)
    }
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  for (const line of tableOf(findings)) console.log(line)
  console.log(`load average after each part: ${JSON.stringify(load)}`)
  return { at: new Date().toISOString(), loadAverage: load, findings }
}

function chosenParts(args: readonly string[]): readonly Part[] {
  const wanted = args
    .find((arg) => arg.startsWith('--only='))
    ?.slice('--only='.length)
    .split(',')
  const unknown = wanted?.filter((name) => parts.every((part) => part.name !== name)) ?? []
  if (unknown.length > 0)
    throw new Error(
      `no part is called ${unknown.join(', ')}; there are ${parts.map(({ name }) => name).join(', ')}`
    )
  return wanted ? parts.filter(({ name }) => wanted.includes(name)) : parts
}
