/**
 * Prints a change as the text of a proposal, so that it can be queued and a worker can read it like any
 * record of a load.
 */
import { entityTypeOf } from '../urn/urn.ts'
import type { Change, JsonObject } from './changes.ts'
import { entityTypeInfo } from './entity-types.ts'
import { conditionHeaders } from './write-conditions.ts'

/**
 * The shortest proposal that parseProposal reads as the same change. Aspect name and URN come first, so that
 * they can be read even if the text was cut off (see nameInProposal). Throws an Error for a change that a
 * proposal cannot express.
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

/** The entity and aspect of a text made by proposalText, whole or cut off; null for any other text. */
export function nameInProposal(record: string): { entityUrn: string; aspectName: string } | null {
  const [, aspectName, entityUrn] = beginning.exec(record) ?? []
  return aspectName === undefined || entityUrn === undefined
    ? null
    : { aspectName: String(JSON.parse(aspectName)), entityUrn: String(JSON.parse(entityUrn)) }
}
