/** Aspects of which only edges change: their documents are not read, and their version is incremented. */
import type { Tx } from '../../db/database.ts'
import { aspectCodeOf, aspectNameOf, isLineageAspect } from '../../model/lineage-fields.ts'
import { distinct, type EdgeColumns } from '../../statements/columns.ts'
import { aspectStates, countVersions, type AspectKey } from '../../store/aspects.ts'
import { findEntitiesById } from '../../store/entities.ts'
import { readAspectDrafts, type AspectDrafts } from './aspect-drafts.ts'
import type { Drafts } from './drafts.ts'
import type { ReadPlan } from './plan-records.ts'
import { ownerAspectKey } from './read-statements.ts'
import { rememberEntity, type UnitOfWork } from './unit-of-work.ts'

/**
 * Reads the aspects that records change, and the deleted aspects of edges: a late edge must be compared with
 * the deletion.
 */
export async function readAspects(
  tx: Tx,
  work: UnitOfWork,
  { aspects, edgeAspects }: Pick<ReadPlan, 'aspects' | 'edgeAspects'>,
  columns: EdgeColumns | null
): Promise<{ aspects: AspectDrafts; edgeAspects: Drafts['edgeAspects'] }> {
  const ofEdges: Drafts['edgeAspects'] = new Map()
  const wanted = [...aspects]
  const absent: AspectKey[] = []
  for (const [aspectCode, ownerIds] of ownersByAspect(edgeAspects, columns)) {
    const aspectName = aspectNameOf(aspectCode)
    const { present, deleted } = await aspectStates(tx, ownerIds, aspectName)
    for (const id of present) ofEdges.set(ownerAspectKey(id, aspectCode), { isTouched: false })
    for (const row of await findEntitiesById(
      tx,
      [...deleted].filter((id) => !work.byId.has(id))
    ))
      rememberEntity(work, row)
    const wereDeleted = new Set(deleted)
    for (const id of ownerIds) {
      if (wereDeleted.has(id)) wanted.push({ entityId: id, aspectName, oldest: { seq: work.seq, line: 0 } })
      else if (!ofEdges.has(ownerAspectKey(id, aspectCode))) absent.push({ entityId: id, aspectName })
    }
  }
  const drafts = await readAspectDrafts(tx, work, wanted, absent)
  // A record that changes the document itself needs the whole document.
  for (const { entityId, aspectName } of aspects)
    if (isLineageAspect(aspectName)) ofEdges.delete(ownerAspectKey(entityId, aspectCodeOf(aspectName)))
  return { aspects: drafts, edgeAspects: ofEdges }
}

function ownersByAspect(
  edgeAspects: ReadPlan['edgeAspects'],
  columns: EdgeColumns | null
): Map<number, Int32Array> {
  const ownersOf = new Map<number, number[]>()
  const add = (ownerId: number, aspectCode: number): void => {
    const owners = ownersOf.get(aspectCode)
    if (!owners) ownersOf.set(aspectCode, [ownerId])
    else if (owners.at(-1) !== ownerId) owners.push(ownerId)
  }
  for (const { ownerId, aspectCode } of edgeAspects) add(ownerId, aspectCode)
  for (let at = 0; columns && at < columns.lines.length; at += 1)
    add(columns.ownerIds[at] ?? 0, (columns.fields[at] ?? 0) >> 4)
  return new Map([...ownersOf].map(([code, owners]) => [code, distinct(Int32Array.from(owners))]))
}

/** Writes the versions. The owners must be locked. */
export async function writeEdgeAspects(
  tx: Tx,
  work: UnitOfWork,
  { edgeAspects, statements }: Pick<Drafts, 'edgeAspects' | 'statements'>
): Promise<void> {
  const touched = new Map<number, number[]>()
  for (const [key, { isTouched }] of edgeAspects) {
    const owner = isTouched ? statements.get(key) : undefined
    if (!owner) continue
    const owners = touched.get(owner.aspectCode)
    if (owners) owners.push(owner.ownerId)
    else touched.set(owner.aspectCode, [owner.ownerId])
  }
  for (const [aspectCode, owners] of touched)
    await countVersions(tx, distinct(Int32Array.from(owners)), aspectNameOf(aspectCode), work.actor.urn)
}
