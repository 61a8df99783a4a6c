/**
 * Builds the search document of an entity from its URN and aspects, and lists the aspects that it depends on.
 */
import { isObject } from '../../model/json-values.ts'
import { fieldKey, nameKey, printVector } from '../../model/search-vector.ts'
import { folded, placedWords, type PlacedWord } from '../../model/search-words.ts'
import { limits } from '../../limits.ts'
import type { SearchDocumentRow } from '../../store/search-documents.ts'
import { dataFlowOf, nameFromUrn, environmentOf, platformOf } from '../../urn/kinds.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import { descriptionsOf, namesOf, textAspectNames, type Documents } from '../entities/entity-texts.ts'
import { entityFilterFields, type Candidate, type FilterField } from '../lineage/filter-fields.ts'

/** Fields whose values are in search documents, each once, because some have several names. */
const keyedFields: readonly FilterField[] = [...new Set(entityFilterFields.values())].filter(
  (field) => field.key !== undefined
)

/** Aspects that change the search document. */
export const searchedAspectNames: ReadonlySet<string> = new Set([
  ...textAspectNames,
  'schemaMetadata',
  ...keyedFields.flatMap((field) => ('aspectNames' in field ? field.aspectNames : []))
])

/** Distance between the words of two texts, so that no phrase matches across them. */
const gap = 10
/** Postgres refuses a tsvector of more than 1 MB. */
const wordsMaxBytes = 500_000
const keysMaxBytes = 300_000
const nameMaxChars = 1_000

/** Columns have no document; they are found with their asset. */
export const hasSearchDocument = (urn: Urn): boolean => entityTypeOf(urn) !== 'schemaField'

export function searchDocumentOf(id: number, urn: Urn, documents: Documents): SearchDocumentRow {
  const names = namesOf(urn, documents)
  return {
    id,
    name: folded(names[0] ?? urn)
      .slice(0, nameMaxChars)
      .toWellFormed(),
    words: printVector(wordsIn([...names, ...otherTextsOf(urn, documents)]), keysOf(urn, names, documents))
  }
}

/** The most important texts first, because the last ones may be cut off. */
function otherTextsOf(urn: Urn, documents: Documents): string[] {
  return [
    urn.replaceAll(/urn:li:\w+:/g, ' '),
    ...fieldPathsOf(documents),
    ...propertiesOf(documents),
    ...descriptionsOf(documents)
  ]
}

/** `[version=2.0].[type=struct].a.[type=long].b` is the column a.b. */
export const fieldPathsOf = (documents: Documents): string[] => {
  const fields = documents.get('schemaMetadata')?.fields
  return Array.isArray(fields)
    ? fields.flatMap((field) =>
        isObject(field) && typeof field.fieldPath === 'string'
          ? [field.fieldPath.replaceAll(/\[(?:version|type|key)=[^\]]*\]\.?/g, '')]
          : []
      )
    : []
}

export const propertiesOf = (documents: Documents): string[] =>
  [...documents.values()].flatMap(({ customProperties }) =>
    isObject(customProperties)
      ? Object.entries(customProperties).flatMap(([name, value]) =>
          typeof value === 'string' ? [name, value] : [name]
        )
      : []
  )

function wordsIn(texts: readonly string[]): PlacedWord[] {
  const found: PlacedWord[] = []
  const seen = new Set<string>()
  let [after, bytes] = [0, 0]
  for (const text of texts) {
    // The names in the properties and in the URN may be the same.
    if (seen.has(text)) continue
    seen.add(text)
    for (const placed of placedWords(text, after)) {
      bytes += Buffer.byteLength(placed.word)
      if (found.length >= limits.searchWordsMaxCount || bytes > wordsMaxBytes) return found
      found.push(placed)
    }
    after = (found.at(-1)?.place ?? 0) + gap
  }
  return found
}

function keysOf(urn: Urn, names: readonly string[], documents: Documents): Set<string> {
  const common = {
    entityType: entityTypeOf(urn),
    platformUrn: platformOf(urn),
    origin: environmentOf(urn),
    isRemoved: false,
    domainId: null,
    degree: null
  }
  const candidate: Candidate = { common, urn, documents, hasEdges: null }
  const keys = new Set(
    [...names, ...urnNames(urn), ...nameSuffixes(nameFromUrn(urn))].map((name) => nameKey(folded(name)))
  )
  let bytes = 0
  for (const field of keyedFields) {
    for (const value of 'commonValuesOf' in field
      ? field.commonValuesOf(common)
      : field.ownValuesOf(candidate)) {
      const key = fieldKey(field.key ?? '', value)
      bytes += Buffer.byteLength(key)
      if (bytes > keysMaxBytes) return keys
      keys.add(key)
    }
  }
  return keys
}

const suffixesMaxCount = 5

/**
 * Short forms of a name that people use: `table` and `schema.table` for `db.schema.table`; likewise for
 * paths.
 */
export function nameSuffixes(name: string): string[] {
  const begins = [...name.matchAll(/[./]+/g)].map((match) => match.index + match[0].length)
  return begins
    .slice(-suffixesMaxCount)
    .map((begin) => name.slice(begin))
    .filter((suffix) => suffix !== '')
}

/** The name in the URN; for a data job also the flow and its own name separately. */
export function urnNames(urn: Urn): string[] {
  const name = nameFromUrn(urn)
  return entityTypeOf(urn) === 'dataJob' ? [name, `${nameFromUrn(dataFlowOf(urn))}.${name}`] : [name]
}
