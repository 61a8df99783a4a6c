/** Takes an entity out of what others say: their lists of edges, their domains and parents, their owners, tags and containers. */
import type { Db, Tx } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Change, ChangeRecord, JsonObject, JsonValue } from '../model/changes.ts'
import { checkCount } from '../model/count-checks.ts'
import { limits } from '../limits.ts'
import { isObject, listOf } from '../model/json-values.ts'
import { lineageFieldByCode } from '../model/lineage-fields.ts'
import { associatedWith, documentRelationships, relationshipOf, type DocumentRelationship, type DocumentStep } from '../model/relationships.ts'
import { findAspects } from '../store/aspects.ts'
import { findEntities } from '../store/entities.ts'
import { referencesInLists } from '../store/references.ts'
import { armsOfAspects, pageOfRelationships, type RelationshipFilter } from '../store/relationships.ts'
import type { Urn } from '../urn/urn.ts'
import { applyRecords } from './apply-records.ts'
import type { Call } from './call.ts'

/** An aspect of another entity that names the one in question. */
export type Reference = { entity: Urn, aspect: string, relationship: string }

/** `relatedAspects` are the first of them. */
export type References = { total: number, relatedAspects: Reference[] }

const shownMaxCount = 100

/**
 * Finds the references, and where it is no dry run takes all of them away, or none. Column records are left as they are, for
 * they name columns; and a job stays part of its flow, which its own URN says. Throws LIMIT_EXCEEDED (edgesPerCallMaxCount),
 * FORBIDDEN, and PRECONDITION_FAILED where another has changed one of the aspects meanwhile.
 */
export async function deleteReferences(db: Db, urn: Urn, isDryRun: boolean, { actor, requestId }: Call): Promise<References> {
  return inTransaction(db, async (tx) => {
    const references = await findReferences(tx, urn)
    if (!isDryRun && references.length > 0) {
      const changes = await Promise.all([...new Map(references.map((each) => [`${each.entity} ${each.aspect} ${each.listName ?? ''}`, each])).values()].map((each) => changeOf(tx, urn, each)))
      const records = changes.map((change, line): ChangeRecord => ({ line, changes: [change], fields: ['urn'] }))
      await applyRecords(tx, records, { actor, requestId, operation: 'deleteReferences', source: 'proposal', missingReferences: 'create' })
    }
    const relatedAspects = references.slice(0, shownMaxCount).map(({ entity, aspect, relationship }) => ({ entity, aspect, relationship }))
    return { total: references.length, relatedAspects }
  })
}

/** `listName` is that of a list of edges. */
type Found = Reference & { listName: string | null }

async function findReferences(tx: Tx, urn: Urn): Promise<Found[]> {
  const ids = (await findEntities(tx, [urn])).map((row) => row.id)
  const maxCount = limits.edgesPerCallMaxCount + 1
  const found: Found[] = []
  for (const id of ids) {
    for (const { ownerUrn, field } of await referencesInLists(tx, id, maxCount)) {
      const { aspectName, listName } = lineageFieldByCode(field)
      found.push({ entity: ownerUrn, aspect: aspectName, relationship: relationshipOf(field), listName })
    }
  }
  const filter: RelationshipFilter = {
    types: null, source: null, destination: { urns: [urn], ids }, upstream: null, downstream: null, either: null, sourceTypes: null, destinationTypes: null, includesRemoved: true, isLineageOnly: false, slice: null
  }
  for (const arm of armsOfAspects) {
    for (const { type, sourceUrn, aspectName } of await pageOfRelationships(tx, arm, filter, { after: null, offset: 0, count: maxCount })) {
      if (aspectName !== null && sourceUrn !== urn) found.push({ entity: sourceUrn, aspect: aspectName, relationship: type, listName: null })
    }
  }
  checkCount(found.length, 'edgesPerCallMaxCount', { field: 'urn', what: `${urn} is named more than ${limits.edgesPerCallMaxCount} times`, wayOut: 'Send their removal as a load (POST /loads)' })
  return found
}

async function changeOf(tx: Tx, urn: Urn, { entity, aspect, relationship, listName }: Found): Promise<Change> {
  if (listName !== null) return { kind: 'patchAspect', entityUrn: entity, aspectName: aspect, patch: { patch: [{ op: 'remove', path: `/${listName}/${escapePointer(urn)}` }] } }
  // Another may have put the asset or the domain elsewhere meanwhile: that stands.
  if (relationship === associatedWith) return { kind: 'patchAspect', entityUrn: entity, aspectName: aspect, patch: { patch: [{ op: 'remove', path: `/domains/${escapePointer(urn)}` }] } }
  if (aspect === 'domainProperties') return { kind: 'patchAspect', entityUrn: entity, aspectName: aspect, patch: { patch: [{ op: 'test', path: '/parentDomain', value: urn }, { op: 'remove', path: '/parentDomain' }] } }
  const [owner] = await findEntities(tx, [entity])
  const [row] = owner ? await findAspects(tx, [{ entityId: owner.id, aspectName: aspect }]) : []
  const left = documentRelationships.filter(({ aspectName }) => aspectName === aspect).reduce<JsonObject | null>((value, each) => value && without(value, each, urn), row?.value ?? null)
  if (left === null) return { kind: 'deleteAspect', entityUrn: entity, aspectName: aspect }
  return { kind: 'upsertAspect', changeType: 'UPSERT', entityUrn: entity, aspectName: aspect, value: left, headers: { ifVersionMatch: row?.version ?? 0 } }
}

const escapePointer = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1')

/** Aspects that say nothing without their one reference. */
const standOnReference: ReadonlySet<string> = new Set(['container'])

/** The value without the URN where the relationship has it; null where nothing is left to say. */
function without(value: JsonObject, { aspectName, path }: DocumentRelationship, urn: Urn): JsonObject | null {
  const [first, ...rest] = path
  if (!first) return value
  const { [first.name]: inner, ...others } = value
  if (first.isList) return Array.isArray(inner) ? { ...value, [first.name]: inner.filter((entry) => !names(entry, rest, urn)) } : value
  if (!names(inner ?? null, rest, urn)) return value
  return standOnReference.has(aspectName) ? null : others
}

function names(value: JsonValue, [step, ...rest]: readonly DocumentStep[], urn: Urn): boolean {
  if (!step) return value === urn
  const inner = isObject(value) ? value[step.name] ?? null : null
  return step.isList ? listOf(inner).some((entry) => names(entry, rest, urn)) : names(inner, rest, urn)
}
