/** The lean way of applying plain edges does what the general way does, whatever it finds and whoever is beside it. */
import fc from 'fast-check'
import t from 'tap'
import { applyCall } from '../shared/catalog/apply-call.ts'
import { applyChunk } from '../shared/catalog/apply-chunk.ts'
import { createEdgeApplier } from '../shared/catalog/apply-edges.ts'
import { applyRecords } from '../shared/catalog/apply-records.ts'
import { allChunkGuards } from '../shared/catalog/chunk-guards.ts'
import { claimChunk } from '../shared/catalog/claim-chunk.ts'
import { createEdgeGatherer, packEdges } from '../shared/catalog/edge-payload.ts'
import { rememberEntityIds } from '../shared/catalog/entity-ids.ts'
import { WaitForOlderLoad } from '../shared/catalog/wait-for-older-load.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { CatalogError } from '../shared/errors.ts'
import { createPlainEdgeReader } from '../shared/formats/plain-edges.ts'
import { entityTypeInfo } from '../shared/model/entity-types.ts'
import { insertChunk } from '../shared/store/chunks.ts'
import { entityTypeOf } from '../shared/urn/urn.ts'
import { applyAsChunk, asCall, create, createDomain, domain, endLoad, openLoad, record, setDomain, type OpenLoad } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { anyEdgeLoad, type EdgeLoad, type Happening } from './support/edge-catalogs.ts'
import { leftBehind, type LeftBehind } from './support/left-behind.ts'

/** Does the work in a transaction, or a part of one, and takes it back: what it did is for nobody else. */
async function takenBack<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const end = new Error('taken back')
  const results: T[] = []
  await db.transaction(async (tx) => {
    results.push(await work(tx as unknown as Db))
    throw end
  }).catch((error: unknown) => { if (error !== end) throw error })
  const [result] = results
  if (result === undefined) throw new Error('no result')
  return result
}

type Loads = { older: OpenLoad, own: OpenLoad, newer: OpenLoad, ended: OpenLoad }

const firstLine = 100

/** What cannot be applied did not happen. */
async function happen(db: Db, { by, source, creates, changes }: Happening, loads: Loads): Promise<void> {
  const context = { source, missingReferences: creates ? 'create' : 'reject' } as const
  const load = { 'call': null, 'older load': loads.older, 'own load': loads.own, 'newer load': loads.newer, 'ended load': loads.ended }[by]
  // Of the same load there are records before and after.
  const line = by === 'own load' && creates ? firstLine + 500 : 1
  try {
    if (load) await applyAsChunk(db, load, [record(line, ...changes())], context)
    else await applyCall(db, [record(0, ...changes())], asCall(context))
  } catch (error) {
    if (!(error instanceof CatalogError) && !(error instanceof WaitForOlderLoad)) throw error
  }
}

const home = domain('home')

/** Brings about the catalog in which the load is to be applied; gives its chunks. */
async function prepare(db: Db, { present, before, meanwhile, chunks, ...load }: EdgeLoad): Promise<number[]> {
  if (present.length > 0) await applyCall(db, [record(0, createDomain(home, 'Home'), ...create(...present), ...present.filter((urn) => entityTypeInfo(entityTypeOf(urn)).isAsset).slice(0, 2).map((urn) => setDomain(urn, home)))], asCall())
  const ended = await openLoad(db, { source: 'etl' })
  const older = await openLoad(db, { isDestructive: load.isDestructive })
  const openLoads = { older, ended, own: ended, newer: ended }
  for (const each of before) await happen(db, each, openLoads)
  await endLoad(db, ended)
  if (load.isLast) await endLoad(db, older)
  const own = await openLoad(db, { source: 'etl', isDestructive: load.isDestructive, missingReferences: load.missingReferences, remaining: chunks.length + (load.isLast ? 0 : 1) })
  await query(db, 'update load set mode = ?, sweep = ?, domain_urn = ? where id = ?::uuid', [load.mode, load.mode === 'snapshot' ? 'pending' : null, load.isLimited ? home : null, own.id])
  const newer = await openLoad(db, { source: 'etl' })
  for (const each of meanwhile) await happen(db, each, { ended, older, own, newer })
  return inTransaction(db, async (tx) => {
    const ids: number[] = []
    let line = firstLine
    for (const lines of chunks) {
      const read = createPlainEdgeReader()
      const gatherer = createEdgeGatherer()
      for (const text of lines) {
        const edge = read(text, line++)
        if (!edge) throw new Error(`not read as a plain edge: ${text}`)
        gatherer.add(edge)
      }
      ids.push(await insertChunk(tx, { loadId: own.id, pass: 3, firstLine: line - lines.length, recordCount: lines.length, payload: await packEdges(gatherer.take()) }))
    }
    return ids
  })
}

/** One worker applies the chunks; a chunk that waits for an older load is left. */
async function applyAll(db: Db, chunkIds: readonly number[], isLean: boolean): Promise<LeftBehind> {
  const options = { apply: applyRecords, guards: allChunkGuards, ...isLean ? { applyEdges: createEdgeApplier(rememberEntityIds()) } : {} }
  const waiting: string[] = []
  for (const id of chunkIds) {
    const claim = await claimChunk(db, id, allChunkGuards)
    if (!claim) throw new Error('the chunk could not be claimed')
    await applyChunk(db, claim.chunk, options).catch((error: unknown) => {
      if (!(error instanceof WaitForOlderLoad)) throw error
      waiting.push(String(id))
    })
  }
  return { ...await leftBehind(db), waiting }
}

function difference(what: string, general: readonly string[], lean: readonly string[]): string[] {
  if (JSON.stringify(general) === JSON.stringify(lean)) return []
  return [`${what}:`, ...general.filter((line) => !lean.includes(line)).map((line) => `  only general: ${line}`), ...lean.filter((line) => !general.includes(line)).map((line) => `  only lean: ${line}`)]
}

t.test('whatever the catalog is, what is left behind is the same', async (t) => {
  const { db } = await withDatabase(t)
  // The chunks that are played beside have numbers of their own.
  await query(db, 'alter table chunk alter column id restart with 1000000')
  let leanCount = 0
  await fc.assert(fc.asyncProperty(anyEdgeLoad, async (load) => {
    const [general, lean] = await takenBack(db, async (db) => {
      const chunkIds = await prepare(db, load)
      return [await takenBack(db, (db) => applyAll(db, chunkIds, false)), await takenBack(db, (db) => applyAll(db, chunkIds, true))] as const
    })
    const differences = Object.keys(general).flatMap((what) => difference(what, general[what] ?? [], lean[what] ?? []))
    if (differences.length > 0) throw new Error(differences.join('\n'))
    if (general.journal?.length) leanCount += 1
  }), { numRuns: 40, interruptAfterTimeLimit: 240_000 })
  t.ok(leanCount > 10, 'loads that change something are among them')
})
