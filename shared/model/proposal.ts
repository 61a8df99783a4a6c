/**
 * Reads change proposals, in every envelope that clients send, and legacy snapshots into changes.
 *
 * The aspect may be JSON text (`{value, contentType}`), `{json}`, or the aspect itself. Everything is checked
 * here: URNs are parsed, aspects prepared and patches checked, so that nothing fails later because of its
 * form. Unknown fields next to the aspect are ignored, as in DataHub.
 */
import { CatalogError } from '../errors.ts'
import { keyOfUrn, urnFromKey } from '../urn/kinds.ts'
import { parseUrn, type ParsedUrn } from '../urn/urn.ts'
import {
  aspectNameOfClass,
  checkAspectPlace,
  isKeyAspect,
  isTimeseries,
  prepareAspect
} from './aspect-registry.ts'
import { referencesOf } from './change-facts.ts'
import type { Change, JsonObject, JsonValue, WriteHeaders } from './changes.ts'
import { entityTypeInfo } from './entity-types.ts'
import { checkJson, parseJsonText } from './json-checks.ts'
import { isObject } from './json-values.ts'
import { parsePatch } from './patch-document.ts'
import { preparePatch } from './prepare-patch.ts'
import { parseConditions } from './write-conditions.ts'

const changeTypes = ['UPSERT', 'CREATE', 'CREATE_ENTITY', 'UPDATE', 'PATCH', 'DELETE'] as const
type ChangeType = (typeof changeTypes)[number]

const jsonContent = 'application/json'
const patchContent = 'application/json-patch+json'
const aspectNameMaxChars = 255

/**
 * Reads one proposal. `value` is parsed JSON; the parts that are used are checked here. Throws BAD_REQUEST,
 * INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED and VALIDATION_FAILED, with the path in `details.field`.
 */
export function parseProposal(value: unknown): { changes: Change[] } {
  if (!isObject(value)) throw new CatalogError('BAD_REQUEST', 'A proposal must be an object')
  const entity = parseEntity(value)
  const changeType = parseChangeType(value.changeType)
  const aspectName = parseAspectName(value.aspectName)
  const change = toChange({
    entity,
    changeType,
    aspectName,
    aspect: value.aspect,
    headers: parseHeaders(value)
  })
  checkReferences(change)
  return { changes: [change] }
}

/**
 * Reads a legacy snapshot, `{proposedSnapshot: {<class>: {urn, aspects: [{<class>: {…}}]}}, systemMetadata}`.
 * Returns one change per aspect; without aspects, a change that only creates the entity. `field` names the
 * snapshot in errors. Throws as parseProposal does.
 */
export function parseSnapshot(value: unknown, field = 'proposedSnapshot'): { changes: Change[] } {
  const [snapshot] =
    isObject(value) && isObject(value.proposedSnapshot) ? Object.values(value.proposedSnapshot) : []
  if (!isObject(value) || !isObject(snapshot))
    throw new CatalogError('BAD_REQUEST', `${field} must contain one snapshot under the name of its class`, {
      field
    })
  const entity = parseUrn(snapshot.urn, `${field}.urn`)
  const headers = parseHeaders({ systemMetadata: value.systemMetadata ?? null })
  const aspects = snapshot.aspects ?? []
  if (!Array.isArray(aspects))
    throw new CatalogError('BAD_REQUEST', 'The aspects of a snapshot must be a list', {
      field: `${field}.aspects`
    })
  const sent = aspects.map((entry, index): [string, JsonValue] => {
    const [pair, ...others] = isObject(entry) ? Object.entries(entry) : []
    if (!pair || others.length > 0)
      throw new CatalogError(
        'BAD_REQUEST',
        'Each aspect of a snapshot must be an object with one member, named after its class',
        { field: `${field}.aspects[${index}]` }
      )
    return [aspectNameOfClass(pair[0]), pair[1]]
  })
  const named =
    sent.length > 0
      ? sent
      : [[entityTypeInfo(entity.entityType).keyAspect, null] satisfies [string, JsonValue]]
  const changes = named.map(([aspectName, aspect]) =>
    upsert({ entity, changeType: 'UPSERT', aspectName: parseAspectName(aspectName), aspect, headers }, aspect)
  )
  changes.forEach(checkReferences)
  return { changes }
}

