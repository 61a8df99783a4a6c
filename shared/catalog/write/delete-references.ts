/**
 * Removes an entity from other entities: from their lists of edges, their domains and parents, and all other
 * references in DataHub's model.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { inWriteTurn } from '../../db/write-turns.ts'
import type { Change, ChangeRecord, JsonObject, JsonValue, PatchOperation } from '../../model/changes.ts'
import { checkCount } from '../../model/count-checks.ts'
import { limits } from '../../limits.ts'
import { isObject } from '../../model/json-values.ts'
import { isLineageAspect, lineageFieldByCode } from '../../model/lineage-fields.ts'
import {
  documentRelationships,
  relationshipOf,
  type DocumentRelationship
} from '../../model/relationships.ts'
import { findAspects } from '../../store/aspects.ts'
import { findEntities } from '../../store/entities.ts'
import { referencesInLists } from '../../store/references.ts'
import { anyRelationship, armsOfAspects, pageOfRelationships } from '../../store/relationships.ts'
import type { Urn } from '../../urn/urn.ts'
import { applyRecords } from './apply-records.ts'
import type { Call } from './call.ts'

/** An aspect of another entity that refers to the entity. */
type Reference = { entity: Urn; aspect: string; relationship: string }

/** `relatedAspects` has only the first references. */
export type References = { total: number; relatedAspects: Reference[] }

const shownMaxCount = 100

/**
 * Finds the references and, unless it is a dry run, removes all of them or none.
 *
 * Column records stay, because they name columns. A job stays in its flow, which is part of its URN. Throws
 * LIMIT_EXCEEDED (edgesPerCallMaxCount), FORBIDDEN, and PRECONDITION_FAILED if another request has changed
 * one of the aspects meanwhile.
 */
export async function deleteReferences(
  db: Db,
  urn: Urn,
  isDryRun: boolean,
  { actor, requestId }: Call
): Promise<References> {
  return inWriteTurn(db, { actor, keys: [urn] }, () => inTransaction(db, remove))

  async function remove(tx: Tx): Promise<References> {
    const references = await findReferences(tx, urn)
    if (!isDryRun && references.length > 0) {
      const changes = await Promise.all(
        [
          ...new Map(
            references.map((each) => [`${each.entity} ${each.aspect} ${each.listName ?? ''}`, each])
          ).values()
        ].map((each) => changeOf(tx, urn, each))
      )
      const records = changes.map((change, line): ChangeRecord => ({
        line,
        changes: [change],
        fields: ['urn']
      }))
      await applyRecords(tx, records, {
        actor,
        requestId,
        operation: 'deleteReferences',
        source: 'proposal',
        missingReferences: 'create'
      })
    }
    const relatedAspects = references
      .slice(0, shownMaxCount)
      .map(({ entity, aspect, relationship }) => ({ entity, aspect, relationship }))
    return { total: references.length, relatedAspects }
  }
}

/** `listName` is set for a list of edges. */
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
  const filter = { ...anyRelationship, destination: { urns: [urn], ids } }
  for (const arm of armsOfAspects) {
    for (const { type, sourceUrn, aspectName } of await pageOfRelationships(tx, arm, filter, {
      after: null,
      offset: 0,
      count: maxCount
    })) {
      if (aspectName !== null && sourceUrn !== urn)
        found.push({ entity: sourceUrn, aspect: aspectName, relationship: type, listName: null })
    }
  }
  checkCount(found.length, 'edgesPerCallMaxCount', {
    field: 'urn',
    what: `${urn} is named more than ${limits.edgesPerCallMaxCount} times`,
    wayOut: 'Send their removal as a load (POST /loads)'
  })
  return found
}

async function changeOf(tx: Tx, urn: Urn, { entity, aspect, listName }: Found): Promise<Change> {
  if (listName !== null)
    return {
      kind: 'patchAspect',
      entityUrn: entity,
      aspectName: aspect,
      patch: { patch: [{ op: 'remove', path: `/${listName}/${escapePointer(urn)}` }] }
    }
  // The patches below remove only this domain, so an asset that another request has moved meanwhile stays
  // where it is.
  if (aspect === 'domains')
    return {
      kind: 'patchAspect',
      entityUrn: entity,
      aspectName: aspect,
      patch: { patch: [{ op: 'remove', path: `/domains/${escapePointer(urn)}` }] }
    }
  if (aspect === 'domainProperties')
    return {
      kind: 'patchAspect',
      entityUrn: entity,
      aspectName: aspect,
      patch: {
        patch: [
          { op: 'test', path: '/parentDomain', value: urn },
          { op: 'remove', path: '/parentDomain' }
        ]
      }
    }
  const [owner] = await findEntities(tx, [entity])
  const [row] = owner ? await findAspects(tx, [{ entityId: owner.id, aspectName: aspect }]) : []
  const value = row?.value ?? {}
  const left = documentRelationships
    .filter(({ aspectName }) => aspectName === aspect)
    .reduce<JsonObject | null>((rest, each) => rest && withoutUrn(rest, each, urn), value)
  if (left === null) return { kind: 'deleteAspect', entityUrn: entity, aspectName: aspect }
  if (isLineageAspect(aspect))
    return {
      kind: 'patchAspect',
      entityUrn: entity,
      aspectName: aspect,
      patch: { patch: differenceOf(value, left), forceGenericPatch: true }
    }
  return {
    kind: 'upsertAspect',
    changeType: 'UPSERT',
    entityUrn: entity,
    aspectName: aspect,
    value: left,
    headers: { ifVersionMatch: row?.version ?? 0 }
  }
}

/**
 * The row of an aspect with edges contains only the other fields. So it is patched field by field, and only
 * if the value is still the one that was read.
 */
const differenceOf = (before: JsonObject, after: JsonObject): PatchOperation[] =>
  Object.entries(before)
    .filter(([name, value]) => after[name] !== value)
    .flatMap(([name, value]): PatchOperation[] => {
      const path = `/${escapePointer(name)}`
      const left = after[name]
      return [
        { op: 'test', path, value },
        left === undefined ? { op: 'remove', path } : { op: 'replace', path, value: left }
      ]
    })

const escapePointer = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1')

/** The value without the URN at the path of the relationship; null if nothing remains. */
function withoutUrn(
  value: JsonObject,
  { path, removedPath }: DocumentRelationship,
  urn: Urn
): JsonObject | null {
  /**
   * Undefined if the value must be removed. Its parents are removed with it, up to where `removedPath` ends.
   */
  function withoutUrnBelow(inner: JsonValue, depth: number): JsonValue | undefined {
    const step = path[depth]
    if (step === undefined) return inner === urn ? undefined : inner
    const removesParent = depth >= removedPath.length
    if (step === '*') {
      if (!Array.isArray(inner)) return inner
      const entries = inner.map((entry) => withoutUrnBelow(entry, depth + 1))
      if (entries.every((entry, index) => entry === inner[index])) return inner
      return removesParent && entries.includes(undefined)
        ? undefined
        : entries.filter((entry) => entry !== undefined)
    }
    const child = isObject(inner) ? inner[step] : undefined
    if (!isObject(inner) || child === undefined) return inner
    const left = withoutUrnBelow(child, depth + 1)
    if (left === child) return inner
    if (left !== undefined) return { ...inner, [step]: left }
    if (removesParent) return undefined
    const { [step]: _gone, ...others } = inner
    return others
  }
  const left = withoutUrnBelow(value, 0)
  return isObject(left) ? left : null
}
