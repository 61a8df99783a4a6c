/**
 * The relationships that DataHub's clients know, by name: those stated by lists of edges, and those stated by
 * other aspects.
 *
 * A relationship leads from a source to a destination. In most lineage relationships the source is the
 * downstream end: a job consumes a dataset. In some it is the upstream end: a job produces a dataset.
 */
import { lineageFieldByCode, lineageFields } from './lineage-fields.ts'
import { knownRelationships } from './lineage-relationships.ts'

/** DataHub's code makes the relationships of columns; its model does not describe them. */
const columnRelationship = 'DownstreamOf'

const names: ReadonlyMap<string, string> = new Map(
  knownRelationships.flatMap(({ aspectName, path, name, lineage }) =>
    lineage === null ? [] : [[`${aspectName}.${path.split('/')[0]}`, name]]
  )
)

/** The relationship of a stored field code. Throws for an unknown code. */
export function relationshipOf(fieldCode: number): string {
  const { aspectName, listName } = lineageFieldByCode(fieldCode)
  return names.get(`${aspectName}.${listName}`) ?? columnRelationship
}

/** The relationship that a list of edges states, and which end of an edge is its source. */
export type LineageRelationship = { fieldCode: number; type: string; sourceIs: 'downstream' | 'upstream' }

export const lineageRelationships: readonly LineageRelationship[] = lineageFields.map(
  ({ code, entryIs }) => ({
    fieldCode: code,
    type: relationshipOf(code),
    sourceIs: entryIs === 'upstream' ? 'downstream' : 'upstream'
  })
)

/**
 * A relationship that is stated in the document of an aspect: from its entity to the URNs at a path, with a
 * star for each entry of a list. To remove the URN, remove the value at `removedPath`.
 */
export type DocumentRelationship = {
  type: string
  aspectName: string
  path: readonly string[]
  removedPath: readonly string[]
}

/** Aspects whose references are in other tables, in URNs, or between columns in lists of edges. */
const statedElsewhere: ReadonlySet<string> = new Set([
  'domains',
  'domainProperties',
  'dataJobKey',
  'mlFeatureTableKey',
  'upstreamLineage',
  'dataJobInputOutput',
  'inputFields'
])

const stepsOf = (path: string): string[] => path.split('/').filter((step) => step !== '')

export const documentRelationships: readonly DocumentRelationship[] = knownRelationships
  .filter(({ aspectName, lineage }) => lineage === null && !statedElsewhere.has(aspectName))
  .map(({ aspectName, path, removedPath, name }) => ({
    type: name,
    aspectName,
    path: stepsOf(path),
    removedPath: stepsOf(removedPath)
  }))

/** The relationship from a domain to its parent, an asset to its container, a job to its flow. */
export const partOf = 'IsPartOf'
/** The relationship from an asset to its domain. */
export const associatedWith = 'AssociatedWith'

/** The names of all relationships. */
export const relationshipTypes: readonly string[] = [
  ...new Set(
    [...lineageRelationships, ...documentRelationships].map(({ type }) => type).concat(partOf, associatedWith)
  )
].sort()
