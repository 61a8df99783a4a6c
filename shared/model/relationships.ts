/**
 * The relationships that DataHub's clients know, by name: those that lists of edges state, and those that other aspects do.
 *
 * A relationship leads from a source to a destination. Of most lineage the source is the downstream end: a job consumes a
 * dataset. Of some it is the upstream end: a job produces a dataset.
 */
import { dataHubRelationships } from './datahub-model.ts'
import { lineageFieldByCode, lineageFields } from './lineage-fields.ts'

/** Columns: DataHub makes their relationships by code and not by its model. */
const columnRelationship = 'DownstreamOf'

const names: ReadonlyMap<string, string> = new Map(
  dataHubRelationships.flatMap(({ aspectName, path, name, lineage }) =>
    lineage === null ? [] : [[`${aspectName}.${path.split('/')[0]}`, name]]
  )
)

/** The relationship that a stored field code states. Throws on a code that this version does not know. */
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
 * A relationship that the document of an aspect states: from its entity to the URNs at a path, with a star for each entry of a list. For a URN to
 * go, what `removedPath` leads to must.
 */
export type DocumentRelationship = {
  type: string
  aspectName: string
  path: readonly string[]
  removedPath: readonly string[]
}

/** Aspects whose references are in tables or in URNs, or are columns in lists of edges. */
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

export const documentRelationships: readonly DocumentRelationship[] = dataHubRelationships
  .filter(({ aspectName, lineage }) => lineage === null && !statedElsewhere.has(aspectName))
  .map(({ aspectName, path, removedPath, name }) => ({
    type: name,
    aspectName,
    path: stepsOf(path),
    removedPath: stepsOf(removedPath)
  }))

/** A domain in its parent, an asset in its container, a job in its flow. */
export const partOf = 'IsPartOf'
/** An asset in its domain. */
export const associatedWith = 'AssociatedWith'

/** Every name there is. */
export const relationshipTypes: readonly string[] = [
  ...new Set(
    [...lineageRelationships, ...documentRelationships].map(({ type }) => type).concat(partOf, associatedWith)
  )
].sort()
