/**
 * Says which soft-deleted entities a change names without bringing them back: what it states is stored, and
 * nobody sees it until something describes the entity.
 */
import type { Tx } from '../../db/database.ts'
import type { Change, ChangeRecord, LoadWarnings, Verdict } from '../../model/changes.ts'
import { distinct } from '../../statements/columns.ts'
import { findRemoved } from '../../store/entities.ts'
import { warningsKeptMaxCount } from '../../store/loads.ts'
import type { Urn } from '../../urn/urn.ts'
import { aspectDraftKey, currentRow, currentValue, type AspectDrafts } from './aspect-drafts.ts'
import { isUndo, urnsNamed } from './plan-records.ts'
import type { EdgeAssets } from './resolve-edges.ts'
import { isPresentNow, type UnitOfWork } from './unit-of-work.ts'

/** Finds the entities that stay removed in rows that were read before; nothing is read for it. */
export function staysRemovedIn(
  work: UnitOfWork,
  aspects: AspectDrafts
): (record: ChangeRecord) => readonly Urn[] {
  const removed = new Set<Urn>()
  for (const row of work.byId.values()) {
    if (!row.isRemoved || !isPresentNow(work, row)) continue
    const status = aspects.get(aspectDraftKey(row.id, 'status'))
    // What the call or load removes itself surprises nobody.
    if (!status || (currentValue(status)?.removed === true && currentRow(status)?.seq !== work.seq))
      removed.add(row.urn)
  }
  if (removed.size === 0) return () => []
  return ({ changes }) => [
    ...new Set(
      changes
        .filter(isHiddenWithEntity)
        .flatMap(urnsNamed)
        .filter((urn) => removed.has(urn))
    )
  ]
}

/** A change of the removal itself says what it does, and an undo restores what was. */
const isHiddenWithEntity = (change: Change): boolean =>
  !isUndo(change) &&
  change.kind !== 'deleteEntity' &&
  change.kind !== 'deleteDomain' &&
  !('aspectName' in change && change.aspectName === 'status')

/** The soft-deleted assets among those of edges in columns, with the first line of each. One statement. */
export async function removedAmong(
  tx: Tx,
  { upstreams, downstreams }: EdgeAssets,
  lines: Int32Array
): Promise<ReadonlyMap<number, Urn[]>> {
  const ids = new Int32Array(upstreams.length + downstreams.length)
  ids.set(upstreams)
  ids.set(downstreams, upstreams.length)
  const urnOf = new Map((await findRemoved(tx, distinct(ids))).map(({ id, urn }) => [id, urn]))
  const byLine = new Map<number, Urn[]>()
  for (let place = 0; place < lines.length && urnOf.size > 0; place += 1)
    for (const id of [upstreams[place] ?? 0, downstreams[place] ?? 0]) {
      const [urn, line] = [urnOf.get(id), lines[place] ?? 0]
      if (urn === undefined) continue
      byLine.set(line, [...(byLine.get(line) ?? []), urn])
      urnOf.delete(id)
    }
  return byLine
}

/** One warning for each entity, however many records name it. */
export function removalWarnings(verdicts: readonly Verdict[]): LoadWarnings {
  const urns = new Set<Urn>()
  for (const verdict of verdicts)
    if (verdict.outcome !== 'rejected') for (const urn of verdict.staysRemoved ?? []) urns.add(urn)
  return { count: urns.size, messages: [...urns].slice(0, warningsKeptMaxCount).map(messageOn) }
}

/** Both together; several mutations of a request share one answer. */
export const withWarnings = (before: LoadWarnings | undefined, more: LoadWarnings): LoadWarnings => {
  const messages = new Set([...(before?.messages ?? []), ...more.messages])
  return { count: (before?.count ?? 0) + more.count, messages: [...messages].slice(0, warningsKeptMaxCount) }
}

const messageOn = (urn: Urn): string =>
  `${urn} is soft-deleted and stays hidden with what was written: an edge, a domain or a removal only names it, ` +
  'and what was accepted before the deletion is older. A newer upsertEntity, an aspect that describes it, or the ' +
  'aspect status with removed false brings it back.'
