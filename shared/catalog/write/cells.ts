/** The cells that one application of changes works on, and what several kinds of changes do to them alike. */
import { prepareAspect } from '../../model/aspect-registry.ts'
import { standsOn } from '../../model/change-facts.ts'
import type { JsonObject } from '../../model/changes.ts'
import { aspectCodeOf, aspectNameOf } from '../../model/lineage-fields.ts'
import type { Order } from '../../model/order.ts'
import type { TimeseriesRow } from '../../store/aspects.ts'
import type { DomainRow } from '../../store/domains.ts'
import { findEntities, type EntityRow } from '../../store/entities.ts'
import { nameFromUrn } from '../../urn/kinds.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import {
  applyAspectChange,
  aspectCellKey,
  countEdgeChange,
  currentRow,
  currentValue,
  existForEdges,
  type AspectCell,
  type AspectCells,
  type AspectChange
} from './aspect-cells.ts'
import type { AssociationCells } from './association-cells.ts'
import { placeDomain, type DomainTree, type SiblingRule } from './domain-tree.ts'
import { isReplacedAfter, type OwnerStatements } from '../../statements/merge.ts'
import { ownerAspectKey, type StatementsByOwner } from './read-statements.ts'
import { entityOf, isPresentNow, referred, rememberEntity, type WorkingSet } from './working-set.ts'

export type Cells = {
  aspects: AspectCells
  statements: StatementsByOwner
  /** By ownerAspectKey: aspects that are there, of which only the edges change. They get another version, and are not read. */
  edgeAspects: Map<number, { isTouched: boolean }>
  associations: AssociationCells
  tree: DomainTree
  /** Those of the entities to be taken back that nothing refers to. */
  unmakeable: ReadonlySet<number>
  timeseries: TimeseriesRow[]
  /** A call that repeats the creation of a domain is refused; in a load it is what a second run of the file does. */
  refusesRepeatedCreation: boolean
}

export function aspectCell(cells: Cells, entityId: number, aspectName: string): AspectCell {
  const cell = cells.aspects.get(aspectCellKey(entityId, aspectName))
  if (!cell) throw new Error(`aspect ${aspectName} of entity ${entityId} was not loaded`)
  return cell
}

export function statementsOf(cells: Cells, ownerId: number, aspectName: string): OwnerStatements {
  const owner = cells.statements.get(ownerAspectKey(ownerId, aspectCodeOf(aspectName)))
  if (!owner) throw new Error(`statements in ${aspectName} of entity ${ownerId} were not read`)
  return owner
}

/**
 * An aspect is there once an edge of it was asserted, also when the edge has been removed since, and what changes its edges
 * is a version of it. Says whether a reader can see a difference.
 */
export function showEdges(
  set: WorkingSet,
  cells: Cells,
  owner: OwnerStatements,
  { isMade, hasChanged }: { isMade: boolean; hasChanged: boolean },
  order: Order
): boolean {
  const present = cells.edgeAspects.get(ownerAspectKey(owner.ownerId, owner.aspectCode))
  if (present) {
    if (!hasChanged || present.isTouched) return hasChanged
    present.isTouched = true
    set.undo.push(() => {
      present.isTouched = false
    })
    return true
  }
  const cell = aspectCell(cells, owner.ownerId, aspectNameOf(owner.aspectCode))
  const isNew = isMade && !isReplacedAfter(set.merging, owner, order) && existForEdges(set, cell, order)
  if (hasChanged && !isNew) countEdgeChange(set, cell)
  return hasChanged || isNew
}

/** Applies a change of a JSON aspect; where it is that of a domain, the tree follows, or refuses. */
export async function withPlace(
  set: WorkingSet,
  cells: Cells,
  cell: AspectCell,
  change: AspectChange,
  siblingRule: SiblingRule,
  order: Order,
  systemMetadata: JsonObject | null
): Promise<boolean> {
  const entity = set.byId.get(cell.entityId)
  if (!entity) throw new Error(`entity ${cell.entityId} was not resolved`)
  const isNew = currentRow(cell)?.value === undefined || currentRow(cell)?.value === null
  const hasChanged = applyAspectChange(set, cell, change, order, { systemMetadata })
  const wasCreated = change.kind === 'delete' ? false : markCreated(set, standsOn(entity.urn))
  if (cell.aspectName === 'domainProperties' && (hasChanged || isNew)) {
    await placeDomain(set, cells.tree, await domainRowOf(set, cells, entity, currentValue(cell)), siblingRule)
  }
  return hasChanged || wasCreated
}

/** The place and name that the properties of a domain give it. */
export async function domainRowOf(
  set: WorkingSet,
  cells: Cells,
  { id, urn }: Pick<EntityRow, 'id' | 'urn'>,
  properties: JsonObject | null
): Promise<DomainRow> {
  const value = prepareAspect('domain', 'domainProperties', { name: nameFromUrn(urn), ...properties })
  return {
    entityId: id,
    name: typeof value.name === 'string' ? value.name : nameFromUrn(urn),
    parentId: await parentId(set, cells, value)
  }
}

async function parentId(set: WorkingSet, cells: Cells, value: JsonObject): Promise<number | null> {
  if (typeof value.parentDomain !== 'string') return null
  const urn = toUrn(value.parentDomain, 'aspect.parentDomain')
  if (!set.entities.has(urn))
    for (const row of await findEntities(cells.tree.tx, [urn])) rememberEntity(set, row)
  return referred(set, urn, 'aspect.parentDomain').id
}

export function markCreated(set: WorkingSet, urn: Urn): boolean {
  const entity = entityOf(set, urn)
  if (isPresentNow(set, entity)) return false
  set.created.add(entity.id)
  set.undo.push(() => {
    set.created.delete(entity.id)
  })
  return true
}
