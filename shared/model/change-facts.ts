/**
 * What a change creates and refers to, and in which pass of a load it is applied: derived from the change
 * alone, without a database.
 */
import { entityTypeOf, firstUrnOf, toUrn, type Urn } from '../urn/urn.ts'
import { requiresEntity } from './aspect-registry.ts'
import type { Change, JsonObject, JsonValue, PatchDocument } from './changes.ts'
import { isObject, listOf } from './json-values.ts'
import { splitLineageDocument } from './lineage-document.ts'
import { isLineageAspect, lineageFieldByCode, placeOfTypes } from './lineage-fields.ts'
import { planLineagePatch } from './lineage-patch.ts'

/**
 * An entity that must exist for a change to be valid. A placeholder is enough if the change only removes
 * something.
 */
export type Reference = {
  urn: Urn
  as: 'entity' | 'upstream' | 'downstream' | 'domain' | 'parentDomain'
  placeholderWillDo?: boolean
}

/** The asset whose existence is checked: a column exists if its parent asset does. */
export function assetOrSelf(urn: Urn): Urn {
  return entityTypeOf(urn) === 'schemaField' ? assetOrSelf(firstUrnOf(urn)) : urn
}

/** The entities that a change creates. */
export function createsOf(change: Change): Urn[] {
  if (change.kind === 'upsertEntity') return [change.entityUrn]
  if (change.kind === 'createDomain') return [change.domainUrn]
  if (change.kind === 'upsertAspect' || change.kind === 'patchAspect')
    return requiresEntity(change.aspectName) ? [] : [assetOrSelf(change.entityUrn)]
  return []
}

/**
 * The entity that a change describes: if it was soft-deleted before, it is back. An edge or a domain only names
 * the asset, a removal says nothing about it, and a status says itself whether it is removed.
 */
export function describedBy(change: Change): Urn | null {
  if (change.kind === 'upsertEntity') return change.entityUrn
  if (change.kind === 'createDomain') return change.domainUrn
  if (change.kind === 'upsertAspect') return isDescriptive(change.aspectName) ? change.entityUrn : null
  return change.kind === 'patchAspect' && isDescribingPatch(change.aspectName, change.patch)
    ? change.entityUrn
    : null
}

export const isDescriptive = (aspectName: string): boolean =>
  aspectName !== 'status' && aspectName !== 'domains'

/** A patch of an aspect that consists of edges adds or removes some of them, as edges given by their ends do. */
export const isDescribingPatch = (aspectName: string, { patch }: PatchDocument): boolean =>
  isDescriptive(aspectName) &&
  !requiresEntity(aspectName) &&
  patch.some(({ op }) => op !== 'remove' && op !== 'test')

/**
 * The references of a change are needed when it is received, planned, checked and applied, but found only
 * once.
 */
const found = new WeakMap<Change, readonly Reference[]>()

/** The entities that must exist already, or be created together with the change. */
export function referencesOf(change: Change): readonly Reference[] {
  const known = found.get(change)
  if (known) return known
  const references = findReferences(change)
  found.set(change, references)
  return references
}

function findReferences(change: Change): Reference[] {
  switch (change.kind) {
    case 'addEdge':
      return [
        { urn: change.upstreamUrn, as: 'upstream' },
        { urn: change.downstreamUrn, as: 'downstream' }
      ]
    case 'removeEdge':
      return [
        { urn: change.upstreamUrn, as: 'upstream', placeholderWillDo: true },
        { urn: change.downstreamUrn, as: 'downstream', placeholderWillDo: true }
      ]
    case 'replaceEdges':
      return [
        { urn: change.ownerUrn, as: 'entity' },
        ...change.edges.flatMap((edge): Reference[] => [
          { urn: edge.upstreamUrn, as: 'upstream' },
          { urn: edge.downstreamUrn, as: 'downstream' }
        ])
      ]
    case 'setDomain':
      return [
        { urn: change.entityUrn, as: 'entity' },
        { urn: change.domainUrn, as: 'domain' }
      ]
    case 'unsetDomain':
      return [{ urn: change.entityUrn, as: 'entity', placeholderWillDo: true }]
    case 'createDomain':
      return change.parentDomain ? [{ urn: change.parentDomain, as: 'parentDomain' }] : []
    case 'renameDomain':
    case 'describeDomain':
    case 'deleteDomain':
      return [{ urn: change.domainUrn, as: 'domain' }]
    case 'moveDomain':
      return [
        { urn: change.domainUrn, as: 'domain' },
        ...(change.parentDomain ? [{ urn: change.parentDomain, as: 'parentDomain' } as const] : [])
      ]
    case 'upsertAspect':
      return [
        ...ownerReferences(change.entityUrn, change.aspectName),
        ...aspectReferences(change.entityUrn, change.aspectName, change.value)
      ]
    case 'patchAspect':
      return [...ownerReferences(change.entityUrn, change.aspectName), ...patchReferences(change)]
    case 'upsertEntity':
    case 'deleteAspect':
    case 'deleteEntity':
    case 'undoStatement':
    case 'undoPatches':
    case 'undoAspect':
    case 'undoAssociation':
    case 'undoCreation':
    case 'undoTakeBack':
      return []
  }
}

