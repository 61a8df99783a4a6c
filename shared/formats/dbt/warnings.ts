/** What a load of a dbt project does not keep, as sentences for the load's warnings. */
import { detailsOf, type DbtProject } from './project.ts'

/** The types that a catalog has no place for, and how to call them. Hooks say nothing about data. */
const namesOfTypes: readonly (readonly [type: string, one: string, several: string])[] = [
  ['test', 'data test', 'data tests'],
  ['unit_test', 'unit test', 'unit tests'],
  ['saved_query', 'saved query', 'saved queries']
]

export function warningsOf({ nodes, faults, leftOut, warnings }: DbtProject): string[] {
  const counts = new Map<string, number>()
  const missing = new Map<string, string>()
  let columnMetaCount = 0
  for (const type of leftOut.values()) counts.set(type, (counts.get(type) ?? 0) + 1)
  for (const [id, node] of nodes) {
    const details = detailsOf(node)
    columnMetaCount += details.columnMetaCount
    if (node.kind === 'through') counts.set(details.resourceType, (counts.get(details.resourceType) ?? 0) + 1)
    for (const other of node.dependsOn)
      if (!nodes.has(other) && !faults.has(other) && !leftOut.has(other) && !missing.has(other))
        missing.set(other, id)
  }
  const parts = namesOfTypes.flatMap(([type, one, several]) => {
    const count = counts.get(type) ?? 0
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`]
  })
  return [
    ...warnings,
    ...[...missing].map(
      ([other, id]) => `${id} depends on ${other}, which the manifest does not have: that lineage is missing.`
    ),
    ...(parts.length > 0 ? [`Not kept: ${new Intl.ListFormat('en-GB').format(parts)}.`] : []),
    ...(columnMetaCount > 0 ? [`Not kept: the meta of ${columnMetaCount} columns.`] : [])
  ]
}
