/**
 * The first half of the sweep of a snapshot: finds what the source stated before and does not state now.
 *
 * Nothing is removed here. The statements found become chunks of the load, and each chunk is removed and
 * settled by itself (remove-unstated.ts).
 */
import type { Db, Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { toUrn } from '../../urn/urn.ts'
import { appendAudit } from '../../store/audit.ts'
import type { ClaimedChunk } from '../../store/chunks.ts'
import { findEntities } from '../../store/entities.ts'
import { findLoad, type LoadRow } from '../../store/loads.ts'
import { listRejects, type Reject } from '../../store/rejects.ts'
import { planRemovals, type PlannedRemovals, type Spared } from '../../store/snapshot-removals.ts'
import { deleteStatedKeys } from '../../store/snapshot-statements.ts'
import { sourceId } from '../../store/statements.ts'
import {
  beginRemoving,
  hasOlderOfSource,
  holdSweep,
  supersedeFailed,
  type Compared
} from '../../store/sweeps.ts'
import { holdChunk, type ChunkContext, type ChunkOptions } from './apply-chunk.ts'
import { limitOf } from '../write/authorize-domain.ts'
import type { ChunkGuards } from './chunk-guards.ts'
import { namedByReject, type NamedEdge } from './named-edges.ts'
import { removePiece } from './remove-unstated.ts'
import { settleChunk, type Settled } from './settle-chunk.ts'
import { removalPass } from './sweep-passes.ts'
import { WaitForOlderLoad } from '../write/wait-for-older-load.ts'

/**
 * The snapshot would remove more than it may: the load fails, what it added stays, and a retry with `force`
 * continues.
 */
export class SnapshotRefused extends Error {
  readonly compared: Compared

  constructor(message: string, compared: Compared) {
    super(message)
    this.name = 'SnapshotRefused'
    this.compared = compared
  }
}

/** How many statements one chunk removes: about as much work as a chunk of records. */
const pieceMaxCount = 5_000
const rejectsPerRead = 1_000
const noVerdicts = { counts: { applied: 0, unchanged: 0, rejected: 0 }, rejects: [] }

/**
 * Compares when all records of the load are settled. Throws as applyChunk does, WaitForOlderLoad while an
 * older load of the same source is unfinished, and SnapshotRefused.
 */
export function compareSnapshot(db: Db, claimed: ClaimedChunk, options: ChunkOptions): Promise<Settled> {
  const { guards } = options
  return holdChunk(db, claimed, options, async (tx, chunk) => {
    const load = await findLoad(tx, chunk.loadId)
    if (!load) throw new Error('a chunk without a load')
    if (guards.sweepWaits) await waitForOlder(tx, load)
    const spared = guards.sweepSparesRejected ? await sparedByRejects(tx, load) : nothingSpared
    if (spared === null) await holdSweep(tx, load.id)
    else await beginRemoving(tx, load.id, { ...(await compare(tx, load, spared, guards)), pass: removalPass })
    await deleteStatedKeys(tx, load.id)
    await appendAudit(tx, {
      actor: load.actor,
      tokenId: load.tokenId,
      operation: 'compareSnapshot',
      seq: load.seq,
      loadId: load.id,
      chunkId: claimed.id,
      requestId: load.requestId,
      details: { source: load.source }
    })
    return settleChunk(tx, claimed, chunk, noVerdicts, guards)
  })
}

/**
 * `mayNameAnyEdge`: a reject may name any edge, so nothing is removed. `isTooMuch`: more than the allowed
 * share.
 */
export type Swept = Compared & { mayNameAnyEdge: boolean; isTooMuch: boolean }

/**
 * The whole sweep of a load that is one chunk, in the transaction that has applied its records. A dry run
 * does not wait for older loads, and also removes too much, because it is rolled back: it reports that.
 * Throws as compareSnapshot does.
 */
export async function sweepWhole(
  tx: Tx,
  context: ChunkContext,
  rejects: readonly Reject[],
  guards: ChunkGuards
): Promise<Swept> {
  const load = await findLoad(tx, context.chunk.loadId)
  if (!load) throw new Error('a chunk without a load')
  if (guards.sweepWaits && !load.isDryRun) await waitForOlder(tx, load)
  const spared = guards.sweepSparesRejected ? await sparedByRejects(tx, load, rejects) : nothingSpared
  if (spared === null) return { stated: 0, removable: 0, mayNameAnyEdge: true, isTooMuch: false }
  const compared = load.isDryRun
    ? await findUnstated(tx, load, spared, !guards.sweepSparesStated)
    : await compare(tx, load, spared, guards)
  const maximum = limits.loadAtomicMaxRecords
  const isLarge = compared.removable > maximum
  if (isLarge && !load.isDryRun)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `An atomic snapshot removes at most ${maximum} statements; this one would remove ${compared.removable}`,
      { limit: 'loadAtomicMaxRecords', maximum, actual: compared.removable }
    )
  // A large sweep would hold its locks for long. A dry run then only counts the removals.
  for (let piece = 0; piece < (isLarge ? 0 : compared.pieces); piece += 1)
    await removePiece(tx, context, piece, guards)
  await deleteStatedKeys(tx, load.id)
  return { ...compared, mayNameAnyEdge: false, isTooMuch: isTooMuch(load, compared, guards) }
}

