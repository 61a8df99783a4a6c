/**
 * A record of a dbt load. It contains everything that one node says, as records of the format `ndjson`, so
 * that a reject is easy to understand.
 *
 * The domain of a node is a record of its own, so that an unknown domain does not reject the node's lineage.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Change, ChangeRecord, JsonObject } from '../../model/changes.ts'
import { prepareAspect } from '../../model/aspect-registry.ts'
import { checkJson, parseJson } from '../../model/json-checks.ts'
import { isObject } from '../../model/json-values.ts'
import { entityTypeOf } from '../../urn/urn.ts'
import { envelopeDepth } from '../enveloped.ts'
import { changesOf } from '../ndjson.ts'

/** The edges of `entityUrn` are kept if the record is rejected. */
export type NodeRecord = { node: string; entityUrn: string; records: JsonObject[] }

/**
 * `domainUrn` may be a short reference. With `ifUnset`, an asset that is in a domain, or was removed from
 * one, is not changed.
 */
export type DomainRecord = {
  node: string
  op: 'setDomain'
  entityUrn: string
  domainUrn: string
  ifUnset: boolean
}

/** The levels of nesting that the record adds to the records in it: the object and the list. */
const ownDepth = 2

/** Throws as parseNdjsonRecord does; the message names the node. */
export function parseDbtRecord(text: string, line: number): ChangeRecord {
  const value = parseJson(text, 'The record')
  if (!isObject(value) || typeof value.node !== 'string')
    throw new CatalogError('BAD_REQUEST', 'Not a record of a dbt load: node is missing', { field: 'node' })
  const { node } = value
  try {
    checkJson(value, '', { maxDepth: limits.jsonMaxDepth + envelopeDepth + ownDepth })
    return {
      line,
      changes: value.op === 'setDomain' ? changesOfDomain(value) : changesOfNode(value)
    }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    throw new CatalogError(error.code, ofNode(node, error.message), error.details, { cause: error })
  }
}

export const ofNode = (node: string, message: string): string => `${node}: ${message}`

/** The message of a reject, prefixed with the node of the record. */
export function messageOfDbtRecord(text: string, message: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && typeof value.node === 'string' ? ofNode(value.node, message) : message
  } catch {
    return message
  }
}

function changesOfNode({ records }: JsonObject): Change[] {
  // A node that could not be read has no records: an empty list would mean that it names nothing.
  if (!Array.isArray(records))
    throw new CatalogError('BAD_REQUEST', 'The node could not be read', { field: 'records' })
  return records.flatMap((record, index) => {
    const field = `records[${index}]`
    if (!isObject(record)) throw new CatalogError('BAD_REQUEST', `${field} must be an object`, { field })
    try {
      return changesOf(record)
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      const { field: inner } = error.details
      throw new CatalogError(
        error.code,
        error.message,
        { ...error.details, field: inner === undefined ? field : `${field}.${inner}` },
        { cause: error }
      )
    }
  })
}

function changesOfDomain({ entityUrn, domainUrn, ifUnset }: JsonObject): Change[] {
  const changes = changesOf({
    op: 'setDomain',
    entityUrn: entityUrn ?? null,
    domainUrn: domainUrn ?? null
  })
  if (ifUnset !== true) return changes
  return changes.map((change) =>
    change.kind === 'setDomain'
      ? {
          kind: 'upsertAspect',
          changeType: 'UPSERT',
          entityUrn: change.entityUrn,
          aspectName: 'domains',
          value: prepareAspect(entityTypeOf(change.entityUrn), 'domains', { domains: [change.domainUrn] }),
          headers: { ifNoneMatch: true }
        }
      : change
  )
}