type Parts = {
  entity: ParsedUrn
  changeType: ChangeType
  aspectName: string
  aspect: unknown
  headers: WriteHeaders
}

function toChange(parts: Parts): Change {
  const { entity, changeType, aspectName } = parts
  const entityUrn = entity.urn
  const isKey = isKeyAspect(entity.entityType, aspectName)
  if (changeType === 'DELETE') {
    if (isTimeseries(aspectName)) throw unsupportedForEvents(changeType, aspectName)
    if (!isKey) return { kind: 'deleteAspect', entityUrn, aspectName }
    return entity.entityType === 'domain'
      ? { kind: 'deleteDomain', domainUrn: entityUrn }
      : { kind: 'deleteEntity', entityUrn, hard: true }
  }
  const { content, contentType } = openEnvelope(parts.aspect)
  if (changeType !== 'PATCH') return upsert(parts, content, contentType)
  checkAspectPlace(entity.entityType, aspectName)
  if (isKey || isTimeseries(aspectName))
    throw new CatalogError('VALIDATION_FAILED', `Patch not supported for aspect with name ${aspectName}`, {
      field: 'changeType'
    })
  if (content === undefined)
    throw new CatalogError('BAD_REQUEST', 'aspect is missing: a PATCH needs its operations', {
      field: 'aspect'
    })
  return {
    kind: 'patchAspect',
    entityUrn,
    aspectName,
    patch: preparePatch(entity.entityType, aspectName, parsePatch(content, 'aspect')),
    ...withHeaders(parts.headers)
  }
}

function upsert(
  { entity, changeType, aspectName, headers }: Parts,
  content: JsonValue | undefined,
  contentType?: string
): Change {
  if (changeType === 'PATCH' || changeType === 'DELETE')
    throw new Error('a patch or a deletion is not an upsert')
  if (contentType === patchContent)
    throw new CatalogError('BAD_REQUEST', `An aspect of ${patchContent} needs the changeType PATCH`, {
      field: 'changeType'
    })
  const isKey = isKeyAspect(entity.entityType, aspectName)
  if ((content === undefined || content === null) && !isKey)
    throw new CatalogError('BAD_REQUEST', 'aspect is missing', { field: 'aspect' })
  // A key aspect is always derived from the URN, whatever was sent.
  const value = isKey ? keyOfUrn(entity.urn) : prepareAspect(entity.entityType, aspectName, content)
  if (changeType !== 'UPSERT' && isTimeseries(aspectName, value))
    throw unsupportedForEvents(changeType, aspectName)
  return {
    kind: 'upsertAspect',
    changeType,
    entityUrn: entity.urn,
    aspectName,
    value,
    ...withHeaders(headers)
  }
}

const unsupportedForEvents = (changeType: ChangeType, aspectName: string): CatalogError =>
  new CatalogError(
    'VALIDATION_FAILED',
    `ChangeType not supported: ${changeType} for the timeseries aspect ${aspectName}`,
    { field: 'changeType', allowed: ['UPSERT'] }
  )

const withHeaders = (headers: WriteHeaders): { headers?: WriteHeaders } =>
  Object.keys(headers).length > 0 ? { headers } : {}

/**
 * Finds the references of a lineage aspect once, so that an invalid one is reported now and not when it is
 * applied.
 */
const checkReferences = (change: Change): void => {
  referencesOf(change)
}

const isSent = (value: unknown): boolean => value !== undefined && value !== null

