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
  dataHubRelationships.flatMap(({ aspectName, path, name, lineage }) => lineage === null ? [] : [[`${aspectName}.${path.split('/')[0]}`, name]])
)

/** The relationship that a stored field code states. Throws on a code that this version does not know. */
export function relationshipOf(fieldCode: number): string {
  const { aspectName, listName } = lineageFieldByCode(fieldCode)
  return names.get(`${aspectName}.${listName}`) ?? columnRelationship
}

/** The relationship that a list of edges states, and which end of an edge is its source. */
export type LineageRelationship = { fieldCode: number, type: string, sourceIs: 'downstream' | 'upstream' }

export const lineageRelationships: readonly LineageRelationship[] = lineageFields.map(({ code, entryIs }) =>
  ({ fieldCode: code, type: relationshipOf(code), sourceIs: entryIs === 'upstream' ? 'downstream' : 'upstream' }))

/** A relationship that a plain aspect states: from its entity to the URNs at a place of its value, through lists on the way. */
export type DocumentRelationship = { type: string, aspectName: string, path: readonly DocumentStep[] }
/** A field, or each entry of the list in it. */
export type DocumentStep = { name: string, isList: boolean }

const field = (name: string): DocumentStep => ({ name, isList: false })
const each = (name: string): DocumentStep => ({ name, isList: true })
const stated = (type: string, aspectName: string, ...path: DocumentStep[]): DocumentRelationship => ({ type, aspectName, path })

export const documentRelationships: readonly DocumentRelationship[] = [
  stated('IsPartOf', 'container', field('container')),
  stated('IsPartOf', 'glossaryTermInfo', field('parentNode')),
  stated('IsPartOf', 'glossaryNodeInfo', field('parentNode')),
  stated('OwnedBy', 'ownership', each('owners'), field('owner')),
  stated('TaggedWith', 'globalTags', each('tags'), field('tag')),
  stated('TermedWith', 'glossaryTerms', each('terms'), field('urn')),
  stated('Contains', 'mlFeatureTableProperties', each('mlFeatures')),
  stated('KeyedBy', 'mlFeatureTableProperties', each('mlPrimaryKeys')),
  stated('InstanceOf', 'dataProcessInstanceRelationships', field('parentTemplate')),
  stated('ChildOf', 'dataProcessInstanceRelationships', field('parentInstance')),
  stated('UpstreamOf', 'dataProcessInstanceRelationships', each('upstreamInstances')),
  stated('DataProductContains', 'dataProductProperties', each('assets'), field('destinationUrn')),
  stated('SiblingOf', 'siblings', each('siblings')),
  stated('IsMemberOfGroup', 'groupMembership', each('groups')),
  stated('IsMemberOfNativeGroup', 'nativeGroupMembership', each('nativeGroups'))
]

/** A domain in its parent, an asset in its container, a job in its flow. */
export const partOf = 'IsPartOf'
/** An asset in its domain. */
export const associatedWith = 'AssociatedWith'

/** Every name there is. */
export const relationshipTypes: readonly string[] =
  [...new Set([...lineageRelationships, ...documentRelationships].map(({ type }) => type).concat(partOf, associatedWith))].sort()
