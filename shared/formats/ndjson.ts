/**
 * Reads one line of the format `ndjson`: an edge, a named operation, a change proposal, or a legacy snapshot.
 */
import { createHash } from 'node:crypto'
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { assetUrnOf } from '../model/asset-urn.ts'
import type { Change, ChangeRecord, JsonObject } from '../model/changes.ts'
import { parseEdge, type ParsedEdge } from '../model/edges.ts'
import { checkJson, parseJson } from '../model/json-checks.ts'
import { isObject } from '../model/json-values.ts'
import { checkLine, checkLines } from '../model/text-checks.ts'
import { domainUrn, urnOfType } from '../urn/kinds.ts'
import { parseUrn, type Urn } from '../urn/urn.ts'
import { envelopeDepth, isEnveloped, parseEnveloped } from './enveloped.ts'
import { namesIn, type NamingFields, type SentName } from './sent-names.ts'

/**
 * Reads one line into changes. The list is empty if nothing needs to change (a data job and its own flow).
 * Throws BAD_REQUEST, INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED and VALIDATION_FAILED, with the path in
 * `details.field`.
 */
export function parseNdjsonRecord(text: string, line: number): ChangeRecord {
  const value = parseJson(text, 'The line')
  if (!isObject(value)) throw new CatalogError('BAD_REQUEST', 'A line must be a JSON object')
  const isProposal = isEnveloped(value)
  checkJson(value, '', { maxDepth: isProposal ? limits.jsonMaxDepth + envelopeDepth : limits.jsonMaxDepth })
  return { line, changes: changesOf(value) }
}

/** The changes of a record, which must have passed checkJson. Throws as parseNdjsonRecord does. */
export const changesOf = (record: JsonObject): Change[] =>
  isEnveloped(record) ? parseEnveloped(record) : parseOperation(record)

const operations: { [op: string]: (record: JsonObject) => Change[] } = {
  addEdge,
  removeEdge,
  setDomain,
  unsetDomain,
  createDomain,
  renameDomain,
  describeDomain,
  moveDomain,
  deleteDomain,
  upsertEntity
}
const operationNames = Object.keys(operations)

const ends: NamingFields = {
  upstreamUrn: 'asset',
  downstreamUrn: 'asset',
  upstream: 'asset',
  downstream: 'asset'
}

/** The fields of an operation that may contain a name instead of a URN. */
const namingFields: { readonly [op: string]: NamingFields } = {
  addEdge: ends,
  removeEdge: ends,
  setDomain: { entityUrn: 'asset', domainUrn: 'domain' },
  unsetDomain: { entityUrn: 'asset' },
  createDomain: { parentDomain: 'domain' },
  renameDomain: { domainUrn: 'domain' },
  describeDomain: { domainUrn: 'domain' },
  moveDomain: { domainUrn: 'domain', parentDomain: 'domain' },
  deleteDomain: { domainUrn: 'domain' },
  upsertEntity: { urn: 'newAsset' }
}

const mayName = new RegExp(
  `"(?:${[...new Set(Object.values(namingFields).flatMap(Object.keys))].join('|')})"\\s*:\\s*"(?!urn:)`
)

/** The names in a line; none for a line that is not valid, which its parser refuses. */
export function namesInLine(text: string): SentName[] {
  // Nearly all lines end here, so that they are not parsed twice.
  if (!mayName.test(text)) return []
  const record = operationIn(text)
  const fields = record && namingFields[typeof record.op === 'string' ? record.op : 'addEdge']
  return fields ? namesIn(record, fields) : []
}

/** The line with these texts in its fields. */
export const lineWith = (text: string, values: { readonly [field: string]: string }): string =>
  JSON.stringify({ ...operationIn(text), ...values })