const ownerReferences = (urn: Urn, aspectName: string): Reference[] =>
  requiresEntity(aspectName) ? [{ urn, as: 'entity' }] : []
const isString = (value: JsonValue | undefined): value is string => typeof value === 'string'

function aspectReferences(ownerUrn: Urn, aspectName: string, value: JsonObject): Reference[] {
  if (aspectName === 'domains') {
    const named = [
      ...listOf(value.domains),
      ...listOf(value.domainAssociations).map((entry) => (isObject(entry) ? (entry.domain ?? null) : null))
    ]
    return [...new Set(named)].map((urn) => ({ urn: toUrn(urn, 'aspect.domains'), as: 'domain' }))
  }
  if (aspectName === 'domainProperties')
    return isString(value.parentDomain)
      ? [{ urn: toUrn(value.parentDomain, 'aspect.parentDomain'), as: 'parentDomain' }]
      : []
  if (!isLineageAspect(aspectName)) return []
  return splitLineageDocument(ownerUrn, aspectName, value).entries.flatMap((entry) =>
    otherEndReferences(ownerUrn, entry.downstreamUrn, entry.upstreamUrn)
  )
}

/** The ends of an edge that are not the owner. The owner's existence is checked with its aspect. */
function otherEndReferences(ownerUrn: Urn, downstreamUrn: Urn, upstreamUrn: Urn): Reference[] {
  const references: Reference[] = []
  if (assetOrSelf(upstreamUrn) !== ownerUrn) references.push({ urn: upstreamUrn, as: 'upstream' })
  if (assetOrSelf(downstreamUrn) !== ownerUrn) references.push({ urn: downstreamUrn, as: 'downstream' })
  return references
}

function patchReferences(change: Extract<Change, { kind: 'patchAspect' }>): Reference[] {
  if (isLineageAspect(change.aspectName)) {
    const { edges } = planLineagePatch(change.entityUrn, change.aspectName, change.patch.patch)
    const added = edges.flatMap((operation) =>
      operation.op === 'add' ? [operation.entry] : operation.op === 'replaceList' ? operation.entries : []
    )
    return added.flatMap((entry) =>
      otherEndReferences(change.entityUrn, entry.downstreamUrn, entry.upstreamUrn)
    )
  }
  // A domain or parent domain that a patch adds is a reference like any other.
  if (change.aspectName !== 'domains' && change.aspectName !== 'domainProperties') return []
  const as = change.aspectName === 'domains' ? 'domain' : 'parentDomain'
  return change.patch.patch
    .filter((operation) => operation.op === 'add' || operation.op === 'replace')
    .filter((operation) => change.aspectName === 'domains' || operation.path === '/parentDomain')
    .flatMap((operation) => urnsIn(operation.value))
    .filter((urn) => urn.startsWith('urn:li:domain:'))
    .map((urn) => ({ urn: toUrn(urn, 'aspect'), as }))
}

function urnsIn(value: JsonValue | undefined): string[] {
  if (isString(value)) return [value]
  if (Array.isArray(value)) return value.flatMap(urnsIn)
  if (value !== null && typeof value === 'object') return Object.values(value).flatMap(urnsIn)
  return []
}

/**
 * The pass of a load that a record belongs to: 1 for a record that creates entities and refers to none, 2 for
 * one that creates entities and refers to others, 3 for the rest. So references are valid whatever the order
 * of the records in the file.
 */
export function passOf(changes: readonly Change[]): 1 | 2 | 3 {
  if (!changes.some((change) => createsOf(change).length > 0)) return 3
  return changes.some((change) => referencesOf(change).length > 0) ? 2 : 1
}

/**
 * Whether a record that is applied late could undo a newer record that changed nothing. True for everything
 * except plain additions of edges. While such a record is unfinished, newer changes raise the stored order
 * even if the value stays the same.
 */
export const isDestructive = (changes: readonly Change[]): boolean =>
  changes.some((change) => change.kind !== 'addEdge' || change.attributes !== undefined)

/**
 * The owner, list and aspect that store an edge given only by its ends; null if no lineage exists between
 * these types.
 */
export function placeOfEdge(
  upstreamUrn: Urn,
  downstreamUrn: Urn
): { ownerUrn: Urn; fieldCode: number; aspectName: string } | null {
  const downstreamAsset = assetOrSelf(downstreamUrn)
  const place = placeOfTypes(
    entityTypeOf(upstreamUrn),
    entityTypeOf(downstreamUrn),
    entityTypeOf(downstreamAsset)
  )
  if (!place) return null
  const { owner, fieldCode } = place
  const ownerUrn = owner === 'upstream' ? assetOrSelf(upstreamUrn) : downstreamAsset
  return { ownerUrn, fieldCode, aspectName: lineageFieldByCode(fieldCode).aspectName }
}
