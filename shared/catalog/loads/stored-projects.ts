/** Reads what the catalog has of a dbt project, for the reader of its documents. */
import type { Db, Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { remembersColumns } from '../../formats/dbt/own-facts.ts'
import type { ColumnEdge, StoredColumn, StoredProjects } from '../../formats/dbt/stored-project.ts'
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { findAspects } from '../../store/aspects.ts'
import { columnEdgesBetween } from '../../store/column-edges.ts'
import { findEntities } from '../../store/entities.ts'
import { loadsOfSource, lockDbtLoads } from '../../store/source-loads.ts'
import type { Urn } from '../../urn/urn.ts'

const urnsPerRead = 1_000
/** A schema can be a thousand times larger than the other aspects. */
const schemasPerRead = 50
const aspectNames = ['datasetProperties', 'dashboardInfo', 'globalTags', 'ownership']
const comparedNames = ['fieldPath', 'description', 'globalTags']

/** How long a client must wait before it sends a project again. */
const retryAfterSeconds = 5

export type StoredForLoad = StoredProjects & {
  /**
   * Call it in the transaction that begins the load, before its row is there. Throws UNAVAILABLE if another load of
   * the source has begun since `settled`.
   */
  stillSettled: (tx: Tx) => Promise<void>
}

/** For one load. `requestedSource` replaces the source that the manifest names. */
export function storedProjects(db: Db, requestedSource: string | null): StoredForLoad {
  let settled: { source: string; readAt: string } | null = null
  return {
    async settled(named) {
      const source = requestedSource ?? named
      const { readAt, isChanging } = await loadsOfSource(db, source)
      if (isChanging) throw unsettled(source)
      settled = { source, readAt }
    },
    async stillSettled(tx) {
      if (!settled) return
      await lockDbtLoads(tx)
      const { isChanging } = await loadsOfSource(tx, settled.source, settled.readAt)
      if (isChanging) throw unsettled(settled.source)
    },
    async columnEdges(source, pairs) {
      const edges = new Map<Urn, ColumnEdge[]>()
      for (let from = 0; from < pairs.length; from += urnsPerRead) {
        const some = pairs.slice(from, from + urnsPerRead)
        const rows = await findEntities(db, [
          ...new Set(some.flatMap(({ upstreamUrn, downstreamUrn }) => [upstreamUrn, downstreamUrn]))
        ])
        const ids = new Map(rows.map(({ urn, id }) => [urn, id]))
        const known = some.flatMap(({ upstreamUrn, downstreamUrn }) => {
          const [upstreamId, downstreamId] = [ids.get(upstreamUrn), ids.get(downstreamUrn)]
          return upstreamId === undefined || downstreamId === undefined
            ? []
            : [{ upstreamId, downstreamId, downstreamUrn }]
        })
        const urnOf = new Map(known.map(({ downstreamId, downstreamUrn }) => [downstreamId, downstreamUrn]))
        for (const { ownerId, upstreamUrn, downstreamUrn } of await columnEdgesBetween(
          db,
          requestedSource ?? source,
          known
        )) {
          const owner = urnOf.get(ownerId)
          if (owner === undefined) continue
          const ofOwner = edges.get(owner) ?? []
          ofOwner.push({ upstreamUrn, downstreamUrn })
          edges.set(owner, ofOwner)
        }
      }
      return edges
    },
    async aspects(urns) {
      const found = new Map<Urn, { [name: string]: JsonObject }>()
      for (let from = 0; from < urns.length; from += urnsPerRead) {
        const entities = await findEntities(db, urns.slice(from, from + urnsPerRead))
        const urnOf = new Map(entities.map(({ urn, id }) => [id, urn]))
        const idsWithColumns: number[] = []
        const keep = (entityId: number, aspectName: string, value: JsonObject): void => {
          const urn = urnOf.get(entityId)
          if (urn !== undefined) found.set(urn, { ...found.get(urn), [aspectName]: value })
        }
        const keys = entities.flatMap(({ id }) =>
          aspectNames.map((aspectName) => ({ entityId: id, aspectName }))
        )
        for (const { entityId, aspectName, value } of await findAspects(db, keys)) {
          if (value === null) continue
          keep(entityId, aspectName, value)
          if (remembersColumns(value.customProperties)) idsWithColumns.push(entityId)
        }
        for (let at = 0; at < idsWithColumns.length; at += schemasPerRead) {
          const some = idsWithColumns.slice(at, at + schemasPerRead)
          const schemas = await findAspects(
            db,
            some.map((entityId) => ({ entityId, aspectName: 'schemaMetadata' }))
          )
          for (const { entityId, aspectName, value } of schemas)
            if (value !== null)
              keep(entityId, aspectName, { fields: listOf(value.fields).flatMap(comparedOf) })
        }
      }
      return found
    },
    async columns(urns) {
      const found = new Map<Urn, StoredColumn[]>()
      for (let from = 0; from < urns.length; from += schemasPerRead) {
        const entities = await findEntities(db, urns.slice(from, from + schemasPerRead))
        const urnOf = new Map(entities.map(({ urn, id }) => [id, urn]))
        const keys = entities.map(({ id }) => ({ entityId: id, aspectName: 'schemaMetadata' }))
        for (const { entityId, value } of await findAspects(db, keys)) {
          const urn = urnOf.get(entityId)
          const columns = listOf(value?.fields).flatMap(columnOf)
          if (urn !== undefined && columns.length > 0) found.set(urn, columns)
        }
      }
      return found
    }
  }
}

const unsettled = (source: string): CatalogError =>
  new CatalogError(
    'UNAVAILABLE',
    `An earlier load of ${source} is still running, and this one is compared with what that leaves; send it again.`,
    { retryAfterSeconds }
  )

/** What is compared of a field. */
const comparedOf = (field: JsonValue): JsonObject[] =>
  isObject(field)
    ? [
        Object.fromEntries(
          comparedNames.flatMap((name) => (field[name] === undefined ? [] : [[name, field[name]]]))
        )
      ]
    : []

/** A path with types in it, as connectors write for nested fields, is not a name that SQL has. */
const columnOf = (field: JsonValue): StoredColumn[] =>
  isObject(field) && typeof field.fieldPath === 'string' && !field.fieldPath.startsWith('[version=')
    ? [
        {
          name: field.fieldPath,
          hasType: typeof field.nativeDataType === 'string' && field.nativeDataType !== ''
        }
      ]
    : []
