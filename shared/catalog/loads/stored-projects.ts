/** Reads what the catalog has of a dbt project, for the reader of its documents. */
import type { Db } from '../../db/database.ts'
import type { ColumnEdge, StoredProjects } from '../../formats/dbt/stored-project.ts'
import type { JsonObject } from '../../model/changes.ts'
import { findAspects } from '../../store/aspects.ts'
import { columnEdgesBetween } from '../../store/column-edges.ts'
import { findEntities } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'

const urnsPerRead = 1_000
const aspectNames = ['datasetProperties', 'dashboardInfo', 'globalTags', 'ownership', 'schemaMetadata']

/** `requestedSource` replaces the source that the manifest names. */
export const storedProjects = (db: Db, requestedSource: string | null): StoredProjects => ({
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
        if (owner !== undefined)
          edges.set(owner, [...(edges.get(owner) ?? []), { upstreamUrn, downstreamUrn }])
      }
    }
    return edges
  },
  async aspects(urns) {
    const found = new Map<Urn, { [name: string]: JsonObject }>()
    for (let from = 0; from < urns.length; from += urnsPerRead) {
      const entities = await findEntities(db, urns.slice(from, from + urnsPerRead))
      const urnOf = new Map(entities.map(({ urn, id }) => [id, urn]))
      const keys = entities.flatMap(({ id }) =>
        aspectNames.map((aspectName) => ({ entityId: id, aspectName }))
      )
      for (const { entityId, aspectName, value } of await findAspects(db, keys)) {
        const urn = urnOf.get(entityId)
        if (urn !== undefined && value !== null) found.set(urn, { ...found.get(urn), [aspectName]: value })
      }
    }
    return found
  }
})
