/**
 * Puts a domain back where it was before a load, also where the load has put others in its way.
 *
 * The domains of a load are restored one after the other, so each must be judged by what is newer than the load, not by what the
 * load did to others and is about to be undone. All of this is read and written under the lock of the domain tree.
 */
import type { JsonObject } from '../../model/changes.ts'
import type { Order } from '../../model/order.ts'
import { findEntitiesById } from '../../store/entities.ts'
import type { DomainRow } from '../../store/domains.ts'
import {
  aspectCellKey,
  currentRow,
  loadAspectCells,
  seqsOfChanges,
  type AspectCell,
  type AspectChange
} from './aspect-cells.ts'
import { domainRowOf, withPlace, type Cells } from './cells.ts'
import { domainRow, pathAbove, siblingsOf } from './domain-tree.ts'
import { rememberEntity, urnOf, type WorkingSet } from './working-set.ts'

/** `seqs` are those of the load that is undone. */
export type PutBack = { seqs: readonly number[]; order: Order; systemMetadata: JsonObject | null }

/** Says whether anything has changed. Throws CONFLICT where something newer than the load has the name or stands above the place. */
export async function putBackDomain(
  set: WorkingSet,
  cells: Cells,
  cell: AspectCell,
  change: Extract<AspectChange, { kind: 'put' }>,
  { seqs, order, systemMetadata }: PutBack
): Promise<boolean> {
  const next = await domainRowOf(
    set,
    cells,
    { id: cell.entityId, urn: urnOf(set, cell.entityId) },
    change.value
  )
  await clearPath(set, cells, next, seqs, order)
  return withPlace(
    set,
    cells,
    cell,
    change,
    (await hasNewerSibling(set, cells, next, seqs)) ? 'in this domain' : null,
    order,
    systemMetadata
  )
}

/**
 * Where the domain now stands above its place, a domain between that the load put there takes over the place that this one
 * has now. It still counts as the work of the load, so that its own undo restores it or takes it out.
 */
async function clearPath(
  set: WorkingSet,
  cells: Cells,
  next: DomainRow,
  seqs: readonly number[],
  order: Order
): Promise<void> {
  const path = await pathAbove(cells.tree, next.parentId)
  const own = path.indexOf(next.entityId)
  if (own < 0) return
  for (const id of path.slice(0, own).reverse()) {
    const cell = await propertiesOf(set, cells, id, seqs)
    const [row, restores] = [currentRow(cell), changeOf(cell)]
    if (!row?.value || !seqs.includes(restores)) continue
    const { parentDomain: _, ...value } = row.value
    const parentId = (await domainRow(cells.tree, next.entityId))?.parentId ?? null
    if (parentId !== null) await resolve(set, cells, parentId)
    const lifted = parentId === null ? value : { ...value, parentDomain: urnOf(set, parentId) }
    await withPlace(
      set,
      cells,
      cell,
      { kind: 'put', value: lifted, restores },
      null,
      order,
      row.systemMetadata
    )
    return
  }
}

/** Names are unique where they are given, but a proposal may repeat one: what had the name beside this domain before the load may have it again. */
async function hasNewerSibling(
  set: WorkingSet,
  cells: Cells,
  next: DomainRow,
  seqs: readonly number[]
): Promise<boolean> {
  for (const id of await siblingsOf(cells.tree, next)) {
    const seq = changeOf(await propertiesOf(set, cells, id, seqs))
    if (seq > Math.min(...seqs) && !seqs.includes(seq)) return true
  }
  return false
}

/** The seq of the change that made a domain what it is. */
const changeOf = ({ rows }: AspectCell): number => seqsOfChanges(rows).at(-1) ?? 0

async function propertiesOf(
  set: WorkingSet,
  cells: Cells,
  entityId: number,
  seqs: readonly number[]
): Promise<AspectCell> {
  const key = aspectCellKey(entityId, 'domainProperties')
  const known = cells.aspects.get(key)
  if (known) return known
  await resolve(set, cells, entityId)
  const loaded = await loadAspectCells(cells.tree.tx, set, [
    { entityId, aspectName: 'domainProperties', oldest: { seq: Math.min(...seqs), line: 0 } }
  ])
  const cell = loaded.get(key)
  if (!cell) throw new Error(`the properties of domain ${entityId} were not loaded`)
  cells.aspects.set(key, cell)
  return cell
}

async function resolve(set: WorkingSet, cells: Cells, id: number): Promise<void> {
  if (!set.byId.has(id))
    for (const row of await findEntitiesById(cells.tree.tx, [id])) rememberEntity(set, row)
}
