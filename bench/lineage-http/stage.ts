/** A catalog with a graph of the bench, its correct lineage, and access to it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../../test/torture/processes.ts'
import type { BenchPostgres } from '../lineage/bench-database.ts'
import { makeGraph, type BenchGraph, type GraphName } from '../lineage/graphs.ts'
import { loadIntoCatalog, type LoadedDomains } from '../lineage/load-graph.ts'
import type { Pick } from '../lineage/picks.ts'
import type { Ask } from './ask.ts'
import { createOracle, type Oracle } from './oracle.ts'
import { engineOf, faultOf, hopsInput, hopsQuery, mustBeRight, pageOf } from './questions.ts'

export type Catalog = {
  graph: BenchGraph
  oracle: Oracle
  domains: LoadedDomains
  databaseUrl: string
  /** Of an admin. */
  token: string
  /** The folder for files of its processes. */
  folder: string
}

export async function fillCatalog(
  postgres: BenchPostgres,
  name: GraphName,
  folder: string
): Promise<Catalog> {
  const graph = makeGraph(name)
  if (!graph) throw new Error(`there is no graph ${name} here`)
  const { db, url } = await postgres.newDatabase(`http_${name.toLowerCase()}`)
  try {
    const domains = await loadIntoCatalog(db, graph)
    const token =
      /trib_\w+/.exec(
        await runCommand(['token', 'create', '--name', 'bench', '--scopes', 'admin'], { DATABASE_URL: url })
      )?.[0] ?? ''
    return { graph, oracle: createOracle(graph), domains, databaseUrl: url, token, folder }
  } finally {
    await db.destroy()
  }
}

/** A start of the graph by its name, such as `hub`. */
export function pickOf({ graph }: Catalog, name: string): Pick {
  const found = graph.picks.find((pick) => pick.name === name)
  if (!found) throw new Error(`${graph.name} has no start called ${name}`)
  return found
}

const loadMaxMs = 300_000
const lookEveryMs = 50
const resultCount = 10

/** The time of performance.now() of the first answer from memory. All answers before it must be right too. */
export async function untilInMemory({ graph, oracle }: Catalog, ask: Ask): Promise<number> {
  const { node = 0 } = graph.picks[0] ?? {}
  const reached = oracle.reach(node, 'DOWNSTREAM', 2)
  for (const end = performance.now() + loadMaxMs; performance.now() < end; await sleep(lookEveryMs)) {
    const asked = await ask(hopsQuery, hopsInput(graph.urnOf(node), 'DOWNSTREAM', 2))
    const answeredAtMs = performance.now()
    mustBeRight(faultOf(pageOf(asked), graph, reached, 0, resultCount))
    if (engineOf(asked) === 'memory') return answeredAtMs
  }
  throw new Error(`lineage of ${graph.name} was not answered from memory within ${loadMaxMs} ms`)
}
