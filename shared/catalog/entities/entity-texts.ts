/** The searchable texts of entities: names, descriptions and the URN itself, taken from stored documents. */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { checkCount } from '../../model/count-checks.ts'
import type { JsonObject } from '../../model/changes.ts'
import { nameFromUrn } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'

/** The aspects with a name or a description, and the field with the name. */
const nameFields: ReadonlyMap<string, string> = new Map([
  ['datasetProperties', 'name'],
  ['editableDatasetProperties', 'name'],
  ['dataJobInfo', 'name'],
  ['editableDataJobProperties', 'name'],
  ['dataFlowInfo', 'name'],
  ['editableDataFlowProperties', 'name'],
  ['chartInfo', 'title'],
  ['editableChartProperties', 'title'],
  ['dashboardInfo', 'title'],
  ['editableDashboardProperties', 'title'],
  ['containerProperties', 'name'],
  ['editableContainerProperties', 'name'],
  ['mlModelProperties', 'name'],
  ['editableMlModelProperties', 'name'],
  ['mlModelGroupProperties', 'name'],
  ['mlFeatureTableProperties', 'name'],
  ['mlFeatureProperties', 'name'],
  ['mlPrimaryKeyProperties', 'name'],
  ['dataProcessInstanceProperties', 'name'],
  ['metricInfo', 'name'],
  ['semanticModelInfo', 'name'],
  ['dataProductProperties', 'name'],
  ['applicationProperties', 'name'],
  ['domainProperties', 'name'],
  ['tagProperties', 'name'],
  ['glossaryTermInfo', 'name'],
  ['glossaryNodeInfo', 'name'],
  ['notebookInfo', 'title'],
  ['dataPlatformInstanceProperties', 'name'],
  ['corpUserInfo', 'displayName'],
  ['corpGroupInfo', 'displayName']
])

export const textAspectNames: readonly string[] = [...nameFields.keys()]

/** Stored documents of one entity, by aspect name. */
export type Documents = ReadonlyMap<string, JsonObject>

const texts = (
  documents: Documents,
  fieldOf: (aspectName: string, nameField: string) => string
): string[] => {
  const found: string[] = []
  for (const [aspectName, document] of documents) {
    const nameField = nameFields.get(aspectName)
    if (nameField === undefined) continue
    const value = document[fieldOf(aspectName, nameField)]
    if (typeof value === 'string' && value !== '') found.push(value)
  }
  return found
}

/** All names of an entity; the one in its URN is the last. */
export const namesOf = (urn: Urn, documents: Documents): string[] => [
  ...texts(documents, (_aspectName, nameField) => nameField),
  nameFromUrn(urn)
]

export const descriptionsOf = (documents: Documents): string[] =>
  texts(documents, (aspectName) =>
    aspectName === 'glossaryTermInfo' || aspectName === 'glossaryNodeInfo' ? 'definition' : 'description'
  )

export type MatchedField = { name: string; value: string }

/** The fields that contain `text`, which has no wildcards, ignoring case. Empty if no field contains it. */
export function findText(text: string, urn: Urn, documents: Documents): MatchedField[] {
  const wanted = text.toLowerCase()
  const places: MatchedField[] = [
    ...namesOf(urn, documents).map((value) => ({ name: 'name', value })),
    ...descriptionsOf(documents).map((value) => ({ name: 'description', value })),
    { name: 'urn', value: urn }
  ]
  return places.filter((place) => place.value.toLowerCase().includes(wanted))
}

/**
 * The text to search for; null if everything matches (absent, empty or `*`). `field` names the input. Throws
 * LIMIT_EXCEEDED (queryTextMaxChars, in code points; queryWordsMaxCount).
 */
export function soughtText(query: string | null | undefined, field: string): string | null {
  const maximum = limits.queryTextMaxChars
  const actual = query ? [...query].length : 0
  if (actual > maximum)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `${field} has ${actual} characters; at most ${maximum} are allowed`,
      { field, limit: 'queryTextMaxChars', maximum, actual }
    )
  const text = query?.trim() ?? ''
  const wordCount = text.split(/[\s,;]+/).length
  checkCount(wordCount, 'queryWordsMaxCount', { field, what: `${field} has ${wordCount} words` })
  return text === '' || text === '*' ? null : text
}