/** Null for a line that is not valid or not an operation. */
function operationIn(text: string): JsonObject | null {
  try {
    const value = parseJson(text, 'The line')
    if (!isObject(value) || isEnveloped(value)) return null
    // A text that nests too deeply cannot be printed.
    checkJson(value, '', { maxDepth: limits.jsonMaxDepth })
    return value
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}

function parseOperation(record: JsonObject): Change[] {
  if (record.op === undefined || record.op === null) {
    if (edgeKeys.some((key) => record[key] !== undefined)) return addEdge(record)
    throw new CatalogError(
      'BAD_REQUEST',
      `Not a valid record: the line has neither upstreamUrn and downstreamUrn, nor op (${operationNames.join(', ')}), nor entityType`,
      { field: 'op', allowed: operationNames }
    )
  }
  const name = operationNames.find((known) => known === record.op)
  const operation = name === undefined ? undefined : operations[name]
  if (!operation)
    throw new CatalogError('BAD_REQUEST', `op must be one of ${operationNames.join(', ')}`, {
      field: 'op',
      allowed: operationNames
    })
  return operation(record)
}

const edgeKeys = ['upstreamUrn', 'downstreamUrn', 'upstream', 'downstream'] as const

/** The edge of a record. Its ends have our names, or those of our own exports. */
function edgeOf(record: JsonObject): ParsedEdge {
  const upstreamField = endField(record, 'upstreamUrn', 'upstream')
  const downstreamField = endField(record, 'downstreamUrn', 'downstream')
  return parseEdge(record[upstreamField], record[downstreamField], '', { upstreamField, downstreamField })
}

function endField(record: JsonObject, name: string, other: string): string {
  if (record[other] === undefined) return name
  if (record[name] !== undefined)
    throw new CatalogError('BAD_REQUEST', `${other} and ${name} mean the same; send one of them`, {
      field: other
    })
  return other
}

function addEdge(record: JsonObject): Change[] {
  const { upstreamUrn, downstreamUrn, isWithoutEffect } = edgeOf(record)
  return isWithoutEffect ? [] : [{ kind: 'addEdge', upstreamUrn, downstreamUrn }]
}

function removeEdge(record: JsonObject): Change[] {
  const { upstreamUrn, downstreamUrn, isWithoutEffect } = edgeOf(record)
  return isWithoutEffect ? [] : [{ kind: 'removeEdge', upstreamUrn, downstreamUrn }]
}

function setDomain(record: JsonObject): Change[] {
  return [
    {
      kind: 'setDomain',
      entityUrn: assetUrnOf(record.entityUrn, 'entityUrn'),
      domainUrn: urnOfType(record.domainUrn, 'domain', 'domainUrn'),
      ...(isSwitchedOn(record, 'onlyIfNone') ? { onlyIfNone: true } : {})
    }
  ]
}

function isSwitchedOn(record: JsonObject, field: string): boolean {
  const value = record[field] ?? false
  if (typeof value !== 'boolean')
    throw new CatalogError('BAD_REQUEST', `${field} must be true or false`, { field })
  return value
}

function unsetDomain(record: JsonObject): Change[] {
  return [{ kind: 'unsetDomain', entityUrn: assetUrnOf(record.entityUrn, 'entityUrn') }]
}

function createDomain(record: JsonObject): Change[] {
  const name = checkLine(requiredText(record, 'name'), { field: 'name', limit: 'domainNameMaxChars' })
  const description = optionalText(record, 'description')
  const parentDomain =
    record.parentDomain === undefined || record.parentDomain === null
      ? undefined
      : urnOfType(record.parentDomain, 'domain', 'parentDomain')
  const id = optionalText(record, 'id')?.trim() || idFromName(name, parentDomain)
  return [
    {
      kind: 'createDomain',
      domainUrn: domainUrn(id, 'id'),
      name,
      ...(description === undefined
        ? {}
        : { description: checkLines(description, { field: 'description', limit: 'descriptionMaxChars' }) }),
      ...(parentDomain === undefined ? {} : { parentDomain })
    }
  ]
}

/**
 * The id is derived from the name, because a line is parsed several times: when it is received, applied and
 * retried.
 */
function idFromName(name: string, parentDomain: Urn | undefined): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([parentDomain ?? null, name]))
    .digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const domainOf = (record: JsonObject): Urn => urnOfType(record.domainUrn, 'domain', 'domainUrn')

function renameDomain(record: JsonObject): Change[] {
  return [
    {
      kind: 'renameDomain',
      domainUrn: domainOf(record),
      name: checkLine(requiredText(record, 'name'), { field: 'name', limit: 'domainNameMaxChars' })
    }
  ]
}

function describeDomain(record: JsonObject): Change[] {
  return [
    {
      kind: 'describeDomain',
      domainUrn: domainOf(record),
      description: checkLines(requiredText(record, 'description'), {
        field: 'description',
        limit: 'descriptionMaxChars'
      })
    }
  ]
}

/**
 * Moving to the top level needs an explicit null, so that a line that has lost its parent does not move
 * anything.
 */
function moveDomain(record: JsonObject): Change[] {
  const { parentDomain } = record
  if (parentDomain === undefined)
    throw new CatalogError('BAD_REQUEST', 'parentDomain is missing; null is the top level', {
      field: 'parentDomain'
    })
  return [
    {
      kind: 'moveDomain',
      domainUrn: domainOf(record),
      parentDomain: parentDomain === null ? null : urnOfType(parentDomain, 'domain', 'parentDomain')
    }
  ]
}

function deleteDomain(record: JsonObject): Change[] {
  return [{ kind: 'deleteDomain', domainUrn: domainOf(record) }]
}

function upsertEntity(record: JsonObject): Change[] {
  const { urn, entityType } = parseUrn(record.urn, 'urn')
  if (entityType === 'domain')
    throw new CatalogError('BAD_REQUEST', 'A domain is created with the op createDomain', {
      field: 'urn',
      urn
    })
  if (entityType === 'schemaField')
    throw new CatalogError(
      'BAD_REQUEST',
      'A schemaField exists when the asset it belongs to exists; name the asset',
      { field: 'urn', urn }
    )
  const name = optionalText(record, 'name')
  const description = optionalText(record, 'description')
  return [
    {
      kind: 'upsertEntity',
      entityUrn: urn,
      ...(name === undefined
        ? {}
        : { name: checkLines(name, { field: 'name', limit: 'descriptionMaxChars' }) }),
      ...(description === undefined
        ? {}
        : { description: checkLines(description, { field: 'description', limit: 'descriptionMaxChars' }) })
    }
  ]
}

function requiredText(record: JsonObject, field: string): string {
  const text = optionalText(record, field)
  if (text === undefined) throw new CatalogError('BAD_REQUEST', `${field} is missing`, { field })
  return text
}

function optionalText(record: JsonObject, field: string): string | undefined {
  const text = record[field]
  if (text === undefined || text === null) return undefined
  if (typeof text !== 'string') throw new CatalogError('BAD_REQUEST', `${field} must be a string`, { field })
  return text
}
