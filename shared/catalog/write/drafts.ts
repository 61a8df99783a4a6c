/**
 * The drafts of one unit of work: the aspects, edges and associations after its changes, before they are
 * written. Also the effects that several kinds of changes share.
 */
import { prepareAspect } from '../../model/aspect-registry.ts'
import { assetOrSelf } from '../../model/change-facts.ts'
import type { JsonObject } from '../../model/changes.ts'
import { aspectCodeOf, aspectNameOf } from '../../model/lineage-fields.ts'
import type { Order } from '../../model/order.ts'
import type { DomainRow } from '../../store/domains.ts'
import { findEntities, type EntityRow } from '../../store/entities.ts'
import { nameFromUrn } from '../../urn/kinds.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import {
  applyAspectChange,
  aspectDraftKey,
  countEdgeChange,
  currentRow,
  currentValue,
  createForEdges,
  type AspectDraft,
  type AspectDrafts,
  type AspectChange
} from './aspect-drafts.ts'
import type { AssociationDrafts } from './association-drafts.ts'
import type { NewerDescriptions } from './bring-back.ts'
import type { EventDrafts } from './event-drafts.ts'
import { placeDomain, type DomainTree, type SiblingRule } from './domain-tree.ts'
import { isReplacedAfter, type OwnerStatements } from '../../statements/merge.ts'
import { ownerAspectKey, type StatementsByOwner } from './read-statements.ts'
import { entityOf, isPresentNow, referred, rememberEntity, type UnitOfWork } from './unit-of-work.ts'

export type Drafts = {
  aspects: AspectDrafts
  statements: StatementsByOwner
  /**
   * By ownerAspectKey: existing aspects of which only edges change. They are not read, and get a new version.
   */
  edgeAspects: Map<number, { isTouched: boolean }>
  associations: AssociationDrafts
  tree: DomainTree
  /** Entities that nothing refers to, among those whose creation is to be undone. */
  unreferenced: ReadonlySet<number>
  events: EventDrafts
  newerDescriptions: NewerDescriptions
  /**
   * Whether a call that repeats the creation of a domain is refused. In a load, a repetition means that the
   * file was sent twice.
   */
  refusesRepeatedCreation: boolean
}

export function aspectDraft(drafts: Drafts, entityId: number, aspectName: string): AspectDraft {
  const draft = drafts.aspects.get(aspectDraftKey(entityId, aspectName))
  if (!draft) throw new Error(`aspect ${aspectName} of entity ${entityId} was not loaded`)
  return draft
}

export function ownerStatements(drafts: Drafts, ownerId: number, aspectName: string): OwnerStatements {
  const owner = drafts.statements.get(ownerAspectKey(ownerId, aspectCodeOf(aspectName)))
  if (!owner) throw new Error(`statements in ${aspectName} of entity ${ownerId} were not read`)
  return owner
}

/**
 * Counts a change of edges as a version of their aspect. The aspect exists once one of its edges was stated,
 * even if that edge has been removed since. Returns whether a reader can see a difference.
 */
export function countEdgesInAspect(
  work: UnitOfWork,
  drafts: Drafts,
  owner: OwnerStatements,
  { isMade, hasChanged }: { isMade: boolean; hasChanged: boolean },
  order: Order
): boolean {
  const present = drafts.edgeAspects.get(ownerAspectKey(owner.ownerId, owner.aspectCode))
  if (present) {
    if (!hasChanged || present.isTouched) return hasChanged
    present.isTouched = true
    work.undo.push(() => {
      present.isTouched = false
    })
    return true
  }
  const draft = aspectDraft(drafts, owner.ownerId, aspectNameOf(owner.aspectCode))
  const isNew = isMade && !isReplacedAfter(work.merging, owner, order) && createForEdges(work, draft, order)
  if (hasChanged && !isNew) countEdgeChange(work, draft)
  return hasChanged || isNew
}

/**
 * Applies a change of a JSON aspect. If the aspect is the properties of a domain, the domain tree is updated
 * too, and may refuse the change.
 */
export async function applyDocumentChange(
  work: UnitOfWork,
  drafts: Drafts,
  draft: AspectDraft,
  change: AspectChange,
  siblingRule: SiblingRule,
  order: Order,
  systemMetadata: JsonObject | null
): Promise<boolean> {
  const entity = work.byId.get(draft.entityId)
  if (!entity) throw new Error(`entity ${draft.entityId} was not resolved`)
  const isNew = currentRow(draft)?.value === undefined || currentRow(draft)?.value === null
  const hasChanged = applyAspectChange(work, draft, change, order, { systemMetadata })
  const wasCreated = change.kind === 'delete' ? false : markCreated(work, assetOrSelf(entity.urn))
  if (draft.aspectName === 'domainProperties' && (hasChanged || isNew)) {
    await placeDomain(
      work,
      drafts.tree,
      await domainRowOf(work, drafts, entity, currentValue(draft)),
      siblingRule
    )
  }
  return hasChanged || wasCreated
}

/** The name and parent in the properties of a domain. */
export async function domainRowOf(
  work: UnitOfWork,
  drafts: Drafts,
  { id, urn }: Pick<EntityRow, 'id' | 'urn'>,
  properties: JsonObject | null
): Promise<DomainRow> {
  const value = prepareAspect('domain', 'domainProperties', { name: nameFromUrn(urn), ...properties })
  return {
    entityId: id,
    name: typeof value.name === 'string' ? value.name : nameFromUrn(urn),
    parentId: await parentId(work, drafts, value)
  }
}

async function parentId(work: UnitOfWork, drafts: Drafts, value: JsonObject): Promise<number | null> {
  if (typeof value.parentDomain !== 'string') return null
  const urn = toUrn(value.parentDomain, 'aspect.parentDomain')
  if (!work.entities.has(urn))
    for (const row of await findEntities(drafts.tree.tx, [urn])) rememberEntity(work, row)
  return referred(work, urn, 'aspect.parentDomain').id
}

export function markCreated(work: UnitOfWork, urn: Urn): boolean {
  const entity = entityOf(work, urn)
  if (isPresentNow(work, entity)) return false
  work.created.add(entity.id)
  work.undo.push(() => {
    work.created.delete(entity.id)
  })
  return true
}
