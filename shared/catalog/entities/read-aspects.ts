/**
 * Reads aspects as they were written. Documents come from their rows; lineage, domains and keys are
 * assembled.
 */
import type { Db, Tx } from '../../db/database.ts'
import { aspectCodeOf, isLineageAspect } from '../../model/lineage-fields.ts'
import { assembleLineageDocument, type ListedEdge } from '../../model/lineage-document.ts'
import { assetOrSelf } from '../../model/change-facts.ts'
import type { JsonObject } from '../../model/changes.ts'
import type { EdgePatch } from '../../model/edge-patches.ts'
import { entityTypeInfo } from '../../model/entity-types.ts'
import {
  findAspects,
  findAspectsOfEntities,
  findAspectVersion,
  findTimeseriesEvent,
  latestTimeseries,
  type AspectRow,
  type TimeseriesRow
} from '../../store/aspects.ts'
import { findAssociations } from '../../store/domains.ts'
import { findEntities, findEntitiesById, type EntityRow } from '../../store/entities.ts'
import { edgePatchesOfOwners } from '../../store/edge-patches.ts'
import { statementsOfOwners } from '../../store/statements.ts'
import { keyOfUrn } from '../../urn/kinds.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import { inTransaction } from '../../db/transaction.ts'
import { printDomains } from '../../model/domains-document.ts'
import type { AssociationRow } from '../../store/domains.ts'

export type AspectView = {
  name: string
  version: number
  value: JsonObject
  systemMetadata: JsonObject | null
  created: { time: number; actor: string }
}

/**
 * Aspects by name, by the URN of the entity. Entities without a row are missing; a placeholder has no
 * aspects.
 */
export type AspectsByUrn = Map<Urn, Map<string, AspectView>>

/** Reads all aspects from one snapshot; every aspect of the entities if `names` is null. */
export const readAspects = (
  db: Db,
  urns: readonly Urn[],
  names: readonly string[] | null
): Promise<AspectsByUrn> =>
  inTransaction(db, (tx) => readWithin(tx, urns, names), { readOnly: true, isolation: 'repeatable read' })

/**
 * One aspect of one entity, or null. Version 0 is the current one, 1 the oldest. Only the current version of
 * aspects with edges is stored. Events in time have no versions: 0 returns the newest event, and any other
 * number the newest up to that time in milliseconds.
 */
export async function readAspect(
  db: Db,
  urn: Urn,
  aspectName: string,
  version = 0
): Promise<AspectView | null> {
  if (version === 0) return (await readAspects(db, [urn], [aspectName])).get(urn)?.get(aspectName) ?? null
  const event = await readEvent(db, urn, aspectName, version)
  if (event) return event
  const current = await readAspect(db, urn, aspectName)
  if (current?.version === version) return current
  if (isLineageAspect(aspectName) || aspectName === 'domains' || version < 1 || version > versionMax)
    return null
  const [entity] = await findEntities(db, [urn])
  const row = entity ? await findAspectVersion(db, { entityId: entity.id, aspectName }, version) : null
  return row?.value ? viewOf(row, row.value) : null
}

/** The maximum of the column `version`. */
const versionMax = 2_147_483_647

async function readEvent(
  db: Db,
  urn: Urn,
  aspectName: string,
  timestampMillis: number
): Promise<AspectView | null> {
  const [entity] = await findEntities(db, [urn])
  const event = entity
    ? await findTimeseriesEvent(db, { entityId: entity.id, aspectName }, timestampMillis)
    : null
  return event ? viewOfEvent(event) : null
}

const viewOfEvent = (event: TimeseriesRow & { createdAt: Date }): AspectView => ({
  name: event.aspectName,
  version: 0,
  value: event.value,
  systemMetadata: event.systemMetadata,
  created: { time: event.createdAt.getTime(), actor: event.actor }
})

const viewOf = (row: AspectRow, value: JsonObject): AspectView => ({
  name: row.aspectName,
  version: row.version,
  value,
  systemMetadata: row.systemMetadata,
  created: { time: row.createdAt.getTime(), actor: row.actor }
})

async function readWithin(
  tx: Tx,
  urns: readonly Urn[],
  names: readonly string[] | null
): Promise<AspectsByUrn> {
  const entities = await findEntities(tx, [...new Set(urns)])
  const views = new Map(entities.map((entity) => [entity.id, new Map<string, AspectView>()]))
  const ids = [...views.keys()]
  const wanted = (name: string) => names === null || names.includes(name)
  const rows =
    names === null
      ? await findAspectsOfEntities(tx, ids)
      : await findAspects(
          tx,
          ids.flatMap((entityId) => names.map((aspectName) => ({ entityId, aspectName })))
        )
  for (const row of rows)
    if (row.value && !isLineageAspect(row.aspectName))
      views.get(row.entityId)?.set(row.aspectName, viewOf(row, row.value))
  await addLineage(
    tx,
    rows.filter((row) => isLineageAspect(row.aspectName)),
    views
  )
  if (wanted('domains')) await addDomains(tx, ids, views)
  for (const event of await latestTimeseries(tx, ids, names)) {
    views.get(event.entityId)?.set(event.aspectName, viewOfEvent(event))
  }
  for (const entity of entities) addKey(entity, wanted, views.get(entity.id))
  const byUrn = new Map(
    entities.map((entity) => [entity.urn, views.get(entity.id) ?? new Map<string, AspectView>()])
  )
  if (wanted(columnKey))
    await addColumnKeys(
      tx,
      urns.filter((urn) => entityTypeOf(urn) === 'schemaField'),
      byUrn
    )
  return byUrn
}

