/**
 * The first half of a snapshot's sweep: finds what the source stated before and does not state now. Nothing is removed
 * here; what is found becomes chunks of the load, each removed and settled by itself (remove-unstated.ts).
 */
import type { Db, Tx } from '../db/database.ts'
import { toUrn } from '../urn/urn.ts'
import { appendAudit } from '../store/audit.ts'
import type { ClaimedChunk } from '../store/chunks.ts'
import { findEntities } from '../store/entities.ts'
import { findLoad, type LoadRow } from '../store/loads.ts'
import { listRejects } from '../store/rejects.ts'
import { planRemovals, type PlannedRemovals, type Spared } from '../store/snapshot-removals.ts'
import { deleteStatedKeys } from '../store/snapshot-statements.ts'
import { sourceId } from '../store/statements.ts'
import { beginRemoving, hasOlderOfSource, holdSweep, supersedeFailed, type Compared } from '../store/sweeps.ts'
import { holdChunk, type ChunkOptions } from './apply-chunk.ts'
import { limitOf } from './apply/authorize-domain.ts'
import type { ChunkGuards } from './chunk-guards.ts'
import { namedByReject, type NamedEdge } from './named-edges.ts'
import { settleChunk, type Settled } from './settle-chunk.ts'
import { removalPass } from './sweep-passes.ts'
import { WaitForOlderLoad } from './wait-for-older-load.ts'

/** A snapshot would take away more than it may: the load fails, what it added stays, and a retry with `force` goes on. */
export class SnapshotRefused extends Error {
  readonly compared: Compared

  constructor(message: string, compared: Compared) {
    super(message)
    this.name = 'SnapshotRefused'
    this.compared = compared
  }
}

/** Statements that one piece takes away: as long in the making as a chunk of records. */
const pieceMaxCount = 5_000
const rejectsPerRead = 1_000
const noVerdicts = { counts: { applied: 0, unchanged: 0, rejected: 0 }, rejects: [] }

/**
 * Runs when all records of the load are settled. Throws as applyChunk does, WaitForOlderLoad while an older load of the
 * same source is unfinished, and SnapshotRefused.
 */
export function compareSnapshot(db: Db, claimed: ClaimedChunk, options: ChunkOptions): Promise<Settled> {
  const { guards } = options
  return holdChunk(db, claimed, options, async (tx, chunk) => {
    const load = await findLoad(tx, chunk.loadId)
    if (!load) throw new Error('a chunk without a load')
    if (guards.sweepWaits) await waitForOlder(tx, load)
    const spared = guards.sweepSparesRejected ? await sparedByRejects(tx, load) : nobody
    if (spared === null) await holdSweep(tx, load.id)
    else await beginRemoving(tx, load.id, { ...await compare(tx, load, spared, guards), pass: removalPass })
    await deleteStatedKeys(tx, load.id)
    await appendAudit(tx, { actor: load.actor, tokenId: load.tokenId, operation: 'compareSnapshot', seq: load.seq, loadId: load.id, chunkId: claimed.id, requestId: load.requestId, details: { source: load.source } })
    return settleChunk(tx, claimed, chunk, noVerdicts, guards)
  })
}

/** What is not settled of the source and older may still state, or take away, what this compares. */
async function waitForOlder(tx: Tx, load: LoadRow): Promise<void> {
  await supersedeFailed(tx, load)
  if (await hasOlderOfSource(tx, load)) throw new WaitForOlderLoad()
}

async function compare(tx: Tx, load: LoadRow, spared: Spared, guards: ChunkGuards): Promise<PlannedRemovals> {
  const compared = await findUnstated(tx, load, spared, !guards.sweepSparesStated)
  const share = compared.stated === 0 ? 0 : compared.removable / compared.stated
  if (!isForced(load) && guards.sweepShare && share > (load.sweepMaxShare ?? 1)) throw new SnapshotRefused(tooMuch(load.source, compared, load.sweepMaxShare ?? 1), compared)
  return compared
}

/** From the beginning, or by a retry. */
const isForced = ({ force, sweepMaxShare }: Pick<LoadRow, 'force' | 'sweepMaxShare'>): boolean => force || sweepMaxShare === null

/** Finds what goes and writes it in pieces: also what a dry run asks, which takes the pieces back with everything else. */
export async function findUnstated(tx: Tx, load: Pick<LoadRow, 'id' | 'seq' | 'source' | 'domainUrn' | 'actor' | 'tokenId' | 'scopes'>, spared: Spared, ignoresStated = false): Promise<PlannedRemovals> {
  if (load.seq === null) throw new Error('an accepted load has no seq')
  const limit = await limitOf(tx, { urn: toUrn(load.actor), tokenId: load.tokenId, scopes: load.scopes, domainUrn: load.domainUrn === null ? null : toUrn(load.domainUrn) })
  return planRemovals(tx, {
    loadId: load.id, sourceId: await sourceId(tx, load.source), seq: load.seq, spared, domainIds: limit && [...limit.domainIds], pieceMaxCount, ignoresStated
  })
}

/** What the client is told, at the end of the body or when the sweep is due. */
export const tooMuch = (source: string, { stated, removable }: Compared, maxShare: number): string =>
  `The snapshot would remove ${removable} of the ${stated} statements of ${source}, more than the share of ${maxShare} that is allowed. Send it (or retry the load) with force=true if that is meant.`

const nobody: Spared = { downstreamIds: [], upstreamIds: [], touchedIds: [] }

/** What the rejected records of the load name. Null where that may be any edge, and nothing may go (unless forced). */
export async function sparedByRejects(tx: Tx, load: Pick<LoadRow, 'id' | 'format' | 'header' | 'rejected' | 'force' | 'sweepMaxShare'>): Promise<Spared | null> {
  const edges: NamedEdge[] = []
  const touching = new Set<string>()
  let kept = 0
  let isEverything = false
  for (let after = 0; ;) {
    const rejects = await listRejects(tx, load.id, { after, limit: rejectsPerRead })
    for (const reject of rejects) {
      const named = namedByReject(load, reject)
      if (named === 'everything') isEverything = true
      else {
        edges.push(...named.edges)
        for (const urn of named.touching) touching.add(urn)
      }
      after = reject.line
      kept += 1
    }
    if (rejects.length < rejectsPerRead) break
  }
  // Of more rejects than are kept, the others are not known.
  if ((isEverything || kept < load.rejected) && !isForced(load)) return null
  return resolve(tx, edges, [...touching])
}

const urnsPerRead = 5_000

/** What has no row has no edge. */
async function resolve(tx: Tx, edges: readonly NamedEdge[], touching: readonly string[]): Promise<Spared> {
  const urns = [...new Set([...edges.flatMap((edge) => [edge.downstreamUrn, edge.upstreamUrn]), ...touching])].map((urn) => toUrn(urn))
  const ids = new Map<string, number>()
  for (let from = 0; from < urns.length; from += urnsPerRead) for (const row of await findEntities(tx, urns.slice(from, from + urnsPerRead))) ids.set(row.urn, row.id)
  const pairs = edges.flatMap(({ downstreamUrn, upstreamUrn }) => {
    const [downstreamId, upstreamId] = [ids.get(downstreamUrn), ids.get(upstreamUrn)]
    return downstreamId === undefined || upstreamId === undefined ? [] : [{ downstreamId, upstreamId }]
  })
  return { downstreamIds: pairs.map((pair) => pair.downstreamId), upstreamIds: pairs.map((pair) => pair.upstreamId), touchedIds: touching.flatMap((urn) => ids.get(urn) ?? []) }
}
