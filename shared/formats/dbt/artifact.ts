/** Recognises which dbt artifact a document is, and the version of its schema. */
import { CatalogError } from '../../errors.ts'
import type { JsonValue } from '../../model/changes.ts'
import { isObject } from '../../model/json-values.ts'

export type ArtifactKind = 'manifest' | 'catalog' | 'run-results'

/** Matches an address such as `https://schemas.getdbt.com/dbt/manifest/v12.json`. */
const schemaAddress = /\/dbt\/([a-z-]+)\/v(\d+)\.json$/

/** The manifests of dbt 0.19 to 1.11. dbt Fusion calls version 12 version 20. */
const knownManifests: ReadonlySet<number> = new Set([...Array.from({ length: 12 }, (_, at) => at + 1), 20])
const knownText = 'v1 to v12 and v20 (dbt 0.19 to 1.11, dbt Fusion)'

/**
 * Reads the member `metadata` of a document. Throws BAD_REQUEST if it does not name an artifact that a load
 * accepts. Throws UNSUPPORTED for a manifest of an unknown version: its fields may mean something else, and a
 * snapshot would remove what was misread.
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
      `${address.slice(0, 200)} is not an artifact that a load accepts; send manifest.json, and beside it catalog.json and run_results.json`,
      { field: 'metadata.dbt_schema_version', allowed: ['manifest', 'catalog', 'run-results'] }
    )
  if (!knownManifests.has(Number(version)))
    throw new CatalogError(
      'UNSUPPORTED',
      `The manifest has schema version v${version}; known versions are ${knownText}`,
      { field: 'metadata.dbt_schema_version' }
    )
  return kind
}

/** Whether a text, which may be cut off, begins like a dbt artifact, or like a manifest whose keys a program has sorted. */
export const looksLikeArtifact = (begin: string): boolean =>
  /^\s*\{\s*(?:"metadata"\s*:\s*\{[^{}]{0,4000}"dbt_schema_version"\s*:\s*"|"child_map"\s*:\s*\{)/.test(begin)
