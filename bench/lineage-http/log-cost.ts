/**
 * Row 4: the cost of the change log for 32 writers: edges written as updateLineage writes them, with and
 * without its row.
 */
import { applyRecords } from '../../shared/catalog/write/apply-records.ts'
import { mutationContext } from '../../shared/catalog/write/call.ts'
import { connectDatabase } from '../../shared/db/connect.ts'
import type { Db, Tx } from '../../shared/db/database.ts'
import { inTransaction } from '../../shared/db/transaction.ts'
import type { Actor } from '../../shared/model/changes.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { createLog } from '../../shared/platform/log.ts'
import { toUrn } from '../../shared/urn/urn.ts'
import { randomFrom, type Random } from '../../test/torture/workload.ts'
import { median, rounded, type Finding } from './findings.ts'
import type { Catalog } from './stage.ts'

const writerCount = 32
const roundCount = 7
const roundMs = 4_000
const actor: Actor = {
  urn: toUrn('urn:li:corpuser:bench'),
  tokenId: null,
  scopes: ['admin'],
  domainUrns: null
}

export async function benchLogCost(catalog: Catalog): Promise<Finding[]> {
  const db = connectDatabase({
    url: catalog.databaseUrl,
    poolMax: writerCount,
    applicationName: 'bench',
    statementTimeoutMs: 60_000,
    lockTimeoutMs: 60_000,
    acquireTimeoutMs: 60_000,
    log: createLog(readConfig({ LOG_LEVEL: 'warn' }))
  })
  try {
    for (const keepsLog of [true, false]) await writeTogether(db, catalog, keepsLog, 0)
    const rounds: { with: number; without: number }[] = []
    for (let round = 1; round <= roundCount; round += 1) {
      // The order alternates, because each round leaves the tables a little larger.
      const first = await writeTogether(db, catalog, round % 2 === 0, round)
      const second = await writeTogether(db, catalog, round % 2 !== 0, round + 100)
      rounds.push(round % 2 === 0 ? { with: first, without: second } : { with: second, without: first })
    }
    const value = median(rounds.map((round) => round.with / round.without))
    const context = {
      ratios: rounds.map((round) => rounded(round.with / round.without)),
      writesPerSecond: {
        with: rounded(median(rounds.map((round) => round.with))),
        without: rounded(median(rounds.map((round) => round.without)))
      }
    }
    return [
      {
        row: 4,
        name: 'writes of 32 writers with the change log, share of those without',
        value,
        unit: 'x',
        goal: { atLeast: 0.9 },
        context
      }
    ]
  } finally {
    await db.destroy()
  }
}

/** Transactions a second. */
async function writeTogether(db: Db, { graph }: Catalog, keepsLog: boolean, seed: number): Promise<number> {
  const begun = performance.now()
  const writeOn = async (random: Random): Promise<number> => {
    let count = 0
    for (; performance.now() < begun + roundMs; count += 1) await writeEdge(db, drawEdge(random), keepsLog)
    return count
  }
  const drawEdge = (random: Random) => ({
    upstreamUrn: graph.urnOf(Math.floor(random() * graph.assetCount)),
    downstreamUrn: graph.urnOf(Math.floor(random() * graph.assetCount))
  })
  const counts = await Promise.all(
    Array.from({ length: writerCount }, (_, writer) => writeOn(randomFrom(seed * writerCount + writer)))
  )
  return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - begun)) * 1_000
}

async function writeEdge(
  db: Db,
  edge: { upstreamUrn: ReturnType<typeof toUrn>; downstreamUrn: ReturnType<typeof toUrn> },
  keepsLog: boolean
): Promise<void> {
  const records = [{ line: 0, changes: [{ kind: 'addEdge' as const, ...edge }], fields: [] }]
  await inTransaction(db, (tx) =>
    applyRecords(
      keepsLog ? tx : withoutLog(tx),
      records,
      mutationContext({ actor, requestId: null }, 'updateLineage')
    )
  )
}

/** The same transaction, whose row of the change log is made but not sent. */
const withoutLog = (tx: Tx): Tx =>
  new Proxy(tx, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name !== 'raw') return value
      return (sql: string, bindings: never) =>
        sql.startsWith('insert into graph_change') ? Promise.resolve({ rows: [] }) : target.raw(sql, bindings)
    }
  })
