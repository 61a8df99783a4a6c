/** Reads what owners assert, as far as a transaction may change it. */
import type { Tx } from '../../db/database.ts'
import { columnFieldCodes } from '../../model/lineage-fields.ts'
import { distinct, edgeKeys, type EdgeColumns, type EdgeKeyColumns } from '../../statements/columns.ts'
import {
  addStored,
  addTombstone,
  addWatermark,
  emptyOwner,
  type OwnerStatements
} from '../../statements/merge.ts'
import type { EdgeKey, EdgePatchRow, OwnerAspect } from '../../statements/rows.ts'
import { edgePatchesOfOwners } from '../../store/edge-patches.ts'
import {
  ownersWithOrder,
  statementsOfEdges,
  statementsOfOwners,
  tombstonesOfEdges,
  watermarksOfOwners
} from '../../store/statements.ts'
import type { WorkingSet } from './working-set.ts'

/** By ownerAspectKey. */
export type StatementsByOwner = Map<number, OwnerStatements>

/** More than there are codes of aspects. */
const aspectCodesCount = 4096
export const ownerAspectKey = (ownerId: number, aspectCode: number): number =>
  ownerId * aspectCodesCount + aspectCode

export type WantedStatements = {
  /** Owners of whom all must be known, because something replaces it. */
  whole: readonly OwnerAspect[]
  /** Owners of whom no more is known to be needed than single edges, if any. */
  part: readonly OwnerAspect[]
  single: readonly EdgeKey[]
  columns: EdgeColumns | null
}

/** Reads whole aspects where something replaces them, and single edges elsewhere: one upstream more is one row read. Needs the owners locked. */
export async function readStatements(
  tx: Tx,
  set: WorkingSet,
  { whole, part, single, columns }: WantedStatements
): Promise<StatementsByOwner> {
  const owners: StatementsByOwner = new Map()
  const ownerAt = (ownerId: number, aspectCode: number): OwnerStatements => {
    const key = ownerAspectKey(ownerId, aspectCode)
    let owner = owners.get(key)
    if (!owner) owners.set(key, (owner = emptyOwner({ ownerId, aspectCode })))
    return owner
  }
  for (const { ownerId, aspectCode } of whole) ownerAt(ownerId, aspectCode)
  const wholeOwners = [...owners.values()]
  const wholeKeys = new Set(owners.keys())
  for (const { ownerId, aspectCode } of part) ownerAt(ownerId, aspectCode)
  for (const { ownerId, aspectCode } of single) ownerAt(ownerId, aspectCode)
  if (columns)
    for (let at = 0; at < columns.lines.length; at += 1)
      ownerAt(columns.ownerIds[at] ?? 0, (columns.fields[at] ?? 0) >> 4)

  const edges = edgeKeys(single, columns)
  const rows = [
    ...(await statementsOfOwners(tx, wholeOwners)),
    ...(await statementsOfEdges(
      tx,
      wholeKeys.size === 0
        ? edges
        : picked(edges, (ownerId, aspectCode) => !wholeKeys.has(ownerAspectKey(ownerId, aspectCode)))
    ))
  ]
  for (const row of rows) addStored(ownerAt(row.ownerId, row.field >> 4), row)
  if (owners.size > 0) await readOrder(tx, set, owners, edges, ownerAt)
  return owners
}

/** What is remembered of the owners that may be newer than a record, and patches. Mostly there is nothing. */
async function readOrder(
  tx: Tx,
  set: WorkingSet,
  owners: StatementsByOwner,
  edges: EdgeKeyColumns,
  ownerAt: (ownerId: number, aspectCode: number) => OwnerStatements
): Promise<void> {
  const ownerIds = distinct(Int32Array.from([...owners.values()].map(({ ownerId }) => ownerId)))
  const found = await ownersWithOrder(tx, ownerIds, set.seq)
  const among = (ids: Int32Array): OwnerStatements[] => {
    if (ids.length === 0) return []
    const wanted = new Set(ids)
    return [...owners.values()].filter(({ ownerId }) => wanted.has(ownerId))
  }
  if (found.removals.length > 0) {
    const removedFrom = new Set(found.removals)
    const asked = picked(edges, (ownerId) => removedFrom.has(ownerId))
    for (const removal of await tombstonesOfEdges(tx, withIntoColumns(set, asked), set.seq))
      addTombstone(ownerAt(removal.ownerId, removal.aspectCode), removal)
  }
  for (const watermark of await watermarksOfOwners(tx, among(found.replacements)))
    addWatermark(ownerAt(watermark.ownerId, watermark.aspectCode), watermark)
  const patched = new Map<OwnerStatements, EdgePatchRow[]>()
  for (const patch of await edgePatchesOfOwners(tx, among(found.patches))) {
    const owner = ownerAt(patch.ownerId, patch.aspectCode)
    const patches = patched.get(owner)
    if (patches) patches.push(patch)
    else patched.set(owner, [patch])
  }
  for (const [owner, patches] of patched) owner.patches = owner.storedPatches = patches
}

function picked(
  { ownerIds, aspectCodes, downstreamIds, upstreamIds }: EdgeKeyColumns,
  isPicked: (ownerId: number, aspectCode: number) => boolean
): EdgeKeyColumns {
  const isAt = (_: number, at: number): boolean => isPicked(ownerIds[at] ?? 0, aspectCodes[at] ?? 0)
  return {
    downstreamIds: downstreamIds.filter(isAt),
    upstreamIds: upstreamIds.filter(isAt),
    ownerIds: ownerIds.filter(isAt),
    aspectCodes: aspectCodes.filter(isAt)
  }
}

/** The edges, and beside them where removals of everything that leads into a column are remembered. */
function withIntoColumns(set: WorkingSet, edges: EdgeKeyColumns): EdgeKeyColumns {
  const columnAspects = new Set(columnFieldCodes.map((code) => code >> 4))
  const isColumn = (at: number): boolean =>
    columnAspects.has(edges.aspectCodes[at] ?? 0) &&
    set.byId.get(edges.downstreamIds[at] ?? 0)?.entityType === 'schemaField'
  const seen = new Set<string>()
  const places = [...edges.downstreamIds.keys()].filter((at) => {
    const column = `${edges.ownerIds[at]} ${edges.aspectCodes[at]} ${edges.downstreamIds[at]}`
    return isColumn(at) && !seen.has(column) && seen.add(column)
  })
  if (places.length === 0) return edges
  const with0 = (column: Int32Array, more: (at: number) => number): Int32Array =>
    Int32Array.from([...column, ...places.map(more)])
  return {
    ownerIds: with0(edges.ownerIds, (at) => edges.ownerIds[at] ?? 0),
    aspectCodes: with0(edges.aspectCodes, (at) => edges.aspectCodes[at] ?? 0),
    downstreamIds: with0(edges.downstreamIds, (at) => edges.downstreamIds[at] ?? 0),
    upstreamIds: with0(edges.upstreamIds, () => 0)
  }
}
