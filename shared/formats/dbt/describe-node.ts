/**
 * The description of a node: name, description, properties, columns, tags and owners. These are patches, so
 * that additions from elsewhere stay.
 */
import type { JsonObject } from '../../model/changes.ts'
import { ownerUrn, tagUrn } from '../../openlineage/facets/people-and-texts.ts'
import { platformOf } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import { columnProposals } from './columns.ts'
import type { NodeDetails, NodeKind, PickedColumn } from './pick-node.ts'
import type { RunResult } from './project.ts'
import { ownFacts, ownershipType, type OwnFacts, type StoredAspects } from './own-facts.ts'
import { add, patch, remove, upsert, type Addition, type Operation } from './proposals.ts'

export type DescribedNode = {
  urn: Urn
  kind: NodeKind
  details: NodeDetails
  platformInstance: Urn | null
  columns: readonly PickedColumn[]
  /** Whether the list of columns is complete. */
  hasAllColumns: boolean
  result: RunResult | undefined
  /** Of its SQL. */
  checksum: string | null
  withOwners: boolean
  /** The aspects that the asset has, by their names. */
  stored: StoredAspects
}

/** Throws INVALID_URN, INVALID_CHARACTER and LIMIT_EXCEEDED for an invalid tag or owner. */
export function descriptionOf(node: DescribedNode): JsonObject[] {
  const { urn, details } = node
  const tags = details.tags.map(tagUrn)
  const owners = node.withOwners ? ownersOf(details) : []
  const own = ownFacts(node.stored, {
    id: details.properties.dbt_unique_id ?? '',
    description: details.description,
    tags,
    owners: node.withOwners ? owners : null,
    columns: details.columns,
    properties: Object.keys(details.properties),
    checksum: node.checksum
  })
  return [
    ...propertiesOf(node, own),
    ...(node.platformInstance === null
      ? []
      : [
          upsert(urn, 'dataPlatformInstance', { platform: platformOf(urn), instance: node.platformInstance })
        ]),
    ...(node.kind === 'table'
      ? columnProposals({ urn, tableName: details.name, isWhole: node.hasAllColumns }, node.columns, own)
      : []),
    ...patchOf(urn, 'globalTags', [
      ...tags.map((tag) => add(['tags', tag], { tag })),
      ...own.goneTags.map((tag) => remove(['tags', tag]))
    ]),
    ...patchOf(urn, 'ownership', [
      ...owners.map((owner) => add(['owners', owner, ownershipType], { owner, type: ownershipType })),
      ...own.goneOwners.map((owner) => remove(['owners', owner, ownershipType]))
    ])
  ]
}

const patchOf = (urn: Urn, aspectName: string, operations: readonly Operation[]): JsonObject[] =>
  operations.length === 0 ? [] : [patch(urn, aspectName, operations)]

function propertiesOf({ urn, kind, details, result }: DescribedNode, own: OwnFacts): JsonObject[] {
  const texts = (nameField: string): Addition[] => [
    add([nameField], details.name),
    ...(details.description === null ? [] : [add(['description'], details.description)])
  ]
  const taken = own.goneProperties.map((name) => remove(['customProperties', name]))
  const custom = Object.entries({
    ...details.properties,
    ...own.memory,
    ...(result?.status ? { dbt_run_status: result.status } : {}),
    ...(result?.endedAt ? { dbt_run_at: result.endedAt } : {})
  }).map(([name, value]) => add(['customProperties', name], value))
  switch (kind) {
    case 'table':
      return [
        patch(urn, 'datasetProperties', [
          ...texts('name'),
          ...custom,
          ...taken,
          ...(own.isDescriptionGone ? [remove(['description'])] : [])
        ])
      ]
    case 'exposure':
      return [
        patch(urn, 'dashboardInfo', [
          ...texts('title'),
          ...(details.url === null ? [] : [add(['externalUrl'], details.url)]),
          ...custom,
          ...taken,
          // A dashboard must have a description.
          ...(own.isDescriptionGone ? [add(['description'], '')] : [])
        ])
      ]
    case 'semanticModel':
      return [patch(urn, 'semanticModelInfo', texts('name'))]
    case 'metric':
      return [patch(urn, 'metricInfo', texts('name'))]
    case 'through':
      return []
  }
}

const ownersOf = ({ owners, group }: NodeDetails): Urn[] => [
  ...new Set([...owners.map(ownerUrn), ...(group === null ? [] : [ownerUrn(`group:${group}`)])])
]
