/**
 * Owners of whom a load states nothing that its source has not stated already: they need no lock, and nothing is written for them.
 *
 * A lock makes a load wait for whoever changes the same owner. What is newer may do so at any time, before the load or behind it: it wins
 * either way. What is older must have ended: loads are asked for as ever (olderWork), and a call has its transaction's id before it locks
 * its owners, and those before it draws its seq. So once all transactions have ended that began before some transaction of a worker
 * after the load was accepted, every call that is still to come is newer. A load that is sent again wrote 5.5 bytes of log an
 * edge for locks alone, and each page of its entities once more after a checkpoint.
 */
import type { Tx } from '../../db/database.ts'
import { bareRecordKey } from '../../model/record-keys.ts'
import { appendedPosition } from '../../model/list-order.ts'
import { transactionIds } from '../../store/order-of-changes.ts'
import { findRemembered } from '../../store/plain-edges.ts'
import { distinct, pickOfRepeats, placesWhere, reorder, type EdgeColumns } from './edge-columns.ts'
import { aspectNamesOf } from './edge-work.ts'
import { findStated } from './find-stated.ts'

/** Whether a call that is older than the load may still be under way. A load that is opened anew has another seq, and other calls before it. */
export type AskOlderCalls = (tx: Tx, load: { loadId: string; seq: number }) => Promise<boolean>

/** Loads that a worker applies at a time are fewer. One that is forgotten is asked about anew: its owners are locked while anything older than that is under way. */
const loadsMaxCount = 256

export function watchOlderCalls(): AskOlderCalls {
  /** By load and seq: the id of the first transaction here that asked for it. */
  const firstIds = new Map<string, bigint>()
  return async (tx, { loadId, seq }) => {
    const { own, least } = await transactionIds(tx)
    const load = `${loadId} ${seq}`
    const first = firstIds.get(load) ?? own
    if (!firstIds.has(load)) {
      const [oldest] = firstIds.keys()
      if (firstIds.size >= loadsMaxCount && oldest !== undefined) firstIds.delete(oldest)
      firstIds.set(load, first)
    }
    return least < first
  }
}

/** So many edges tell whether it is worth to look at all of them. */
const sampleCount = 256

/** The edges are in key order, and their ends exist. To be asked when no older call may be under way, and nothing older that takes away. */
export async function findStatedOwners(
  tx: Tx,
  edges: EdgeColumns,
  sourceId: number,
  seq: number
): Promise<Set<number>> {
  const stamp = { sourceId, recordKey: bareRecordKey, position: appendedPosition, seq }
  const once = pickOfRepeats(edges, 1)
  if (once.places.length > sampleCount) {
    const sample = reorder(
      once,
      placesWhere(sampleCount, () => true)
    )
    if ((await findStated(tx, sample, stamp)).bySource.length * 2 < sampleCount) return new Set()
  }
  const isStated = new Uint8Array(once.places.length)
  for (const at of (await findStated(tx, once, stamp)).bySource) isStated[at] = 1
  const owners = new Set(distinct(once.ownerIds))
  once.ownerIds.forEach((ownerId, at) => {
    if (isStated[at] === 0) owners.delete(ownerId)
  })
  if (owners.size === 0) return owners
  // Of whom more is remembered goes the general way, as ever.
  const remembered = await findRemembered(tx, Int32Array.from(owners), aspectNamesOf(once.fields), seq)
  for (const ownerId of [...remembered.more, ...remembered.removals]) owners.delete(ownerId)
  return owners
}
