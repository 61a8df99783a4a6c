/**
 * Recognises the change proposals that most emitters send of lineage: an UPSERT of `upstreamLineage` that names datasets
 * and nothing more, without the general checks of every field of every model.
 *
 * Whatever does not fit is read as any other record, so a doubt costs time and nothing else.
 */
import type { JsonObject } from '../model/changes.ts'
import { findInexactNumber } from '../model/exact-numbers.ts'
import { checkJson } from '../model/json-checks.ts'
import { isObject } from '../model/json-values.ts'
import { unsetStamp } from '../model/aspects/shared-records.ts'
import { isOrdinaryDataset } from '../urn/ordinary-dataset.ts'
import type { Urn } from '../urn/urn.ts'

/** What the dataset is derived from, in the order of the list. `attributes` are what splitLineageDocument makes of the entries. */
export type PlainDocument = {
  line: number
  ownerUrn: Urn
  upstreamUrns: readonly Urn[]
  attributes: readonly (JsonObject | null)[]
  systemMetadata: JsonObject | null
}

/** Larger ones are rare, and could exceed the limits of aspects. */
const textMaxChars = 256 * 1024

/** Of these some clients write null if they say nothing. */
const emptyKeys = new Set(['entityKeyAspect', 'auditHeader', 'headers'])
const envelopeKeys = new Set([
  'entityType',
  'entityUrn',
  'changeType',
  'aspectName',
  'aspect',
  'systemMetadata'
])
const aspectKeys = new Set(['value', 'contentType'])
const documentKeys = new Set(['upstreams'])
const upstreamKeys = new Set(['dataset', 'type', 'auditStamp'])
const stampKeys = new Set(['time', 'actor'])

const ordinaryActor = /^urn:li:corpuser:[\w.@-]{1,100}$/
const lineageTypes = new Set<unknown>(['TRANSFORMED', 'COPY', 'VIEW'])
const unknownStamp = unsetStamp()

/** Reads the text of a record; null for one that is to be read in full. */
export function readPlainDocument(text: string, line: number): PlainDocument | null {
  if (text.length > textMaxChars || !text.includes('"upstreamLineage"')) return null
  const proposal = parsed(text)
  if (!isObject(proposal)) return null
  for (const key in proposal)
    if (!envelopeKeys.has(key) && !(emptyKeys.has(key) && proposal[key] === null)) return null
  const { entityType, entityUrn, changeType, aspectName, aspect } = proposal
  if (entityType !== 'dataset' || changeType !== 'UPSERT' || aspectName !== 'upstreamLineage') return null
  if (
    typeof entityUrn !== 'string' ||
    !isOrdinaryDataset(entityUrn) ||
    !isObject(aspect) ||
    !hasOnly(aspect, aspectKeys)
  )
    return null
  if (
    typeof aspect.value !== 'string' ||
    (aspect.contentType !== undefined && aspect.contentType !== 'application/json')
  )
    return null
  const systemMetadata = readMetadata(proposal.systemMetadata)
  const document = parsed(aspect.value)
  if (systemMetadata === undefined || !isObject(document) || !hasOnly(document, documentKeys)) return null
  return readUpstreams(document.upstreams, { line, ownerUrn: entityUrn, systemMetadata })
}

function readUpstreams(
  list: unknown,
  head: Pick<PlainDocument, 'line' | 'ownerUrn' | 'systemMetadata'>
): PlainDocument | null {
  if (!Array.isArray(list) || list.length === 0) return null
  const upstreamUrns: Urn[] = []
  const attributes: (JsonObject | null)[] = []
  for (const entry of list as unknown[]) {
    if (!isObject(entry) || !hasOnly(entry, upstreamKeys)) return null
    const { dataset, type, auditStamp } = entry
    if (
      typeof dataset !== 'string' ||
      !isOrdinaryDataset(dataset) ||
      typeof type !== 'string' ||
      !lineageTypes.has(type)
    )
      return null
    if (!isStamp(auditStamp)) return null
    upstreamUrns.push(dataset)
    const isUnset =
      auditStamp === undefined ||
      (auditStamp.time === unknownStamp.time && auditStamp.actor === unknownStamp.actor)
    attributes.push(
      isUnset && type === 'TRANSFORMED' ? null : { auditStamp: auditStamp ?? unknownStamp, type }
    )
  }
  return { ...head, upstreamUrns, attributes }
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    // Refused with its place when it is read in full.
    return findInexactNumber(text) ? undefined : value
  } catch {
    return undefined
  }
}

function hasOnly(object: JsonObject, keys: ReadonlySet<string>): boolean {
  for (const key in object) if (!keys.has(key)) return false
  return true
}

function isStamp(stamp: unknown): stamp is JsonObject | undefined {
  if (stamp === undefined) return true
  return (
    isObject(stamp) &&
    hasOnly(stamp, stampKeys) &&
    Number.isSafeInteger(stamp.time) &&
    Number(stamp.time) >= 0 &&
    typeof stamp.actor === 'string' &&
    ordinaryActor.test(stamp.actor)
  )
}

/** Null if there is none, undefined if it is to be read in full. */
function readMetadata(sent: unknown): JsonObject | null | undefined {
  if (sent === undefined || sent === null) return null
  if (!isObject(sent)) return undefined
  try {
    checkJson(sent, 'systemMetadata')
    return sent
  } catch {
    return undefined
  }
}