async function addLineage(
  tx: Tx,
  rows: readonly AspectRow[],
  views: Map<number, Map<string, AspectView>>
): Promise<void> {
  const live = rows.filter((row) => row.value !== null)
  const owners = live.map((row) => ({ ownerId: row.entityId, aspectCode: aspectCodeOf(row.aspectName) }))
  const statements = await statementsOfOwners(tx, owners)
  const ids = [...new Set(statements.flatMap((statement) => [statement.downstreamId, statement.upstreamId]))]
  const urnById = new Map((await findEntitiesById(tx, ids)).map((entity) => [entity.id, entity.urn]))
  const edgesOf = new Map<string, ListedEdge[]>()
  for (const { ownerId, field: fieldCode, downstreamId, upstreamId, ...statement } of statements) {
    const downstreamUrn = urnById.get(downstreamId)
    const upstreamUrn = urnById.get(upstreamId)
    if (!downstreamUrn || !upstreamUrn) continue
    const key = `${ownerId} ${fieldCode >> 4}`
    const edges = edgesOf.get(key)
    const edge = { ...statement, fieldCode, downstreamUrn, upstreamUrn }
    if (edges) edges.push(edge)
    else edgesOf.set(key, [edge])
  }
  const patchesOf = new Map<string, EdgePatch[]>()
  for (const patch of await edgePatchesOfOwners(tx, owners)) {
    const key = `${patch.ownerId} ${patch.field} ${urnById.get(patch.downstreamId)} ${urnById.get(patch.upstreamId)}`
    patchesOf.set(key, [...(patchesOf.get(key) ?? []), patch])
  }
  for (const row of live) {
    const edges = edgesOf.get(`${row.entityId} ${aspectCodeOf(row.aspectName)}`) ?? []
    const document = assembleLineageDocument(
      row.aspectName,
      row.value ?? {},
      edges,
      (edge) =>
        patchesOf.get(`${row.entityId} ${edge.fieldCode} ${edge.downstreamUrn} ${edge.upstreamUrn}`) ?? []
    )
    views.get(row.entityId)?.set(row.aspectName, viewOf(row, document))
  }
}

async function addDomains(
  tx: Tx,
  ids: readonly number[],
  views: Map<number, Map<string, AspectView>>
): Promise<void> {
  const associations = await findAssociations(tx, ids)
  const domainUrns = new Map(
    (
      await findEntitiesById(
        tx,
        associations.flatMap((row) => row.domainId ?? [])
      )
    ).map((entity) => [entity.id, entity.urn])
  )
  for (const row of associations) {
    const value = domainsDocument(row, (id) => {
      const urn = domainUrns.get(id)
      if (!urn) throw new Error(`domain ${id} has no row`)
      return urn
    })
    if (value)
      views.get(row.entityId)?.set('domains', {
        name: 'domains',
        version: row.version,
        value,
        systemMetadata: null,
        created: { time: row.createdAt.getTime(), actor: row.actor }
      })
  }
}

/** The key aspect means that the entity exists. It is derived from the URN. */
function addKey(
  entity: EntityRow,
  wanted: (name: string) => boolean,
  views: Map<string, AspectView> | undefined
): void {
  const { keyAspect } = entityTypeInfo(entity.entityType)
  const stored = views?.get(keyAspect)
  if (!entity.isPresent) views?.delete(keyAspect)
  else if (wanted(keyAspect)) views?.set(keyAspect, stored ?? keyView(keyAspect, entity.urn))
}

const columnKey = entityTypeInfo('schemaField').keyAspect

const keyView = (name: string, urn: Urn): AspectView => ({
  name,
  version: 1,
  value: keyOfUrn(urn),
  systemMetadata: null,
  created: { time: 0, actor: 'urn:li:corpuser:unknown' }
})

/** A column exists if its asset does, even if nothing names it. */
async function addColumnKeys(tx: Tx, columns: readonly Urn[], byUrn: AspectsByUrn): Promise<void> {
  const present = new Set(
    (await findEntities(tx, columns.map(assetOrSelf)))
      .filter((entity) => entity.isPresent)
      .map((entity) => entity.urn)
  )
  for (const urn of columns) {
    const views = byUrn.get(urn) ?? new Map<string, AspectView>()
    if (!present.has(assetOrSelf(urn))) views.delete(columnKey)
    else if (!views.has(columnKey)) byUrn.set(urn, views.set(columnKey, keyView(columnKey, urn)))
  }
}

/**
 * The aspect `domains` of an association; null if it was never written (version 0 is the removal of a domain
 * that was never set).
 */
function domainsDocument(
  row: Pick<AssociationRow, 'domainId' | 'attributes' | 'version'> | null,
  urnOfDomain: (id: number) => Urn
): JsonObject | null {
  if (row === null || row.version === 0) return null
  return printDomains({
    domainUrn: row.domainId === null ? null : urnOfDomain(row.domainId),
    attributes: row.attributes
  })
}
