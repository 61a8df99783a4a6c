/**
 * Puts a domain back to its place before a load, even if the load has put other domains in the way.
 *
 * The domains of a load are restored one after the other. Each is checked against changes newer than the
 * load, but not against the load's changes to other domains, which will be undone next. Reads and writes
 * happen under the lock of the domain tree.
 */
import type { JsonObject } from '../../model/changes.ts'
import type { Order } from '../../model/order.ts'
import type { DomainRow } from '../../store/domains.ts'
import {
  aspectDraftKey,
  currentRow,
  readAspectDrafts,
  seqsOfChanges,
  type AspectDraft,
  type AspectChange
} from './aspect-drafts.ts'
import { domainRowOf, applyDocumentChange, type Drafts } from './drafts.ts'
import { domainRow, pathAbove, readDomainEntity, siblingsOf } from './domain-tree.ts'
import { urnOf, type UnitOfWork } from './unit-of-work.ts'

/** `seqs` are those of the load to undo. */
export type PutBack = { seqs: readonly number[]; order: Order; systemMetadata: JsonObject | null }

/**
 * Returns whether anything has changed. Throws CONFLICT if something newer than the load has the name, or has
 * moved this domain above its old place.
 */
export async function putBackDomain(
  work: UnitOfWork,
  drafts: Drafts,
  draft: AspectDraft,
  change: Extract<AspectChange, { kind: 'put' }>,
  { seqs, order, systemMetadata }: PutBack
): Promise<boolean> {
  const next = await domainRowOf(
    work,
    drafts,
    { id: draft.entityId, urn: urnOf(work, draft.entityId) },
    change.value
  )
  await clearPath(work, drafts, next, seqs, order)
  return applyDocumentChange(
    work,
    drafts,
    draft,
    change,
    (await hasNewerSibling(work, drafts, next, seqs)) ? 'in this domain' : null,
    order,
    systemMetadata
  )
}

/**
 * If the domain is now above its old place, a domain in between that the load put there moves to the current
 * place of this domain. The moved domain still counts as changed by the load, so its own undo restores or
 * removes it.
 */
async function clearPath(
  work: UnitOfWork,
  drafts: Drafts,
  next: DomainRow,
  seqs: readonly number[],
  order: Order
): Promise<void> {
  const path = await pathAbove(drafts.tree, next.parentId)
  const own = path.indexOf(next.entityId)
  if (own < 0) return
  for (const id of path.slice(0, own).reverse()) {
    const draft = await propertiesOf(work, drafts, id, seqs)
    const [row, restores] = [currentRow(draft), changeOf(draft)]
    if (!row?.value || !seqs.includes(restores)) continue
    const { parentDomain: _, ...value } = row.value
    const parentId = (await domainRow(drafts.tree, next.entityId))?.parentId ?? null
    if (parentId !== null) await readDomainEntity(work, drafts.tree, parentId)
    const moved = parentId === null ? value : { ...value, parentDomain: urnOf(work, parentId) }
    await applyDocumentChange(
      work,
      drafts,
      draft,
      { kind: 'put', value: moved, restores },
      null,
      order,
      row.systemMetadata
    )
    return
  }
}

/**
 * Names are checked when a call sets them, but a proposal may repeat a name. So domains that had the same
 * name before the load may have it again.
 */
async function hasNewerSibling(
  work: UnitOfWork,
  drafts: Drafts,
  next: DomainRow,
  seqs: readonly number[]
): Promise<boolean> {
  for (const id of await siblingsOf(drafts.tree, next)) {
    const seq = changeOf(await propertiesOf(work, drafts, id, seqs))
    if (seq > Math.min(...seqs) && !seqs.includes(seq)) return true
  }
  return false
}

/** The seq of the change that set the current properties of a domain. */
const changeOf = ({ rows }: AspectDraft): number => seqsOfChanges(rows).at(-1) ?? 0

async function propertiesOf(
  work: UnitOfWork,
  drafts: Drafts,
  entityId: number,
  seqs: readonly number[]
): Promise<AspectDraft> {
  const key = aspectDraftKey(entityId, 'domainProperties')
  const known = drafts.aspects.get(key)
  if (known) return known
  await readDomainEntity(work, drafts.tree, entityId)
  const loaded = await readAspectDrafts(drafts.tree.tx, work, [
    { entityId, aspectName: 'domainProperties', oldest: { seq: Math.min(...seqs), line: 0 } }
  ])
  const draft = loaded.get(key)
  if (!draft) throw new Error(`the properties of domain ${entityId} were not loaded`)
  drafts.aspects.set(key, draft)
  return draft
}
