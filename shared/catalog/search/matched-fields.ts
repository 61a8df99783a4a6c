/** Finds the texts of an entity that contain the words of a query. */
import { placedWords, type SearchTerm } from '../../model/search-words.ts'
import type { Urn } from '../../urn/urn.ts'
import {
  descriptionsOf,
  namesOf,
  textAspectNames,
  type Documents,
  type MatchedField
} from '../entities/entity-texts.ts'
import { valuesInList } from '../lineage/filter-fields.ts'
import type { LineageReader } from '../lineage/lineage-reader.ts'
import { fieldPathsOf, propertiesOf } from './search-document.ts'

/** Entities whose documents are in memory at once. */
const documentsPerSlice = 500
/** Fields whose values are URNs that words name by their end: where the values are. */
const labels = [
  { name: 'tags', aspectName: 'globalTags', listName: 'tags', key: 'tag' },
  { name: 'glossaryTerms', aspectName: 'glossaryTerms', listName: 'terms', key: 'urn' },
  { name: 'owners', aspectName: 'ownership', listName: 'owners', key: 'owner' }
] as const
const aspectNames = [...textAspectNames, 'schemaMetadata', ...labels.map(({ aspectName }) => aspectName)]

/**
 * The matched fields by id. The documents may be newer than those that were searched, and may no longer
 * contain the words.
 */
export async function matchedFieldsOf(
  reader: Pick<LineageReader, 'documents'>,
  terms: readonly SearchTerm[],
  entities: readonly { id: number; urn: Urn }[]
): Promise<Map<number, MatchedField[]>> {
  const matched = new Map<number, MatchedField[]>()
  for (let begin = 0; begin < entities.length; begin += documentsPerSlice) {
    const slice = entities.slice(begin, begin + documentsPerSlice)
    const documentsOf = await reader.documents(
      slice.map(({ id }) => id),
      aspectNames
    )
    for (const { id, urn } of slice)
      matched.set(
        id,
        placesOf(urn, documentsOf.get(id) ?? new Map()).filter((place) => holdsAny(textOf(place), terms))
      )
  }
  return matched
}

function placesOf(urn: Urn, documents: Documents): MatchedField[] {
  const named =
    (name: string) =>
    (value: string): MatchedField => ({ name, value })
  return [...new Set(namesOf(urn, documents))].map(named('name')).concat(
    descriptionsOf(documents).map(named('description')),
    fieldPathsOf(documents).map(named('fieldPaths')),
    propertiesOf(documents).map(named('customProperties')),
    labels.flatMap(({ name, aspectName, listName, key }) =>
      valuesInList(documents, aspectName, listName, key).map(named(name))
    ),
    [named('urn')(urn)]
  )
}

/** Words name a tag, a term or an owner by the end of its URN. */
const textOf = ({ name, value }: MatchedField): string =>
  labels.some((label) => label.name === name) ? value.slice(value.lastIndexOf(':') + 1) : value

function holdsAny(text: string, terms: readonly SearchTerm[]): boolean {
  const words = placedWords(text).map(({ word }) => word)
  return terms.some((term) => {
    if (term.kind === 'phrase') return term.words.every((word) => words.includes(word))
    return words.some(
      (word) =>
        word === term.whole ||
        term.parts.includes(word) ||
        (term.kind === 'prefix' && word.startsWith(term.parts.at(-1) ?? term.whole))
    )
  })
}
