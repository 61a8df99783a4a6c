/**
 * Combines the entries in the journal of a load, for an undo of the whole load.
 *
 * A load may change one statement or association in several chunks. Then the first of its entries has the
 * value before, the last has the value that the load left, and only one of them undoes it.
 */
import type { Tx } from '../../db/database.ts'
import {
  repeatBit,
  beforeSeq,
  kindBit,
  unpackJournal,
  type AssociationBefore,
  type JournalEntry,
  type StatementBefore
} from '../../statements/load-journal.ts'
import { findJournal, type JournalRow } from '../../store/load-journal.ts'

/**
 * What to undo for an entry. `seq` is the seq with which the load made the change. `leftSeq` is the seq of
 * the change that set the remaining value; it differs if an undo restored the value of another change.
 */
export type NetEntry = {
  entry: JournalEntry
  seq: number
  leftSeq: number
  before: StatementBefore | AssociationBefore | null
  left: 'present' | 'absent'
}

/** The journal of a load without its entries. */
export type JournalOutline = readonly Omit<JournalRow, 'payload'>[]

type Step = {
  rowId: number
  index: number
  seq: number
  leftSeq: number
  before: NetEntry['before']
  left: NetEntry['left']
}

const rewriting = kindBit('restated') | kindBit('removed')
const statements = kindBit('stated') | rewriting

/**
 * The combined entries of a row, in their order; null for an entry that another entry undoes. Throws on an
 * unreadable journal.
 */
export async function netEntries(
  tx: Tx,
  loadId: string,
  row: JournalRow,
  outline: JournalOutline
): Promise<(NetEntry | null)[]> {
  const entries = unpackJournal(row.payload)
  const own = entries.map((entry, index) => ({
    entry,
    key: rowKeyOf(entry),
    step: stepOf(entry, row, index)
  }))
  const chains = new Map<string, Step[]>()
  const others = rowsToCompare(row, outline)
  if (others.length > 0) {
    for (const { key, step } of own) if (key !== null) chains.set(key, [...(chains.get(key) ?? []), step])
    for (const id of others) {
      const other = await findJournal(tx, loadId, id)
      if (!other) continue
      for (const [index, entry] of unpackJournal(other.payload).entries()) {
        const key = rowKeyOf(entry)
        if (key !== null) chains.get(key)?.push(stepOf(entry, other, index))
      }
    }
  }
  return own.map(({ entry, key, step }) => {
    const chain = key === null ? undefined : chains.get(key)
    if (!chain || chain.length < 2)
      return { entry, seq: step.seq, leftSeq: step.leftSeq, before: step.before, left: step.left }
    const { first, last } = lastSegment(chain)
    if (first.rowId !== row.id || first.index !== step.index) return null
    return first.before === null && last.left === 'absent'
      ? null
      : { entry, seq: last.seq, leftSeq: last.leftSeq, before: first.before, left: last.left }
  })
}

/**
 * The rows that may contain the same statements or associations. A statement that was only added is recorded
 * twice only if it was removed in between; an association only if the load changed its own value.
 */
function rowsToCompare(row: JournalRow, outline: JournalOutline): number[] {
  const isRetried = new Set(outline.map(({ seq }) => seq)).size > 1
  const comparesAssociations = isRetried || outline.some(({ kinds }) => (kinds & repeatBit) !== 0)
  return outline
    .filter(({ id, kinds }) => {
      if (id === row.id) return false
      if (comparesAssociations && (row.kinds & kinds & kindBit('association')) !== 0) return true
      return (
        ((row.kinds & rewriting) !== 0 && (kinds & statements) !== 0) ||
        ((row.kinds & statements) !== 0 && (kinds & rewriting) !== 0)
      )
    })
    .map(({ id }) => id)
}

function rowKeyOf(entry: JournalEntry): string | null {
  if (entry.kind === 'association') return `${entry.entityId}`
  if (entry.kind !== 'stated' && entry.kind !== 'restated' && entry.kind !== 'removed') return null
  const { downstreamId, upstreamId, ownerId, field, sourceId, recordKey } = entry.key
  return `${downstreamId} ${upstreamId} ${ownerId} ${field} ${sourceId} ${recordKey}`
}

const stepOf = (entry: JournalEntry, row: Pick<JournalRow, 'id' | 'seq'>, index: number): Step => ({
  rowId: row.id,
  index,
  seq: row.seq,
  leftSeq: 'left' in entry ? (entry.left ?? row.seq) : row.seq,
  before: 'before' in entry && entry.kind !== 'patched' ? entry.before : null,
  left: entry.kind === 'removed' ? 'absent' : 'present'
})

/**
 * The first and last of the newest entries that build on each other. An entry before them was followed by a
 * change from outside the load, so its value was no longer the load's.
 */
function lastSegment(chain: readonly Step[]): { first: Step; last: Step } {
  const inOrder = chain.toSorted((a, b) => a.rowId - b.rowId || a.index - b.index)
  let [first] = inOrder
  let last = first
  for (const step of inOrder.slice(1)) {
    if (!last || !followsOn(last, step)) first = step
    last = step
  }
  if (!first || !last) throw new Error('an empty chain')
  return { first, last }
}

const followsOn = (a: Step, b: Step): boolean =>
  a.left === 'absent' ? b.before === null : beforeSeq(b.before) === a.leftSeq
