/** The shapes of the lists in which aspects state lineage, and the aspects that need no other checks. */
import { lineageFieldsOf, type LineageField } from '../lineage-fields.ts'
import { optional, record, urn, type Shape } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { edges, urns } from './shared-records.ts'

function shapeOf({ shape, entryTypes, aspectName, listName }: LineageField): Shape {
  if (shape === 'urn') return urns(...entryTypes)
  if (shape === 'link') return urn(...entryTypes)
  if (shape === 'edge') return edges(...entryTypes)
  throw new Error(`${aspectName}.${listName} has a shape of its own`)
}

/** The lists of an aspect, all optional. */
export const lineageLists = (aspectName: string): { [listName: string]: ReturnType<typeof optional> } =>
  Object.fromEntries(lineageFieldsOf(aspectName).map((field) => [field.listName, optional(shapeOf(field))]))

const names = [
  'dataProcessInfo',
  'applicationLineage',
  'metricUpstreams',
  'metricRelationships',
  'upstreamMetrics',
  'apiSignature',
  'apiProperties',
  'serviceProperties',
  'aiAgentDependencies',
  'repositoryLineage'
]

export const otherLineage: readonly AspectModel[] = names.map((name) => ({
  name,
  shape: record(lineageLists(name))
}))
