/**
 * Decides which records refer to entities that do not exist.
 *
 * References hold in any order: an entity counts as existing when a record of the same call or chunk creates it, or a
 * record of the same load declares it. A record that is refused creates nothing, so its dependants are judged again.
 */
import { CatalogError, type ErrorDetails } from '../../errors.ts'
import type { Change, ChangeRecord } from '../../model/changes.ts'
import { createsOf, referencesOf, standsOn, type Reference } from '../../model/change-facts.ts'
import type { Urn } from '../../urn/urn.ts'

export type Existence = {
  isPresent: (urn: Urn) => boolean
  /** A row of whatever kind: something refers to it. */
  isKnown: (urn: Urn) => boolean
  /** Deleted by something newer than the record: the change will have no effect, so nothing is missing. */
  isDeletedAfter: (urn: Urn, record: ChangeRecord) => boolean
  /** Has been judged and carried out already. */
  isDone: (change: Change) => boolean
  /** Will be created by another record of the same load. */
  isDeclared: (urn: Urn) => boolean
}

type Judged = { record: ChangeRecord; creates: Urn[]; needs: { reference: Reference; index: number }[] }

/** The refusals, by record. Every record not in the map may be applied. */
export function judgeReferences(
  records: readonly ChangeRecord[],
  existence: Existence
): Map<ChangeRecord, CatalogError> {
  const refused = new Map<ChangeRecord, CatalogError>()
  const creators = new Map<Urn, number>()
  const count = (urns: readonly Urn[], step: number) => {
    for (const urn of urns) creators.set(urn, (creators.get(urn) ?? 0) + step)
  }
  const judged: Judged[] = records.map((record) => ({
    record,
    // What was deleted after a record is not created by it.
    creates: record.changes.flatMap(createsOf).filter((urn) => !existence.isDeletedAfter(urn, record)),
    needs: record.changes.flatMap((change, index) =>
      existence.isDone(change) ? [] : referencesOf(change).map((reference) => ({ reference, index }))
    )
  }))
  for (const { creates } of judged) count(creates, 1)
  const holds = (record: ChangeRecord, reference: Reference): boolean => {
    const urn = standsOn(reference.urn)
    return (
      existence.isPresent(urn) ||
      (creators.get(urn) ?? 0) > 0 ||
      existence.isDeclared(urn) ||
      existence.isDeletedAfter(urn, record) ||
      (reference.placeholderWillDo === true && existence.isKnown(urn))
    )
  }
  let open = judged.filter(({ needs }) => needs.length > 0)
  for (;;) {
    const failing = open.filter(
      ({ record, needs }) => !needs.every(({ reference }) => holds(record, reference))
    )
    if (failing.length === 0) return refused
    for (const { record, creates, needs } of failing) {
      refused.set(
        record,
        missing(
          record,
          needs.filter(({ reference }) => !holds(record, reference))
        )
      )
      count(creates, -1)
    }
    open = open.filter(({ record }) => !refused.has(record))
  }
}

/** The error names the first absent entity, up to ten in its text, and says how many there are. */
function missing(record: ChangeRecord, absent: Judged['needs']): CatalogError {
  const [first] = absent
  if (!first) throw new Error('nothing is missing')
  const change = record.changes[first.index]
  const urns = [...new Set(absent.map(({ reference }) => standsOn(reference.urn)))]
  const details: ErrorDetails = { urn: standsOn(first.reference.urn) }
  const field = record.fields?.[first.index]
  const name = fieldOf(first.reference, change)
  details.field = field ? `${field}.${name}` : name
  if (urns.length > 1) details.total = urns.length
  const others =
    urns.length > 1
      ? ` (${urns.length} are missing: ${urns.slice(0, 10).join(', ')}${urns.length > 10 ? ', …' : ''})`
      : ''
  return new CatalogError(
    'MISSING_REFERENCE',
    `${change ? sentence(change, first.reference) : ''}${others}`,
    details
  )
}

/** Where the record names it: what an aspect refers to stands somewhere in the aspect. */
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

/** The words that clients of the compatible operations know. */
function sentence(change: Change, reference: Reference): string {
  const urn = standsOn(reference.urn)
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
