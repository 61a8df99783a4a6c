/**
 * GET /entitiesV2/{urn} and GET /entitiesV2?ids=List(…): the aspects of entities, each with who wrote it and
 * when. GET /entities/{urn}, the older form: a snapshot of the aspects alone.
 *
 * An entity that nobody has written is answered too, with only its key aspect, because DataHub's clients
 * expect it: they ask /aspects for the key aspect to learn whether an entity exists.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readAspects, type AspectView } from '../../shared/catalog/entities/read-aspects.ts'
import { checkAspectNames } from '../../shared/catalog/entities/read-entities.ts'
import { inTurnIfMany } from '../../shared/catalog/lineage/read-work.ts'
import type { Db } from '../../shared/db/database.ts'
import { CatalogError } from '../../shared/errors.ts'
import { aspectClassOf, isTimeseries } from '../../shared/model/aspect-registry.ts'
import { checkCount } from '../../shared/model/count-checks.ts'
import { entityTypeInfo } from '../../shared/model/entity-types.ts'
import { keyOfUrn } from '../../shared/urn/kinds.ts'
import { entityTypeOf, toUrn, type Urn } from '../../shared/urn/urn.ts'
import type { ApiContext } from '../context.ts'
import { listParameter } from './restli-input.ts'

type EntityDocument = {
  entityName: string
  urn: Urn
  aspects: { [aspectName: string]: ReturnType<typeof enveloped> }
}

export function entitiesV2Routes(app: FastifyInstance, { db }: ApiContext): void {
  // A wildcard, because a raw URN may contain slashes.
  app.get<{ Params: { '*': string } }>('/entitiesV2/*', async (request) => {
    const urn = toUrn(request.params['*'], 'urn')
    return (await readDocuments(db, [urn], aspectsOf(request)))[0]
  })

  app.get<{ Params: { '*': string } }>('/entities/*', async (request) => {
    const urn = toUrn(request.params['*'], 'urn')
    const [document] = await readDocuments(db, [urn], aspectsOf(request))
    const aspects = Object.values(document?.aspects ?? {}).map(({ name, value }) => ({
      [aspectClassOf(name)]: value
    }))
    return { value: { [snapshotClassOf(entityTypeOf(urn))]: { urn, aspects } } }
  })

  app.get('/entitiesV2', async (request) => {
    const ids = listParameter(request, 'ids')
    if (ids === null)
      throw new CatalogError('BAD_REQUEST', 'Name entities: /entitiesV2/{urn}, or ids=List(urn,urn)', {
        field: 'ids'
      })
    checkCount(ids.length, 'entitiesPerReadMaxCount', {
      field: 'ids',
      what: `${ids.length} entities in one request`
    })
    const urns = ids.map((id, index) => toUrn(id, `ids[${index}]`))
    const documents = await inTurnIfMany(request.readWork, urns.length, () =>
      readDocuments(db, urns, aspectsOf(request))
    )
    return {
      results: Object.fromEntries(documents.map((document) => [document.urn, document])),
      statuses: {},
      errors: {}
    }
  })
}

function aspectsOf(request: FastifyRequest): string[] | null {
  const names = listParameter(request, 'aspects')
  checkAspectNames(names)
  return names
}

/** The class of a snapshot is named like that of the key: MLModelKey is in an MLModelSnapshot. */
const snapshotClassOf = (entityType: string): string =>
  `com.linkedin.metadata.snapshot.${(entityTypeInfo(entityType).keyClass.split('.').at(-1) ?? '').replace(/Key$/, '')}Snapshot`

async function readDocuments(
  db: Db,
  urns: readonly Urn[],
  names: readonly string[] | null
): Promise<EntityDocument[]> {
  const keys = [...new Set(urns.map((urn) => entityTypeInfo(entityTypeOf(urn)).keyAspect))]
  const found = await readAspects(db, urns, names === null ? null : [...new Set([...names, ...keys])])
  return urns.map((urn) => {
    const entityName = entityTypeOf(urn)
    const { keyAspect } = entityTypeInfo(entityName)
    const own = [...(found.get(urn)?.values() ?? [])].filter(
      (view) => names === null || view.name === keyAspect || names.includes(view.name)
    )
    const key: AspectView = own.find((view) => view.name === keyAspect) ?? {
      name: keyAspect,
      version: 0,
      value: keyOfUrn(urn),
      systemMetadata: null,
      created: { time: 0, actor: 'urn:li:corpuser:unknown' }
    }
    const others = own.filter((view) => view.name !== keyAspect && !isTimeseries(view.name, view.value))
    return {
      entityName,
      urn,
      aspects: Object.fromEntries([key, ...others].map((view) => [view.name, enveloped(view)]))
    }
  })
}

/**
 * The newest version is called 0, as clients expect. Its real number, which If-Version-Match compares, is in
 * the system metadata.
 */
const enveloped = ({ name, version, value, created, systemMetadata }: AspectView) => ({
  name,
  type: 'VERSIONED',
  version: 0,
  value,
  created,
  ...(version > 0 ? { systemMetadata: { ...systemMetadata, version: String(version) } } : {})
})
