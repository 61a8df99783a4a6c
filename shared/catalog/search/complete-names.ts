/** Completes typed text to names of entities. */
import type { Tx } from '../../db/database.ts'
import { allOf, keyQuery, nameKey } from '../../model/search-vector.ts'
import { findMatches, findNamesBeginning, findNamesContaining } from '../../store/search-documents.ts'
import { folded } from '../../model/search-words.ts'
import { namesOf, soughtText, textAspectNames } from '../entities/entity-texts.ts'
import { asked, filterMatches } from './find-entities.ts'
import type { LineageReader } from '../lineage/lineage-reader.ts'
import { pageCount } from '../entities/page-count.ts'
import type { EntityReference } from '../lineage/read-entity.ts'
import { checkEntityQuestion, type EntityQuestion, type EntitySearchInput } from './search-question.ts'
import { filterValueCount } from '../lineage/lineage-filters.ts'
import { searchUnits } from '../lineage/read-work.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'

/** The input as clients send it. */
export type CompletionInput = Pick<EntitySearchInput, 'types' | 'filters' | 'orFilters'> & {
  query: string
  limit?: number | null
}

/** `names` are the names of the entities, each once. */
export type Completion = { names: string[]; entities: EntityReference[] }

/** Shorter parts contain no trigram, so all names would have to be read. */
const partMinChars = 3
/** Names looked up for one completion, before the filters that need documents or memory are applied. */
const namesMaxCount = 1_000

/** Throws what checkEntityQuestion throws, and BAD_REQUEST for a limit below 1. */
export async function completeNames(
  sources: LineageSources,
  { types, ...input }: CompletionInput
): Promise<Completion> {
  const [completion] = await completeNamesOfEach(sources, input, [types])
  return completion ?? { names: [], entities: [] }
}

/**
 * One completion for each list of types, all in one turn of the request, because somebody who types should
 * not wait for a turn per type. Throws as completeNames does.
 */
export async function completeNamesOfEach(
  sources: LineageSources,
  { query, limit, ...input }: Omit<CompletionInput, 'types'>,
  typeLists: readonly CompletionInput['types'][]
): Promise<Completion[]> {
  const count = pageCount(limit, 'input.limit')
  const text = soughtText(query, 'input.query')
  if (text === null) return typeLists.map(() => ({ names: [], entities: [] }))
  const questions = typeLists.map((types) => checkEntityQuestion({ ...input, types, count }))
  return withLineage(
    sources,
    async (reader) => {
      const found: Completion[] = []
      for (const question of questions)
        found.push(await named(reader, await completions(reader, text, question, count)))
      return found
    },
    {
      units: questions.reduce(
        (sum, { allFilters }) =>
          sum +
          searchUnits({
            wordCount: 0,
            filterValueCount: filterValueCount(allFilters),
            isSorted: false,
            facets: false
          }),
        0
      )
    }
  )
}

/**
 * First the entities that the text names, as in a search, then the names that begin with it, then the names that contain all its parts. If no part has a
 * trigram, only the names that begin with the text.
 */
async function completions(
  reader: LineageReader,
  text: string,
  question: EntityQuestion,
  count: number
): Promise<Int32Array> {
  // The lookups by name do not apply filters on document values, so those are judged here.
  const judged = question.words === null ? question : { ...question, filters: question.allFilters }
  const looked = async (find: (tx: Tx) => Promise<Int32Array | null>): Promise<Int32Array> =>
    (
      await filterMatches(
        reader,
        judged,
        await asked(reader, (tx, within) => within(async () => (await find(tx)) ?? new Int32Array(0)))
      )
    ).ids
  const whole = folded(text.replaceAll('*', '').trim())
  const ids = new Set<number>()
  const add = async (find: (tx: Tx) => Promise<Int32Array | null>): Promise<void> => {
    if (ids.size < count) for (const id of await looked(find)) ids.add(id)
  }
  if (whole !== '')
    await add((tx) =>
      findMatches(tx, allOf([keyQuery(nameKey(whole)), question.narrow ?? []].flat()), whole, namesMaxCount)
    )
  await add((tx) => findNamesBeginning(tx, whole, question.narrow, namesMaxCount))
  const parts = whole.split(/\s+/).filter((part) => part.length >= partMinChars)
  if (parts.length > 0) await add((tx) => findNamesContaining(tx, parts, question.narrow, namesMaxCount))
  return Int32Array.from([...ids].slice(0, count))
}

async function named(reader: LineageReader, ids: Int32Array): Promise<Completion> {
  const urnOf = await reader.urns(ids)
  const documentsOf = await reader.documents(ids, textAspectNames)
  const found = [...ids].flatMap((id) => {
    const urn = urnOf(id)
    return urn === null ? [] : [{ urn, name: namesOf(urn, documentsOf.get(id) ?? new Map())[0] ?? urn }]
  })
  return { names: [...new Set(found.map(({ name }) => name))], entities: found.map(({ urn }) => ({ urn })) }
}
