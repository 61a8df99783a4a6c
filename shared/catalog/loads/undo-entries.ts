/**
 * What each entry of a load's journal comes to when the load is taken back as a whole.
 *
 * A load may change one statement or association in several chunks. Then the first of its entries says what was there
 * before, the last what the load left, and only one of them takes it back.
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

/** What to take back of an entry. `seq` is what the load made the change as, `leftSeq` the change that it left it as the work of: an undo restores another's. */
export type Net = {
  entry: JournalEntry
  seq: number
  leftSeq: number
  before: StatementBefore | AssociationBefore | null
  left: 'present' | 'absent'
}

/** The journal of a load without what its rows hold. */
export type JournalOutline = readonly Omit<JournalRow, 'payload'>[]

type Step = {
  rowId: number
  index: number
  seq: number
  leftSeq: number
  before: Net['before']
  left: Net['left']
}

const rewriting = kindBit('restated') | kindBit('removed')
const statements = kindBit('stated') | rewriting

/** What the entries of a row come to, in their order; null for one that another takes back. Throws on a journal that cannot be read. */
export async function netEntries(
  tx: Tx,
  loadId: string,
  row: JournalRow,
  outline: JournalOutline
): Promise<(Net | null)[]> {
  const entries = unpackJournal(row.payload)
  const own = entries.map((entry, index) => ({ entry, key: keyOf(entry), step: stepOf(entry, row, index) }))
  const chains = new Map<string, Step[]>()
  const others = rowsToCompare(row, outline)
  if (others.length > 0) {
    for (const { key, step } of own) if (key !== null) chains.set(key, [...(chains.get(key) ?? []), step])
    for (const id of others) {
      const other = await findJournal(tx, loadId, id)
      if (!other) continue
      for (const [index, entry] of unpackJournal(other.payload).entries()) {
        const key = keyOf(entry)
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
 * The rows that may hold the same statements or associations: a statement that was only added is noted twice only where it
 * was removed between, and an association where the load found its own.
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

function keyOf(entry: JournalEntry): string | null {
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

/** The last entries that follow on from each other: where something else came between, the load took what that had made. */
function lastSegment(chain: readonly Step[]): { first: Step; last: Step } {
  const inOrder = chain.toSorted((a, b) => a.rowId - b.rowId || a.index - b.index)
  let [first] = inOrder
  let last = first
  for (const step of inOrder.slice(1)) {
    if (!last || !followsOn(last, step)) first = step
    last = step
  }
  if (!first || !last) throw new Error('a chain of nothing')
  return { first, last }
}

const followsOn = (a: Step, b: Step): boolean =>
  a.left === 'absent' ? b.before === null : beforeSeq(b.before) === a.leftSeq