function parseEntity(proposal: JsonObject): ParsedUrn {
  const { entityType } = proposal
  if (typeof entityType !== 'string' || entityType === '')
    throw new CatalogError('BAD_REQUEST', 'entityType is missing', { field: 'entityType' })
  if (!isSent(proposal.entityUrn) && !isSent(proposal.entityKeyAspect))
    throw new CatalogError('BAD_REQUEST', 'entityUrn or entityKeyAspect is needed', { field: 'entityUrn' })
  const entity = isSent(proposal.entityUrn)
    ? parseUrn(proposal.entityUrn, 'entityUrn', entityType)
    : parseUrn(urnFromKey(entityType, readKeyAspect(proposal.entityKeyAspect)))
  if (entity.entityType !== entityType) {
    throw new CatalogError(
      'BAD_REQUEST',
      `URN entity type does not match MCP entity type. ${entity.entityType} != ${entityType.slice(0, aspectNameMaxChars).toWellFormed()}`,
      { field: 'entityType', urn: entity.urn }
    )
  }
  return entity
}

function readKeyAspect(sent: unknown): JsonObject {
  const { content } = openEnvelope(sent, 'entityKeyAspect')
  if (!isObject(content))
    throw new CatalogError('BAD_REQUEST', 'entityKeyAspect must be an object', { field: 'entityKeyAspect' })
  return content
}

function parseChangeType(sent: unknown): ChangeType {
  const found = changeTypes.find((changeType) => changeType === sent)
  if (!found)
    throw new CatalogError('VALIDATION_FAILED', `changeType must be one of ${changeTypes.join(', ')}`, {
      field: 'changeType',
      allowed: changeTypes
    })
  return found
}

function parseAspectName(sent: unknown): string {
  if (typeof sent !== 'string' || sent === '')
    throw new CatalogError('BAD_REQUEST', 'aspectName is missing', { field: 'aspectName' })
  if (sent.length > aspectNameMaxChars || !/^[A-Za-z]\w*$/.test(sent))
    throw new CatalogError(
      'BAD_REQUEST',
      `aspectName must be a letter, then letters, digits or _, at most ${aspectNameMaxChars}`,
      { field: 'aspectName' }
    )
  return sent
}

/** Takes the aspect out of its envelope. `content` is undefined if none was sent. */
function openEnvelope(
  sent: unknown,
  field = 'aspect'
): { content: JsonValue | undefined; contentType?: string } {
  if (!isSent(sent)) return { content: undefined }
  if (!isObject(sent)) return { content: checkJson(sent, field) }
  const contentType = parseContentType(sent, field)
  const names = Object.keys(sent).filter((name) => name !== 'contentType')
  const [only] = names.length === 1 ? names : []
  if (only === 'value' && typeof sent.value === 'string')
    return { content: parseJsonText(sent.value, field), ...contentType }
  if (only === 'json' || (only === 'value' && contentType))
    return { content: checkJson(sent[only], field), ...contentType }
  return { content: checkJson(sent, field) }
}

function parseContentType(sent: JsonObject, field: string): { contentType: string } | undefined {
  const { contentType } = sent
  const isEnvelope = 'value' in sent || 'json' in sent
  if (!isEnvelope || typeof contentType !== 'string') return undefined
  if (contentType !== jsonContent && contentType !== patchContent) {
    throw new CatalogError('BAD_REQUEST', `${field}.contentType must be ${jsonContent} or ${patchContent}`, {
      field: `${field}.contentType`,
      allowed: [jsonContent, patchContent]
    })
  }
  return { contentType }
}

function parseHeaders(proposal: JsonObject): WriteHeaders {
  const systemMetadata = parseSystemMetadata(proposal.systemMetadata)
  return { ...(systemMetadata ? { systemMetadata } : {}), ...parseConditions(proposal.headers) }
}

function parseSystemMetadata(sent: JsonValue | undefined): JsonObject | undefined {
  if (sent === undefined || sent === null) return undefined
  const value =
    typeof sent === 'string' ? parseJsonText(sent, 'systemMetadata') : checkJson(sent, 'systemMetadata')
  if (!isObject(value))
    throw new CatalogError('BAD_REQUEST', 'systemMetadata must be an object, or the text of one', {
      field: 'systemMetadata'
    })
  return value
}
