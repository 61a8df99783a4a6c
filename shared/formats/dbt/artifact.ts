/** Which artifact of dbt a document is, and in which version of its schema. */
import { CatalogError } from '../../errors.ts'
import type { JsonValue } from '../../model/changes.ts'
import { isObject } from '../../model/json-values.ts'

export type ArtifactKind = 'manifest' | 'catalog' | 'run-results'

/** `https://schemas.getdbt.com/dbt/manifest/v12.json` */
const schemaAddress = /\/dbt\/([a-z-]+)\/v(\d+)\.json$/

/** dbt 0.19 to 1.11; 20 is what dbt Fusion calls the twelfth. */
const knownManifests: ReadonlySet<number> = new Set([...Array.from({ length: 12 }, (_, at) => at + 1), 20])
const knownText = 'v1 to v12 and v20 (dbt 0.19 to 1.11, dbt Fusion)'

/**
 * Reads the member `metadata` of a document. Throws BAD_REQUEST where it names no artifact that a load takes, UNSUPPORTED for a manifest of a
 * version that is not known: what a newer one means by the same fields cannot be told, and a snapshot would remove what was misread.
 */
export function artifactOf(metadata: JsonValue | undefined): ArtifactKind {
  const address = isObject(metadata) ? metadata.dbt_schema_version : undefined
  if (typeof address !== 'string')
    throw new CatalogError(
      'BAD_REQUEST',
      'The body is not a dbt artifact: metadata.dbt_schema_version is missing',
      { field: 'metadata.dbt_schema_version' }
    )
  const [, kind = '', version = ''] = schemaAddress.exec(address) ?? []
  if (kind === 'catalog' || kind === 'run-results') return kind
  if (kind !== 'manifest')
    throw new CatalogError(
      'BAD_REQUEST',
      `${address.slice(0, 200)} is not an artifact that a load takes; send manifest.json, and beside it catalog.json and run_results.json`,
      { field: 'metadata.dbt_schema_version', allowed: ['manifest', 'catalog', 'run-results'] }
    )
  if (!knownManifests.has(Number(version)))
    throw new CatalogError(
      'UNSUPPORTED',
      `The manifest has schema version v${version}; known are ${knownText}`,
      { field: 'metadata.dbt_schema_version' }
    )
  return kind
}

/** Whether a text begins as an artifact of dbt does; it may be cut off. */
export const looksLikeArtifact = (begin: string): boolean =>
  /^\s*\{\s*"metadata"\s*:\s*\{[^{}]{0,4000}"dbt_schema_version"\s*:\s*"/.test(begin)
