/**
 * Applies the chunks of one load record by record and in columns, in one catalog, and compares the effects.
 */
import { applyCall } from '../../shared/catalog/write/apply-call.ts'
import { applyChunk } from '../../shared/catalog/loads/apply-chunk.ts'
import { applyRecords } from '../../shared/catalog/write/apply-records.ts'
import { allChunkGuards } from '../../shared/catalog/loads/chunk-guards.ts'
import { claimChunk } from '../../shared/catalog/loads/claim-chunk.ts'
import { rememberEntityIds, type EntityIds } from '../../shared/catalog/write/entity-ids.ts'
import { WaitForOlderLoad } from '../../shared/catalog/write/wait-for-older-load.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { inTransaction } from '../../shared/db/transaction.ts'
import { CatalogError } from '../../shared/errors.ts'
import { entityTypeInfo } from '../../shared/model/entity-types.ts'
import { insertChunk } from '../../shared/store/chunks.ts'
import { entityTypeOf } from '../../shared/urn/urn.ts'
import {
  applyAsChunk,
  asCall,
  create,
  createDomain,
  domain,
  endLoad,
  openLoad,
  record,
  setDomain,
  type OpenLoad
} from './changes.ts'
import type { EdgeLoad, Happening } from './edge-catalogs.ts'
import { leftBehind, type LeftBehind } from './left-behind.ts'

/** The stored form of lines. Line numbers begin with firstLine, `linesApart` apart. */
export type PackChunk = (lines: readonly string[], firstLine: number, db: Db) => Promise<Buffer>

/** Does the work in a transaction, or a part of one, and rolls it back. */
async function takenBack<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const end = new Error('taken back')
  const results: T[] = []
  await db
    .transaction(async (tx) => {
      results.push(await work(tx as unknown as Db))
      throw end
    })
    .catch((error: unknown) => {
      if (error !== end) throw error
    })
  const [result] = results
  if (result === undefined) throw new Error('no result')
  return result
}

type Loads = { older: OpenLoad; own: OpenLoad; newer: OpenLoad; ended: OpenLoad }

const firstLine = 100
/** Leaves room between the lines of chunks for other records of the load. */
export const linesApart = 2

/** A change that cannot be applied is skipped. */
async function happen(db: Db, { by, source, creates, changes }: Happening, loads: Loads): Promise<void> {
  const context = { source, missingReferences: creates ? 'create' : 'reject' } as const
  const load = {
    call: null,
    'older load': loads.older,
    'own load': loads.own,
    'newer load': loads.newer,
    'ended load': loads.ended
  }[by]
  // Records of the same load come before, among and after the chunks.
  const line = by === 'own load' && creates ? firstLine + (source === 'etl' ? 3 : 501) : 1
  try {
    if (load) await applyAsChunk(db, load, [record(line, ...changes())], context)
    else await applyCall(db, [record(0, ...changes())], asCall(context))
  } catch (error) {
    if (!(error instanceof CatalogError) && !(error instanceof WaitForOlderLoad)) throw error
  }
}

const home = domain('home')

/** Creates the catalog in which the load is applied, and returns its chunks. */
async function prepare(
  db: Db,
  { present, before, meanwhile, chunks, ...load }: EdgeLoad,
  pack: PackChunk
): Promise<number[]> {
  if (present.length > 0)
    await applyCall(
      db,
      [
        record(
          0,
          createDomain(home, 'Home'),
          ...create(...present),
          ...present
            .filter((urn) => entityTypeInfo(entityTypeOf(urn)).isAsset)
            .slice(0, 2)
            .map((urn) => setDomain(urn, home))
        )
      ],
      asCall()
    )
  const ended = await openLoad(db, { source: 'etl' })
  const older = await openLoad(db, { isDestructive: load.isDestructive })
  const openLoads = { older, ended, own: ended, newer: ended }
  for (const each of before) await happen(db, each, openLoads)
  await endLoad(db, ended)
  if (load.isLast) await endLoad(db, older)
  const own = await openLoad(db, {
    source: 'etl',
    isDestructive: load.isDestructive,
    missingReferences: load.missingReferences,
    remaining: chunks.length + (load.isLast ? 0 : 1)
  })
  await query(db, 'update load set mode = ?, sweep = ?, domain_urn = ? where id = ?::uuid', [
    load.mode,
    load.mode === 'snapshot' ? 'pending' : null,
    load.isLimited ? home : null,
    own.id
  ])
  const newer = await openLoad(db, { source: 'etl' })
  for (const each of meanwhile) await happen(db, each, { ended, older, own, newer })
  return inTransaction(db, async (tx) => {
    const ids: number[] = []
    let line = firstLine
    for (const lines of chunks) {
      const payload = await pack(lines, line, tx as unknown as Db)
      ids.push(
        await insertChunk(tx, {
          loadId: own.id,
          pass: 3,
          firstLine: line,
          recordCount: lines.length,
          payload
        })
      )
      line += linesApart * lines.length
    }
    return ids
  })
}

/** One worker applies the chunks; a chunk that waits for an older load is skipped. */
async function applyAll(db: Db, chunkIds: readonly number[], ids: EntityIds | null): Promise<LeftBehind> {
  const options = { apply: applyRecords, guards: allChunkGuards, ...(ids ? { ids } : {}) }
  const waiting: string[] = []
  for (const id of chunkIds) {
    const claim = await claimChunk(db, id, allChunkGuards)
    if (!claim) throw new Error('the chunk could not be claimed')
    await applyChunk(db, claim.chunk, options).catch((error: unknown) => {
      if (!(error instanceof WaitForOlderLoad)) throw error
      waiting.push(String(id))
    })
  }
  return { ...(await leftBehind(db)), waiting }
}

/** The effects that only one of the two ways had. */
function difference(what: string, asRecords: readonly string[], inColumns: readonly string[]): string[] {
  if (JSON.stringify(asRecords) === JSON.stringify(inColumns)) return []
  return [
    `${what}:`,
    ...asRecords.filter((line) => !inColumns.includes(line)).map((line) => `  only as records: ${line}`),
    ...inColumns.filter((line) => !asRecords.includes(line)).map((line) => `  only in columns: ${line}`)
  ]
}

export type Compared = { differences: string[]; hasChanged: boolean }

/** Applies the load in both ways, each rolled back, and reports the differences. */
export async function compareWays(db: Db, load: EdgeLoad, pack: PackChunk): Promise<Compared> {
  const [asRecords, inColumns] = await takenBack(db, async (db) => {
    const chunkIds = await prepare(db, load, pack)
    return [
      await takenBack(db, (db) => applyAll(db, chunkIds, null)),
      await takenBack(db, (db) => applyAll(db, chunkIds, rememberEntityIds()))
    ] as const
  })
  return {
    differences: Object.keys(asRecords).flatMap((what) =>
      difference(what, asRecords[what] ?? [], inColumns[what] ?? [])
    ),
    hasChanged: Boolean(asRecords.journal?.length)
  }
}
