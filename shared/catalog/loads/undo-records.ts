/**
 * The records of an undo. They are made from the journal of the load when a chunk is applied, so they are not
 * stored a second time.
 */
import { limits } from '../../limits.ts'
import type { Tx } from '../../db/database.ts'
import type { UndoRecord } from '../../formats/undo.ts'
import {
  passOfKind,
  unpackJournal,
  type AssociationBefore,
  type JournalEntry,
  type StatementBefore
} from '../../statements/load-journal.ts'
import { findEntitiesById } from '../../store/entities.ts'
import { findJournal, listJournal, type JournalRow } from '../../store/load-journal.ts'
import { sourceNames } from '../../store/statements.ts'
import type { Urn } from '../../urn/urn.ts'
import { UnreadableChunk } from '../write/urns-of-ids.ts'
import type { RawRecord } from './chunk-payload.ts'
import { readRecords } from './chunk-records.ts'
import { netEntries, type JournalOutline, type NetEntry } from './undo-entries.ts'

/** The entries of one pass of a journal row, from index `from` up to but excluding `to`. */
export type JournalPart = { loadId: string; journalId: number; pass: number; from: number; to: number }

/** The stored text of a chunk whose records are a part of a journal. */
export const textOfPart = (part: JournalPart): string => JSON.stringify({ journal: part })

/** The stored text of records that are one group of the dry run of an undo. */
export const textOfRecords = (records: readonly string[]): string => JSON.stringify({ records })

/** The records of a chunk, whether they are stored in it or in a journal. Throws UnreadableChunk. */
export async function readChunkRecords(
  tx: Tx,
  chunk: { format: string; payload: Buffer | null }
): Promise<RawRecord[]> {
  const stored = await readRecords(tx, chunk.payload)
  const [first] = stored
  if (chunk.format !== 'undo' || !first || stored.length > 1) return stored
  return (await recordsOfGroup(tx, first)) ?? stored
}

/**
 * The groups of records in the only chunk of an undo that is a dry run. They must be applied one after the
 * other, as the chunks of an undo are. Throws UnreadableChunk.
 */
export async function readUndoGroups(tx: Tx, chunk: { payload: Buffer | null }): Promise<RawRecord[][]> {
  const groups: RawRecord[][] = []
  for (const stored of await readRecords(tx, chunk.payload))
    groups.push((await recordsOfGroup(tx, stored)) ?? [stored])
  return groups
}

/** The records that a stored text refers to; null if the text is itself a record. */
async function recordsOfGroup(tx: Tx, { line, text }: RawRecord): Promise<RawRecord[] | null> {
  const group = JSON.parse(text) as { journal?: JournalPart; records?: string[] }
  const texts = group.journal ? await textsOfPart(tx, group.journal) : (group.records ?? null)
  return texts?.map((each, index) => ({ line: line + index, text: each })) ?? null
}

async function textsOfPart(tx: Tx, part: JournalPart): Promise<string[]> {
  const row = await findJournal(tx, part.loadId, part.journalId)
  if (!row) throw new UnreadableChunk(new Error('the journal was deleted'))
  return (await recordsOf(tx, part, row)).map((record) => JSON.stringify(record))
}

async function recordsOf(tx: Tx, part: JournalPart, row: JournalRow): Promise<UndoRecord[]> {
  const outline = await listJournal(tx, part.loadId)
  const isWanted = (entry: JournalEntry): boolean => passOfKind(entry.kind) === part.pass
  const entries =
    part.pass === passOfKind('stated')
      ? await netEntries(tx, part.loadId, row, outline)
      : unpackJournal(row.payload).map((entry): NetEntry => ({
          entry,
          seq: row.seq,
          leftSeq: row.seq,
          before: null,
          left: 'present'
        }))
  const kinds = unpackJournal(row.payload)
  const wanted = entries
    .filter((_, index) => isWanted(kinds[index] ?? { kind: 'deleted', entityId: 0 }))
    .slice(part.from, part.to)
  return nameEntries(tx, wanted, outline)
}

