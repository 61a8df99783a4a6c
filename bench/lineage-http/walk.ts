/**
 * Row 1 over HTTP: a walk that reaches about 50,000 assets of M, compared with SQL alone on the same data in
 * the same Postgres.
 */
import { randomFrom } from '../../test/torture/workload.ts'
import { connectBenchDatabase } from '../lineage/bench-database.ts'
import { depthContender } from '../lineage/contenders-in-sql.ts'
import { ratioOf } from '../lineage/findings-of.ts'
import { prepareContenders, runContenders, type Cell, type WalkBeside } from '../lineage/graph-walks.ts'
import type { Pick } from '../lineage/picks.ts'
import { startApi } from './api-process.ts'
import { asker, type Ask } from './ask.ts'
import { changeEdges, newEdge } from './churn.ts'
import { rounded, type Finding } from './findings.ts'
import { checkPage, pageInput, pageOf, pageQuery } from './questions.ts'
import { checkScroll } from './scroll.ts'
import { pickOf, untilInMemory, type Catalog } from './stage.ts'

const pageCount = 100
/**
 * Little code of a new process is compiled: its first fifty pages take half as long again as those after
 * three hundred.
 */
const warmCount = 400
/** The recursive statement with a depth column takes 26 s on an idle machine. */
const limitMs = 180_000

export async function benchWalk(catalog: Catalog): Promise<Finding[]> {
  const api = await startApi(catalog)
  try {
    const ask = asker(api)
    await untilInMemory(catalog, ask)
    const pick = pickOf(catalog, '50k')
    const walkBeside = walkOverHttp(catalog, ask)
    for (let count = 0; count < warmCount; count += 1) await walkBeside(pick)
    const cells = await runInSql(catalog, pick, walkBeside)
    return findingsOf(pick, cells, await checkScroll(catalog, ask, pick.node))
  } finally {
    await api.stop()
  }
}

/**
 * The first page of 100 with its exact total, checked. A shortcut edge is written before it, so that the
 * answer cannot come from a cache.
 */
function walkOverHttp(catalog: Catalog, ask: Ask): WalkBeside {
  const { graph, oracle } = catalog
  const random = randomFrom(11)
  return async ({ node }) => {
    const edge = newEdge(catalog, random)
    await changeEdges(catalog, ask, 'edgesToAdd', [edge])
    const asked = await ask(pageQuery, pageInput(graph.urnOf(node), 'DOWNSTREAM', pageCount))
    // Computed only now: the bench's own walk reads as much memory, and would push the API's data out of the
    // processor's cache (a fifth).
    checkPage(pageOf(asked), graph, oracle.reach(node, 'DOWNSTREAM'), 0, pageCount)
    await changeEdges(catalog, ask, 'edgesToRemove', [edge])
    return asked.ms
  }
}

type Cells = { contender: string; cell: Cell }[]

/**
 * The contenders that answer the same question with exact degrees, each with the time of the walks over HTTP
 * in between.
 */
async function runInSql({ graph, databaseUrl }: Catalog, pick: Pick, walkBeside: WalkBeside): Promise<Cells> {
  const db = connectBenchDatabase(databaseUrl)
  try {
    const contenders = (await prepareContenders(db, graph, limitMs)).filter(
      ({ givesDegrees, name }) => givesDegrees && !name.endsWith('UNION ALL')
    )
    const rows = await runContenders(db, { ...graph, picks: [pick] }, contenders, { limitMs, walkBeside })
    return rows.flatMap(({ contender, cells }) => Object.values(cells).map((cell) => ({ contender, cell })))
  } finally {
    await db.destroy()
  }
}

function findingsOf({ reach, depth }: Pick, cells: Cells, pages: object): Finding[] {
  const [best] = cells
    .filter(({ cell }) => 'medianMs' in cell)
    .toSorted((a, b) => ratioOf(a.cell) - ratioOf(b.cell))
  const deep = cells.find(({ contender }) => contender === depthContender.name)
  if (!best || !deep) throw new Error('no statement gave the answer in time')
  const all = cells.map(({ contender, cell }) => ({ contender, ...cell, ratio: rounded(ratioOf(cell)) }))
  return [
    {
      row: 1,
      name: `${reach} reached over ${depth} hops: best SQL alone / page of 100 over HTTP`,
      value: ratioOf(best.cell),
      unit: 'x',
      goal: { atLeast: 30 },
      context: { best: best.contender, all, pages }
    },
    {
      row: 1,
      name: 'the same: SQL with a depth column / page of 100 over HTTP',
      value: ratioOf(deep.cell),
      unit: 'x',
      goal: { atLeast: 300 },
      context: deep.cell
    }
  ]
}
