/** Completes what has been typed to the names of entities. */
import { limits } from '../limits.ts'
import { findNamesBeginning } from '../store/search-documents.ts'
import { folded, searchTerms } from '../model/search-words.ts'
import { namesOf, soughtText, textAspectNames } from './entity-texts.ts'
import { asked, findEntitiesOf, kept } from './find-entities.ts'
import type { LineageReader } from './lineage-reader.ts'
import { pageCount } from './page-count.ts'
import type { EntityReference } from './read-entity.ts'
import { checkEntityQuestion, type EntitySearchInput } from './search-question.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** As clients send it. */
export type CompletionInput = Pick<EntitySearchInput, 'types' | 'filters' | 'orFilters'> & { query: string, limit?: number | null }

/** `names` are those of the entities, each once. */
export type Completion = { names: string[], entities: EntityReference[] }

/** A word of fewer letters begins too many words: then names must begin with the text. */
const wordMinChars = 3
/** Names that begin with the text and are looked at, whether the filters keep them. */
const namesMaxCount = 1_000

/** Throws what checkEntityQuestion throws, and BAD_REQUEST for a limit below 1. */
export async function completeNames(sources: LineageSources, { query, limit, ...input }: CompletionInput): Promise<Completion> {
  const count = pageCount(limit, 'input.limit')
  const text = soughtText(query, 'input.query')
  if (text === null) return { names: [], entities: [] }
  const question = checkEntityQuestion({ ...input, query: /[*"]$/.test(text) ? text : `${text}*`, count })
  const plain = checkEntityQuestion({ ...input, count })
  return withLineage(sources, async (reader) => {
    const ids = plain.words === null && isShort(text)
      ? (await kept(reader, plain, await asked(reader, (tx, within) => within(() => findNamesBeginning(tx, folded(text), namesMaxCount))))).ids
      : (await findEntitiesOf(reader, question, { ranked: true })).ids
    return named(reader, ids.subarray(0, Math.min(count, limits.pageMaxCount)))
  })
}

function isShort(text: string): boolean {
  const last = searchTerms(text)?.at(-1)
  return last !== undefined && last.kind !== 'phrase' && last.whole.length < wordMinChars
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