/** The entries with URNs and names instead of numbers. */
export async function nameEntries(
  tx: Tx,
  entries: readonly (NetEntry | null)[],
  outline: JournalOutline
): Promise<UndoRecord[]> {
  const seqs = [...new Set(outline.map(({ seq }) => seq))]
  const urns = new Map(
    (await findEntitiesById(tx, [...new Set(entries.flatMap((net) => (net ? idsOf(net) : [])))])).map(
      (row) => [row.id, row.urn]
    )
  )
  const sources = await sourceNames(tx, [
    ...new Set(
      entries.flatMap((net) =>
        net && 'key' in net.entry && net.entry.kind !== 'patched' ? net.entry.key.sourceId : []
      )
    )
  ])
  const urnOf = (id: number): Urn => {
    const urn = urns.get(id)
    if (urn === undefined) throw new UnreadableChunk(new Error('an entity of the journal does not exist'))
    return urn
  }
  return entries.map((net): UndoRecord => {
    if (net === null) return { kind: 'nothing' }
    const { entry, seq, leftSeq, left } = net
    switch (entry.kind) {
      case 'stated':
      case 'restated':
      case 'removed': {
        const { key } = entry
        const before = net.before as StatementBefore | null
        return {
          kind: 'undoStatement',
          ownerUrn: urnOf(key.ownerId),
          upstreamUrn: urnOf(key.upstreamId),
          downstreamUrn: urnOf(key.downstreamId),
          fieldCode: key.field,
          source: sources.get(key.sourceId) ?? '',
          recordKey: key.recordKey,
          seq,
          left,
          leftSeq,
          before
        }
      }
      case 'association': {
        const before = net.before as AssociationBefore | null
        return {
          kind: 'undoAssociation',
          entityUrn: urnOf(entry.entityId),
          leftSeq,
          before: {
            changedSeq: before?.seq ?? 0,
            domainUrn: before?.domainId ? urnOf(before.domainId) : null,
            attributes: before?.attributes ?? null
          }
        }
      }
      case 'patched': {
        const { key, before } = entry
        return {
          kind: 'undoPatches',
          ownerUrn: urnOf(key.ownerId),
          upstreamUrn: urnOf(key.upstreamId),
          downstreamUrn: urnOf(key.downstreamId),
          fieldCode: key.field,
          seqs,
          before
        }
      }
      case 'event':
        return { kind: 'event', entityUrn: urnOf(entry.entityId), aspectName: entry.aspectName }
      case 'aspect':
        return {
          kind: 'undoAspect',
          entityUrn: urnOf(entry.entityId),
          aspectName: entry.aspectName,
          seq,
          seqs,
          was: entry.was
        }
      case 'made':
      case 'madeDomain':
        return { kind: 'undoCreation', entityUrn: urnOf(entry.entityId), seqs }
      case 'unmade':
        return { kind: 'undoTakeBack', entityUrn: urnOf(entry.entityId), seq }
      case 'deleted':
        return { kind: 'deleted', entityUrn: urnOf(entry.entityId) }
    }
  })
}

function idsOf({ entry, before }: NetEntry): number[] {
  if ('key' in entry) return [entry.key.ownerId, entry.key.upstreamId, entry.key.downstreamId]
  return [
    entry.entityId,
    ...(before && 'domainId' in before && before.domainId !== null ? [before.domainId] : [])
  ]
}

/** The parts of a journal row that make up the chunks of one pass. */
export function partsOf(loadId: string, { id, counts }: JournalOutline[number], pass: number): JournalPart[] {
  const count = counts[pass - 1] ?? 0
  const parts: JournalPart[] = []
  for (let from = 0; from < count; from += limits.chunkMaxRecords)
    parts.push({ loadId, journalId: id, pass, from, to: Math.min(count, from + limits.chunkMaxRecords) })
  return parts
}
