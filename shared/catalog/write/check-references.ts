/**
 * Decides which records refer to entities that do not exist.
 *
 * References may point in any direction: an entity counts as existing if a record of the same call or chunk
 * creates it, or a record of the same load declares it. A refused record creates nothing, so the records that
 * depend on it are checked again.
 */
import { CatalogError, type ErrorDetails } from '../../errors.ts'
import type { Change, ChangeRecord } from '../../model/changes.ts'
import { createsOf, referencesOf, assetOrSelf, type Reference } from '../../model/change-facts.ts'
import type { Urn } from '../../urn/urn.ts'

export type Existence = {
  isPresent: (urn: Urn) => boolean
  /** Whether the URN has a row of any kind: something refers to it. */
  isKnown: (urn: Urn) => boolean
  /**
   * Whether something newer than the record has deleted the entity: the change will have no effect, so
   * nothing is missing.
   */
  isDeletedAfter: (urn: Urn, record: ChangeRecord) => boolean
  /** Whether the change has already been checked and applied. */
  isDone: (change: Change) => boolean
  /** Whether another record of the same load will create the entity. */
  isDeclared: (urn: Urn) => boolean
  /** Whether it is a domain that was soft-deleted before: what is put into it would not be seen there. */
  isHiddenDomain: (urn: Urn) => boolean
}

type CheckedRecord = {
  record: ChangeRecord
  creates: Urn[]
  needs: { reference: Reference; index: number }[]
}

/** The refused records, each with its error. All other records may be applied. */
export function checkReferences(
  records: readonly ChangeRecord[],
  existence: Existence
): Map<ChangeRecord, CatalogError> {
  const refused = new Map<ChangeRecord, CatalogError>()
  const creators = new Map<Urn, number>()
  const count = (urns: readonly Urn[], step: number) => {
    for (const urn of urns) creators.set(urn, (creators.get(urn) ?? 0) + step)
  }
  const checked: CheckedRecord[] = records.map((record) => ({
    record,
    // A record does not create an entity that was deleted after it.
    creates: record.changes.flatMap(createsOf).filter((urn) => !existence.isDeletedAfter(urn, record)),
    needs: record.changes.flatMap((change, index) =>
      existence.isDone(change) ? [] : referencesOf(change).map((reference) => ({ reference, index }))
    )
  }))
  for (const { creates } of checked) count(creates, 1)
  const isSatisfied = (
    record: ChangeRecord,
    { reference, index }: CheckedRecord['needs'][number]
  ): boolean => {
    const urn = assetOrSelf(reference.urn)
    return (
      (existence.isPresent(urn) &&
        !(putsInto(record.changes[index], reference) && existence.isHiddenDomain(urn))) ||
      (creators.get(urn) ?? 0) > 0 ||
      existence.isDeclared(urn) ||
      existence.isDeletedAfter(urn, record) ||
      (reference.placeholderWillDo === true && existence.isKnown(urn))
    )
  }
  let undecided = checked.filter(({ needs }) => needs.length > 0)
  for (;;) {
    const failing = undecided.filter(({ record, needs }) => !needs.every((need) => isSatisfied(record, need)))
    if (failing.length === 0) return refused
    for (const { record, creates, needs } of failing) {
      refused.set(
        record,
        missing(
          record,
          needs.filter((need) => !isSatisfied(record, need)),
          existence
        )
      )
      count(creates, -1)
    }
    undecided = undecided.filter(({ record }) => !refused.has(record))
  }
}

/** Whether the change puts something into the domain, rather than change or delete the domain itself. */
const putsInto = (change: Change | undefined, { as }: Reference): boolean =>
  as === 'parentDomain' ||
  (as === 'domain' &&
    (change?.kind === 'setDomain' || change?.kind === 'upsertAspect' || change?.kind === 'patchAspect'))

/** The message names up to ten missing entities and says how many there are; the details name the first. */
function missing(
  record: ChangeRecord,
  absent: CheckedRecord['needs'],
  { isHiddenDomain }: Existence
): CatalogError {
  const [first] = absent
  if (!first) throw new Error('nothing is missing')
  const change = record.changes[first.index]
  const urns = [...new Set(absent.map(({ reference }) => assetOrSelf(reference.urn)))]
  const details: ErrorDetails = { urn: assetOrSelf(first.reference.urn) }
  const field = record.fields?.[first.index]
  const name = fieldOf(first.reference, change)
  details.field = field ? `${field}.${name}` : name
  if (urns.length > 1) details.total = urns.length
  const hint = isHiddenDomain(first.reference.urn)
    ? ' It is soft-deleted: create it again, or set `removed` of its aspect `status` to false.'
    : ''
  const others =
    urns.length > 1
      ? ` (${urns.length} are missing: ${urns.slice(0, 10).join(', ')}${urns.length > 10 ? ', …' : ''})`
      : ''
  return new CatalogError(
    'MISSING_REFERENCE',
    `${change ? sentence(change, first.reference) : ''}${hint}${others}`,
    details
  )
}

/** The field of the record that names the entity. For an aspect, the reference may be anywhere inside it. */
function fieldOf(reference: Reference, change: Change | undefined): string {
  if (reference.as !== 'entity' && (change?.kind === 'upsertAspect' || change?.kind === 'patchAspect'))
    return 'aspect'
  return {
    entity: 'entityUrn',
    upstream: 'upstreamUrn',
    downstream: 'downstreamUrn',
    domain: 'domainUrn',
    parentDomain: 'parentDomain'
  }[reference.as]
}

/** The message that clients of the compatible operations know. */
function sentence(change: Change, reference: Reference): string {
  const urn = assetOrSelf(reference.urn)
  if (change.kind === 'setDomain')
    return `Failed to add Entity ${change.entityUrn} to Domain ${change.domainUrn}. ${reference.as === 'domain' ? 'Domain' : 'Entity'} does not exist.`
  if (change.kind === 'createDomain') return `Parent Domain does not exist! ${urn}`
  if (change.kind === 'moveDomain' && reference.as === 'parentDomain')
    return `Parent entity does not exist. ${urn}`
  if (change.kind === 'addEdge' || change.kind === 'removeEdge') {
    return reference.as === 'downstream'
      ? `Cannot upsert lineage as downstream urn ${urn} doesn't exist`
      : `Error: urn does not exist: ${urn}`
  }
  return `${urn} does not exist. Create it before or in the same request, or ask for placeholders (X-Missing-References: create; in a load missingReferences=create).`
}
