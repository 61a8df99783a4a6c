/** Reads bodies of writes over OpenAPI v3 into proposals; only the envelope differs. */
import { CatalogError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { entityTypeInfo } from '../../shared/model/entity-types.ts'
import { isObject } from '../../shared/model/json-values.ts'

/** One aspect of a body. `item` is the index of its entity in the list; `field` is its name in errors. */
export type AspectWrite = {
  entityName: string
  item: number
  field: string
  aspectName: string
  proposal: JsonObject
}

export type WriteKind = 'UPSERT' | 'PATCH'

/**
 * Reads a list of `{urn, <aspect>: {value, systemMetadata?, headers?}, …}`. Throws BAD_REQUEST; proposals are
 * checked later.
 */
export function writesOfEntities(entityName: string, body: unknown, kind: WriteKind, at = ''): AspectWrite[] {
  if (!Array.isArray(body))
    throw new CatalogError(
      'BAD_REQUEST',
      at === '' ? 'Malformed request body: a list of entities is needed' : `${at} must be a list of entities`,
      at === '' ? {} : { field: at }
    )
  return body.flatMap((entity: unknown, item) =>
    writesOfEntity({ entityName, item, field: `${at}[${item}]` }, entity, kind)
  )
}

/** Reads `{<entity type>: [entities], …}`. Throws as writesOfEntities does. */
export function writesOfMap(body: unknown, kind: WriteKind, nameOf: (sent: string) => string): AspectWrite[] {
  if (!isObject(body))
    throw new CatalogError(
      'BAD_REQUEST',
      'Malformed request body: an object with a list of entities for each entity type is needed'
    )
  return Object.entries(body).flatMap(([name, entities]) =>
    writesOfEntities(nameOf(name), entities, kind, name)
  )
}

type Place = Pick<AspectWrite, 'entityName' | 'item' | 'field'>

function writesOfEntity(place: Place, entity: unknown, kind: WriteKind): AspectWrite[] {
  if (!isObject(entity))
    throw new CatalogError('BAD_REQUEST', `${place.field} must be an object with urn and aspects`, {
      field: place.field
    })
  const { urn, ...others } = entity
  const sent = Object.entries(others).filter(([, aspect]) => aspect !== null)
  const { keyAspect } = entityTypeInfo(place.entityName)
  if (urn === undefined || urn === null) return writesOfKeyed(place, sent, keyAspect, kind)
  if (typeof urn !== 'string')
    throw new CatalogError('BAD_REQUEST', `${place.field}.urn must be a URN`, { field: `${place.field}.urn` })
  // For an entity without aspects, its key aspect is written.
  if (sent.length === 0 && kind === 'UPSERT') sent.push([keyAspect, { value: {} }])
  return sent.map(([aspectName, aspect]) =>
    writeOfAspect(place, { entityUrn: urn }, aspectName, aspect, kind)
  )
}

/** An entity may be named by its key aspect instead of its URN. */
function writesOfKeyed(
  place: Place,
  sent: [string, unknown][],
  keyAspect: string,
  kind: WriteKind
): AspectWrite[] {
  const [, key] = sent.find(([name]) => name === keyAspect) ?? []
  if (!isObject(key) || !isObject(key.value))
    throw new CatalogError('BAD_REQUEST', `${place.field}.urn is missing`, { field: `${place.field}.urn` })
  const entityKeyAspect = { json: key.value }
  return sent.map(([aspectName, aspect]) =>
    writeOfAspect(place, { entityKeyAspect }, aspectName, aspect, kind)
  )
}

function writeOfAspect(
  place: Place,
  entity: JsonObject,
  aspectName: string,
  aspect: unknown,
  kind: WriteKind
): AspectWrite {
  const field = `${place.field}.${aspectName.slice(0, 255).toWellFormed()}`
  if (!isObject(aspect))
    throw new CatalogError('BAD_REQUEST', `${field} must be an object with a value`, { field })
  return {
    ...place,
    field,
    aspectName,
    proposal: proposalOf(place.entityName, entity, { aspectName, aspect, field, changeType: kind })
  }
}

type SentAspect = {
  aspectName: string
  aspect: JsonObject
  field: string
  changeType: 'UPSERT' | 'CREATE' | 'CREATE_ENTITY' | 'PATCH'
}

/**
 * The proposal for one aspect; `aspect` is `{value, systemMetadata?, headers?}`. Throws BAD_REQUEST if there
 * is no value, or a patch has no operations.
 */
export function proposalOf(
  entityName: string,
  entity: JsonObject,
  { aspectName, aspect, field, changeType }: SentAspect
): JsonObject {
  const { value, systemMetadata = null, headers = null } = aspect
  if (changeType === 'PATCH' && !(isObject(value) && Array.isArray(value.patch)))
    throw new CatalogError('BAD_REQUEST', 'Missing `patch` field.', { field: `${field}.value` })
  if (!isObject(value))
    throw new CatalogError('BAD_REQUEST', `${field}.value must be an object`, { field: `${field}.value` })
  return {
    entityType: entityName,
    ...entity,
    changeType,
    aspectName,
    aspect: { json: value },
    systemMetadata,
    headers
  }
}
