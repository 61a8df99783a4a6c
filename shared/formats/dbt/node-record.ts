/**
 * The record of a dbt load: what one node says, as records of the format `ndjson`, so that whoever reads a reject knows what was meant.
 *
 * Or the domain of a node: its verdict is its own, for a domain that is unknown must not take the lineage of the node with it.
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

/** `entityUrn` says whose edges to spare where the record is refused. */
export type NodeRecord = { node: string; entityUrn: string; records: JsonObject[] }

/** `domainUrn` may be a short reference. With `ifUnset` an asset that has been in a domain, or was taken out of one, stays as it is. */
export type DomainRecord = {
  node: string
  op: 'setDomain'
  entityUrn: string
  domainUrn: string
  ifUnset: boolean
}

/** What the record adds to the depth of a record in it: the object, the list. */
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

/** The message of a refusal, with the node in front that the record is of. */
export function messageOfDbtRecord(text: string, message: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && typeof value.node === 'string' ? ofNode(value.node, message) : message
  } catch {
    return message
  }
}

function changesOfNode({ records }: JsonObject): Change[] {
  // A node that could not be read has none: whoever asks what it names must not be told that it names nothing.
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
