/** Writes a change that a proposal made as the text of a proposal again: what is queued, and read by the worker as any record of a load. */
import { entityTypeOf } from '../urn/urn.ts'
import type { Change, JsonObject } from './changes.ts'
import { entityTypeInfo } from './entity-types.ts'
import { conditionHeaders } from './write-conditions.ts'

/**
 * The shortest proposal that parseProposal reads as the same change. What names it comes first, so that a text that was cut
 * still says what it was about (see nameInProposal). Throws an Error for a change that no proposal makes.
 */
export function proposalText(change: Change): string {
  switch (change.kind) {
    case 'upsertAspect':
      return text(change.entityUrn, change.changeType, change.aspectName, {
        aspect: { json: change.value },
        ...sentHeaders(change)
      })
    case 'patchAspect':
      return text(change.entityUrn, 'PATCH', change.aspectName, {
        aspect: { json: change.patch as unknown as JsonObject },
        ...sentHeaders(change)
      })
    case 'deleteAspect':
      return text(change.entityUrn, 'DELETE', change.aspectName)
    case 'deleteEntity':
      return text(change.entityUrn, 'DELETE', entityTypeInfo(entityTypeOf(change.entityUrn)).keyAspect)
    case 'deleteDomain':
      return text(change.domainUrn, 'DELETE', entityTypeInfo('domain').keyAspect)
    default:
      throw new Error(`no proposal makes the change ${change.kind}`)
  }
}

const text = (entityUrn: string, changeType: string, aspectName: string, more: JsonObject = {}): string =>
  JSON.stringify({ aspectName, entityUrn, entityType: entityUrn.split(':')[2] ?? '', changeType, ...more })

function sentHeaders({
  headers = {}
}: Extract<Change, { kind: 'upsertAspect' | 'patchAspect' }>): JsonObject {
  const conditions = conditionHeaders(headers)
  return {
    ...(headers.systemMetadata ? { systemMetadata: headers.systemMetadata } : {}),
    ...(Object.keys(conditions).length > 0 ? { headers: conditions } : {})
  }
}

const beginning = /^\{"aspectName":("\w+"),"entityUrn":("(?:[^"\\]|\\.)*")/

/** The entity and the aspect that a text of proposalText is about, cut or whole; null for any other text. */
export function nameInProposal(record: string): { entityUrn: string; aspectName: string } | null {
  const [, aspectName, entityUrn] = beginning.exec(record) ?? []
  return aspectName === undefined || entityUrn === undefined
    ? null
    : { aspectName: String(JSON.parse(aspectName)), entityUrn: String(JSON.parse(entityUrn)) }
}
