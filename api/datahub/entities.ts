/** POST /entities?action=: legacy snapshots, hard deletion, existence and lists, as DataHub's clients call them. */
import type { FastifyInstance } from 'fastify'
import { deleteReferences } from '../../shared/catalog/write/delete-references.ts'
import { deleteFromCatalog } from '../../shared/catalog/write/delete-from-catalog.ts'
import { ingestSnapshots } from '../../shared/catalog/write/ingest-proposals.ts'
import { listUrns } from '../../shared/catalog/entities/list-urns.ts'
import { readExistence } from '../../shared/catalog/lineage/read-entity.ts'
import { CatalogError } from '../../shared/errors.ts'
import type { JsonValue } from '../../shared/model/changes.ts'
import { isObject } from '../../shared/model/json-values.ts'
import type { ApiContext } from '../context.ts'
import { missingReferencesOf } from './missing-references.ts'
import { addActions, type RestliActions } from './restli-actions.ts'
import { optionalFlag, optionalInteger, optionalText, textField, urnField } from './restli-input.ts'
import { searchIn } from './search-entities.ts'

export function entitiesRoutes(app: FastifyInstance, { db, lineage, config }: ApiContext): void {
  const actions: RestliActions = {
    ingest: {
      access: 'write',
      run: async ({ entity, systemMetadata }, request, warn) => {
        const missingReferences = missingReferencesOf(request, config.missingReferences)
        await ingestSnapshots(db, [asSnapshot(entity, systemMetadata, 'entity')], {
          actor: request.actor,
          requestId: request.id,
          warn,
          missingReferences,
          upsertReplaces: config.upsertReplaces
        })
      }
    },
    batchIngest: {
      access: 'write',
      run: async ({ entities, systemMetadata }, request, warn) => {
        if (!Array.isArray(entities))
          throw new CatalogError('BAD_REQUEST', '`entities` must be a list', { field: 'entities' })
        const missingReferences = missingReferencesOf(request, config.missingReferences)
        const snapshots = entities.map((entity, index) =>
          asSnapshot(
            entity,
            Array.isArray(systemMetadata) ? systemMetadata[index] : undefined,
            `entities[${index}]`
          )
        )
        await ingestSnapshots(db, snapshots, {
          actor: request.actor,
          requestId: request.id,
          warn,
          missingReferences,
          upsertReplaces: config.upsertReplaces
        })
      }
    },
    delete: {
      access: 'write',
      run: async (body, request) => {
        const [from, to] = [
          optionalInteger(body, 'startTimeMillis') ?? null,
          optionalInteger(body, 'endTimeMillis') ?? null
        ]
        const aspectName = optionalText(body, 'aspectName')
        return deleteFromCatalog(
          db,
          {
            urn: urnField(body),
            aspectNames: aspectName === undefined ? null : [aspectName],
            events: { from, to }
          },
          { actor: request.actor, requestId: request.id }
        )
      }
    },
    deleteReferences: {
      access: 'write',
      run: async (body, request) =>
        deleteReferences(db, urnField(body), optionalFlag(body, 'dryRun'), {
          actor: request.actor,
          requestId: request.id
        })
    },
    exists: {
      access: 'read',
      run: async (body) => (await readExistence(lineage, [urnField(body)]))[0]
    },
    search: {
      access: 'read',
      run: async (body, request) => searchIn({ ...lineage, work: request.readWork }, body)
    },
    filter: {
      access: 'read',
      run: async (body, request) => searchIn({ ...lineage, work: request.readWork }, { ...body, input: '*' })
    },
    listUrns: {
      access: 'read',
      run: async (body) =>
        listUrns(
          db,
          textField(body, 'entity'),
          optionalInteger(body, 'start'),
          optionalInteger(body, 'count')
        )
    }
  }
  addActions(app, '/entities', actions)
}

/** The snapshot of an Entity record, in the envelope of a change event. */
function asSnapshot(
  entity: JsonValue | undefined,
  systemMetadata: JsonValue | undefined,
  field: string
): { field: string; event: JsonValue } {
  if (!isObject(entity) || !isObject(entity.value))
    throw new CatalogError(
      'BAD_REQUEST',
      `${field}.value must contain one snapshot under the name of its class`,
      { field: `${field}.value` }
    )
  return { field, event: { proposedSnapshot: entity.value, systemMetadata: systemMetadata ?? null } }
}