/**
 * An older load of the source that is not settled may still state or remove statements that are compared
 * here.
 */
async function waitForOlder(tx: Tx, load: LoadRow): Promise<void> {
  await supersedeFailed(tx, load)
  if (await hasOlderOfSource(tx, load)) throw new WaitForOlderLoad()
}

async function compare(tx: Tx, load: LoadRow, spared: Spared, guards: ChunkGuards): Promise<PlannedRemovals> {
  const compared = await findUnstated(tx, load, spared, !guards.sweepSparesStated)
  if (isTooMuch(load, compared, guards))
    throw new SnapshotRefused(
      `${tooMuch(load.source, compared, load.sweepMaxShare ?? 1)} ${load.isAtomic ? 'Send it again' : 'Retry the load'} with force=true if this is intended.`,
      compared
    )
  return compared
}

const isTooMuch = (load: LoadRow, { stated, removable }: Compared, guards: ChunkGuards): boolean =>
  guards.sweepShare && !isForced(load) && removable > stated * (load.sweepMaxShare ?? 1)

/** Whether the removals were allowed without a limit, when the load was sent or by a retry. */
const isForced = ({ force, sweepMaxShare }: Pick<LoadRow, 'force' | 'sweepMaxShare'>): boolean =>
  force || sweepMaxShare === null

/** Finds what to remove and stores it in chunks. */
async function findUnstated(
  tx: Tx,
  load: Pick<LoadRow, 'id' | 'seq' | 'source' | 'domainUrns'>,
  spared: Spared,
  ignoresStated = false
): Promise<PlannedRemovals> {
  if (load.seq === null) throw new Error('an accepted load has no seq')
  const limit = await limitOf(tx, { domainUrns: load.domainUrns && load.domainUrns.map((urn) => toUrn(urn)) })
  return planRemovals(tx, {
    loadId: load.id,
    sourceId: await sourceId(tx, load.source),
    seq: load.seq,
    spared,
    domainIds: limit && [...limit.domainIds],
    pieceMaxCount,
    ignoresStated
  })
}

/** What is wrong, at the end of the body or when the sweep is due. The caller adds what to do about it. */
export const tooMuch = (source: string, { stated, removable }: Compared, maxShare: number): string =>
  `The snapshot would remove ${removable} of the ${stated} statements of ${source}, more than the share of ${maxShare} that is allowed.`

const nothingSpared: Spared = { downstreamIds: [], upstreamIds: [], touchedIds: [] }

/**
 * The edges named by the rejected records of the load, including rejects that are not stored yet. Null if a
 * reject may name any edge: then nothing is removed unless forced.
 */
async function sparedByRejects(
  tx: Tx,
  load: LoadRow,
  newRejects: readonly Reject[] = []
): Promise<Spared | null> {
  const edges: NamedEdge[] = []
  const touching = new Set<string>()
  let kept = 0
  let isEverything = false
  const take = (reject: Reject): void => {
    const named = namedByReject(load, reject)
    if (named === 'everything') {
      isEverything = true
      return
    }
    edges.push(...named.edges)
    for (const urn of named.touching) touching.add(urn)
  }
  for (let after = 0; ;) {
    const rejects = await listRejects(tx, load.id, { after, limit: rejectsPerRead })
    for (const reject of rejects) take(reject)
    after = rejects.at(-1)?.line ?? after
    kept += rejects.length
    if (rejects.length < rejectsPerRead) break
  }
  for (const reject of newRejects) take(reject)
  // If there are more rejects than are kept, the others are unknown.
  if ((isEverything || kept < load.rejected) && !isForced(load)) return null
  return resolve(tx, edges, [...touching])
}

const urnsPerRead = 5_000

/** A URN without a row has no edges. */
async function resolve(tx: Tx, edges: readonly NamedEdge[], touching: readonly string[]): Promise<Spared> {
  const urns = [
    ...new Set([...edges.flatMap((edge) => [edge.downstreamUrn, edge.upstreamUrn]), ...touching])
  ].map((urn) => toUrn(urn))
  const ids = new Map<string, number>()
  for (let from = 0; from < urns.length; from += urnsPerRead)
    for (const row of await findEntities(tx, urns.slice(from, from + urnsPerRead))) ids.set(row.urn, row.id)
  const pairs = edges.flatMap(({ downstreamUrn, upstreamUrn }) => {
    const [downstreamId, upstreamId] = [ids.get(downstreamUrn), ids.get(upstreamUrn)]
    return downstreamId === undefined || upstreamId === undefined ? [] : [{ downstreamId, upstreamId }]
  })
  return {
    downstreamIds: pairs.map((pair) => pair.downstreamId),
    upstreamIds: pairs.map((pair) => pair.upstreamId),
    touchedIds: touching.flatMap((urn) => ids.get(urn) ?? [])
  }
}
