/** Recognises which dbt artifact a document is, and the version of its schema. */
import { CatalogError } from '../../errors.ts'
import type { JsonValue } from '../../model/changes.ts'
import { isObject } from '../../model/json-values.ts'

export type ArtifactKind = 'manifest' | 'catalog' | 'run-results'

/** `warning` says what may be wrong with a document that is read anyway. */
export type Artifact = { kind: ArtifactKind; warning: string | null }

/** Matches an address such as `https://schemas.getdbt.com/dbt/manifest/v12.json`. */
const schemaAddress = /\/dbt\/([a-z-]+)\/v(\d+)\.json$/

/** The manifests of dbt 0.19 to 1.11. dbt Fusion calls version 12 version 20. */
const knownManifests: ReadonlySet<number> = new Set([...Array.from({ length: 12 }, (_, at) => at + 1), 20])
const newestKnown = 12
const knownText = 'v1 to v12 and v20 (dbt 0.19 to 1.11, dbt Fusion)'

/**
 * Reads the member `metadata` of a document. A manifest newer than the known versions is read with a warning:
 * dbt adds fields and rarely changes them, and a snapshot that would remove much is refused. Throws
 * BAD_REQUEST if it does not name an artifact that a load accepts, UNSUPPORTED for a version that dbt never
 * had.
 */
export function artifactOf(metadata: JsonValue | undefined): Artifact {
  const address = isObject(metadata) ? metadata.dbt_schema_version : undefined
  if (typeof address !== 'string')
    throw new CatalogError(
      'BAD_REQUEST',
      'The body is not a dbt artifact: metadata.dbt_schema_version is missing',
      { field: 'metadata.dbt_schema_version' }
    )
  const [, kind = '', version = ''] = schemaAddress.exec(address) ?? []
  if (kind === 'catalog' || kind === 'run-results') return { kind, warning: null }
  if (kind !== 'manifest')
    throw new CatalogError(
      'BAD_REQUEST',
      `${address.slice(0, 200)} is not an artifact that a load accepts; send manifest.json, and beside it catalog.json and run_results.json`,
      { field: 'metadata.dbt_schema_version', allowed: ['manifest', 'catalog', 'run-results'] }
    )
  if (knownManifests.has(Number(version))) return { kind, warning: null }
  if (Number(version) < newestKnown)
    throw new CatalogError(
      'UNSUPPORTED',
      `The manifest has schema version v${version}; known versions are ${knownText}`,
      { field: 'metadata.dbt_schema_version' }
    )
  return {
    kind,
    warning: `The manifest has schema version v${version}, which is newer than the known ${knownText}: it was read as v${newestKnown}.`
  }
}

/** Whether a text, which may be cut off, begins like a dbt artifact, or like a manifest whose keys a program has sorted. */
export const looksLikeArtifact = (begin: string): boolean =>
  /^\s*\{\s*(?:"metadata"\s*:\s*\{[^{}]{0,4000}"dbt_schema_version"\s*:\s*"|"child_map"\s*:\s*\{)/.test(begin)
