/**
 * Entities in the shape of OpenAPI v3: the URN, and each aspect with its value and, on request, who wrote it
 * and when.
 */
import type { AspectView } from '../../shared/catalog/entities/read-aspects.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import type { Urn } from '../../shared/urn/urn.ts'

/** `version` in the metadata is the one that If-Version-Match compares. */
export function showAspect(view: AspectView, withMetadata: boolean): JsonObject {
  if (!withMetadata) return { value: view.value }
  return {
    value: view.value,
    systemMetadata: { ...view.systemMetadata, version: String(view.version) },
    auditStamp: { time: view.created.time, actor: view.created.actor }
  }
}

export const showEntity = (
  urn: Urn,
  views: ReadonlyMap<string, AspectView>,
  withMetadata: boolean
): JsonObject => ({
  urn,
  ...Object.fromEntries([...views].map(([name, view]) => [name, showAspect(view, withMetadata)]))
})
