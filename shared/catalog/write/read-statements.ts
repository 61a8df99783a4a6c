/** Reads the statements of owners that a transaction may change. */
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
import type { UnitOfWork } from './unit-of-work.ts'

/** By ownerAspectKey. */
export type StatementsByOwner = Map<number, OwnerStatements>

/** A number greater than any aspect code. */
const aspectCodesCount = 4096
export const ownerAspectKey = (ownerId: number, aspectCode: number): number =>
  ownerId * aspectCodesCount + aspectCode

export type WantedStatements = {
  /** Aspects that are replaced, so all of their statements are needed. */
  wholeAspects: readonly OwnerAspect[]
  /** Aspects of which only some edges are needed. */
  partialAspects: readonly OwnerAspect[]
  singleEdges: readonly EdgeKey[]
  columns: EdgeColumns | null
}

/**
 * Reads all statements of aspects that are replaced, and single edges of the others, so that adding one
 * upstream reads one row. The owners must be locked.
 */
export async function readStatements(
  tx: Tx,
  work: UnitOfWork,
  { wholeAspects, partialAspects, singleEdges, columns }: WantedStatements
): Promise<StatementsByOwner> {
  const owners: StatementsByOwner = new Map()
  const ownerAt = (ownerId: number, aspectCode: number): OwnerStatements => {
    const key = ownerAspectKey(ownerId, aspectCode)
    let owner = owners.get(key)
    if (!owner) owners.set(key, (owner = emptyOwner({ ownerId, aspectCode })))
    return owner
  }
  for (const { ownerId, aspectCode } of wholeAspects) ownerAt(ownerId, aspectCode)
  const wholeOwners = [...owners.values()]
  const wholeKeys = new Set(owners.keys())
  for (const { ownerId, aspectCode } of partialAspects) ownerAt(ownerId, aspectCode)
  for (const { ownerId, aspectCode } of singleEdges) ownerAt(ownerId, aspectCode)
  if (columns)
    for (let at = 0; at < columns.lines.length; at += 1)
      ownerAt(columns.ownerIds[at] ?? 0, (columns.fields[at] ?? 0) >> 4)

  const edges = edgeKeys(singleEdges, columns)
  const rows = [
    ...(await statementsOfOwners(tx, wholeOwners)),
    ...(await statementsOfEdges(
      tx,
      wholeKeys.size === 0
        ? edges
        : edgesWhere(edges, (ownerId, aspectCode) => !wholeKeys.has(ownerAspectKey(ownerId, aspectCode)))
    ))
  ]
  for (const row of rows) addStored(ownerAt(row.ownerId, row.field >> 4), row)
  if (owners.size > 0) await readOrder(tx, work, owners, edges, ownerAt)
  return owners
}

/**
 * Reads the removals and replacements that may be newer than a record, and the patches. Most owners have none
 * of these.
 */
async function readOrder(
  tx: Tx,
  work: UnitOfWork,
  owners: StatementsByOwner,
  edges: EdgeKeyColumns,
  ownerAt: (ownerId: number, aspectCode: number) => OwnerStatements
): Promise<void> {
  const ownerIds = distinct(Int32Array.from([...owners.values()].map(({ ownerId }) => ownerId)))
  const found = await ownersWithOrder(tx, ownerIds, work.seq)
  const among = (ids: Int32Array): OwnerStatements[] => {
    if (ids.length === 0) return []
    const wanted = new Set(ids)
    return [...owners.values()].filter(({ ownerId }) => wanted.has(ownerId))
  }
  if (found.removals.length > 0) {
    const ownersWithRemovals = new Set(found.removals)
    const edgesWithRemovals = edgesWhere(edges, (ownerId) => ownersWithRemovals.has(ownerId))
    for (const removal of await tombstonesOfEdges(tx, withIntoColumns(edgesWithRemovals), work.seq))
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

function edgesWhere(
  { ownerIds, aspectCodes, downstreamIds, upstreamIds }: EdgeKeyColumns,
  isWanted: (ownerId: number, aspectCode: number) => boolean
): EdgeKeyColumns {
  const isAt = (_: number, at: number): boolean => isWanted(ownerIds[at] ?? 0, aspectCodes[at] ?? 0)
  return {
    downstreamIds: downstreamIds.filter(isAt),
    upstreamIds: upstreamIds.filter(isAt),
    ownerIds: ownerIds.filter(isAt),
    aspectCodes: aspectCodes.filter(isAt)
  }
}

/**
 * The edges and, for each column, an entry with upstream 0. A removal of everything that leads into the
 * column is stored under that entry.
 */
function withIntoColumns(edges: EdgeKeyColumns): EdgeKeyColumns {
  const columnAspects = new Set(columnFieldCodes.map((code) => code >> 4))
  // An edge between assets leads to its owner, except to the outputs of a job, for which nothing is found.
  const isColumn = (at: number): boolean =>
    columnAspects.has(edges.aspectCodes[at] ?? 0) && edges.downstreamIds[at] !== edges.ownerIds[at]
  const seen = new Set<string>()
  const places = [...edges.downstreamIds.keys()].filter((at) => {
    const column = `${edges.ownerIds[at]} ${edges.aspectCodes[at]} ${edges.downstreamIds[at]}`
    return isColumn(at) && !seen.has(column) && seen.add(column)
  })
  if (places.length === 0) return edges
  const withColumnRows = (column: Int32Array, more: (at: number) => number): Int32Array =>
    Int32Array.from([...column, ...places.map(more)])
  return {
    ownerIds: withColumnRows(edges.ownerIds, (at) => edges.ownerIds[at] ?? 0),
    aspectCodes: withColumnRows(edges.aspectCodes, (at) => edges.aspectCodes[at] ?? 0),
    downstreamIds: withColumnRows(edges.downstreamIds, (at) => edges.downstreamIds[at] ?? 0),
    upstreamIds: withColumnRows(edges.upstreamIds, () => 0)
  }
}
