/**
 * Finds the one entity that a person means by a short reference: `snowflake:db.schema.table`, `table@PROD`, a
 * name, a URN.
 *
 * The name of an entity is the name in its URN or in its properties, or the end of the name in its URN after
 * a dot or slash. An entity with exactly the wanted name wins over those whose name ends with it. Nothing is
 * guessed: several matches are an error, and a match in another case or environment is only a candidate.
 */
import { CatalogError } from '../../errors.ts'
import { allOf, anyOf, fieldKey, keyQuery, nameKey } from '../../model/search-vector.ts'
import { folded } from '../../model/search-words.ts'
import { readEntityFacts, type EntityFacts } from '../../store/entity-reads.ts'
import { findNamesakesOfEach, findNearNames, type NameQuery } from '../../store/search-documents.ts'
import { referenceParts } from '../../urn/dataset-name.ts'
import { datasetUrn, nameFromUrn } from '../../urn/kinds.ts'
import { entityTypeOf, toUrn, type Urn } from '../../urn/urn.ts'
import { namesOf, soughtText, textAspectNames, type Documents } from '../entities/entity-texts.ts'
import { asked, searchTookTooLong } from './find-entities.ts'
import type { LineageReader } from '../lineage/lineage-reader.ts'
import type { EntityReference } from '../lineage/read-entity.ts'
import { nameSuffixes, urnNames } from './search-document.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'

/**
 * A parsed reference. `qualifier` is a platform or an entity type; `path` has the names of the domains that
 * contain the wanted one, outermost first.
 */
type Wanted = { name: string; qualifier: string | null; origin: string | null; path?: readonly string[] }

type Named = EntityFacts & { names: readonly string[] }

const matchesMaxCount = 1_000
const candidatesMaxCount = 10
/** Number of candidates in the message of an error. */
const namedMaxCount = 3

/**
 * `entityType`: only entities of this type match. With `isWhole` the end of a name does not match. Without
 * `suggests`, similar names are not searched for.
 */
export type ReferenceOptions = { field?: string; entityType?: string; isWhole?: boolean; suggests?: boolean }

/** A reference, and the input field that contains it. */
export type SoughtReference = { reference: string; field: string } & Pick<
  ReferenceOptions,
  'entityType' | 'isWhole'
>

export type FoundEntity = Required<EntityReference>

/**
 * Throws NOT_FOUND or, for several matches, BAD_REQUEST, both with `candidates`; and INVALID_URN,
 * LIMIT_EXCEEDED.
 */
export async function resolveReference(
  sources: LineageSources,
  reference: string,
  { field = 'reference', suggests = true, ...options }: ReferenceOptions = {}
): Promise<FoundEntity> {
  const [found] = await resolveReferences(sources, [{ reference, field, ...options }], { suggests })
  if (!found || found instanceof CatalogError) throw found ?? new Error('a reference has no answer')
  return found
}

/**
 * Resolves many references in the same few statements, and returns for each its entity, or the error that
 * resolveReference throws.
 */
export async function resolveReferences(
  sources: LineageSources,
  sought: readonly SoughtReference[],
  { suggests = false }: { suggests?: boolean } = {}
): Promise<(FoundEntity | CatalogError)[]> {
  const questions = sought.map(questionOf)
  const open = (): Question[] => questions.filter(({ answer }) => answer === null)
  await withLineage(
    sources,
    async (reader) => {
      await answerUrns(reader, open())
      for (let turn = 0; ; turn += 1) {
        const turns = open().flatMap((question) => {
          const wanted = question.readings[turn]
          return wanted ? [{ question, wanted }] : []
        })
        if (turns.length === 0) break
        await answerReadings(reader, turns)
      }
      await answerAliases(reader, open())
      for (const question of open())
        question.answer = notFound(question, suggests ? await nearOf(reader, question) : [])
    },
    { units: 1 }
  )
  return questions.flatMap(({ answer }) => answer ?? [])
}

/** A reference that is being resolved. `readings` are what it may mean, the likeliest first. */
type Question = {
  text: string
  field: string
  entityType: string | undefined
  isWhole: boolean
  urn: Urn | null
  readings: readonly Wanted[]
  answer: FoundEntity | CatalogError | null
}

function questionOf({ reference, field, entityType, isWhole = false }: SoughtReference): Question {
  const question = { text: reference, field, entityType, isWhole, urn: null, readings: [], answer: null }
  try {
    const text = soughtText(reference, field)
    if (text === null)
      throw new CatalogError(
        'BAD_REQUEST',
        `${field} must name an entity, for example as snowflake:db.schema.table, as table@PROD or by its URN`,
        { field }
      )
    if (text.startsWith('urn:li:')) return { ...question, text, urn: toUrn(text, field) }
    const readings = entityType === undefined ? readingsOf(text) : readingsAs(text, entityType)
    return { ...question, text, readings }
  } catch (error) {
    if (error instanceof CatalogError) return { ...question, answer: error }
    throw error
  }
}

async function answerUrns(reader: LineageReader, questions: readonly Question[]): Promise<void> {
  const known = await reader.find(questions.flatMap(({ urn }) => urn ?? []))
  for (const question of questions) {
    const found = question.urn && known.get(question.urn)
    if (found) question.answer = { urn: found.urn, exists: found.exists }
  }
}

async function answerReadings(
  reader: LineageReader,
  turns: readonly { question: Question; wanted: Wanted }[]
): Promise<void> {
  const queries = turns.map(({ wanted }) => queryOf(wanted))
  for await (const matches of matchesOfEach(reader, queries)) {
    const known = matches.flatMap(([index, found]) => {
      const turn = turns[index]
      return turn && found.length > 0 ? [{ ...turn, found, meant: meantByUrn(found, turn) }] : []
    })
    const documentsOf = await documentsFor(
      reader,
      known.flatMap(({ found, meant }) => (meant ? [] : found))
    )
    for (const { question, wanted, found, meant } of known)
      await answerMeant(
        reader,
        question,
        await onPath(
          reader,
          meant ? [meant] : meantOf(withNames(found, documentsOf), wanted, question.isWhole),
          wanted
        )
      )
  }
}

async function answerMeant(
  reader: LineageReader,
  question: Question,
  found: readonly EntityFacts[]
): Promise<void> {
  const [only] = found
  if (found.length > 1) question.answer = ambiguous(question.text, found, question.field)
  else if (only) {
    // The entity of a path that has become a table is soft-deleted; the table has replaced it.
    const current = only.isRemoved ? (await reader.find([only.urn])).get(only.urn) : null
    question.answer = { urn: current?.urn ?? only.urn, exists: current?.exists ?? only.exists }
  }
}

/** The only match, if its URN shows that it is meant. Then its documents need not be read. */
function meantByUrn(
  found: readonly EntityFacts[],
  { question, wanted }: { question: Question; wanted: Wanted }
): EntityFacts | null {
  if (found.length > 1) return null
  const [only] = meantOf(withNames(found, new Map()), wanted, question.isWhole)
  return only ?? null
}

/**
 * Finds the datasets that had these names before. Needs a platform, because otherwise any name might be the
 * name of a dataset.
 */
async function answerAliases(reader: LineageReader, questions: readonly Question[]): Promise<void> {
  const urnsOf = questions.map(({ readings }) =>
    readings.flatMap(({ name, qualifier, origin, path }) =>
      qualifier === null || path !== undefined || /[(),]/.test(name + qualifier)
        ? []
        : [datasetUrn(qualifier.toLowerCase(), name, origin ?? undefined)]
    )
  )
  const known = await reader.find(urnsOf.flat())
  for (const [index, question] of questions.entries()) {
    const found = urnsOf[index]?.map((urn) => known.get(urn)).find((each) => each !== undefined)
    if (found) question.answer = { urn: found.urn, exists: found.exists }
  }
}

const nearOf = (reader: LineageReader, { urn, readings, text, entityType }: Question): Promise<Urn[]> =>
  namedNearly(reader, urn ? nameFromUrn(urn) : (readings[0]?.name ?? text), entityType)

/** The likeliest reading first: a colon or an at sign may be part of the name. */
function readingsOf(text: string): Wanted[] {
  const { qualifier, name, origin, rest } = referenceParts(text)
  const whole: Wanted[] = [
    { name: rest, qualifier: null, origin },
    ...(origin === null ? [] : [{ name: text, qualifier: null, origin: null }])
  ]
  const all = qualifier === null ? whole : [...whole, { name, qualifier, origin }].toReversed()
  const path = qualifier === null || qualifier.toLowerCase() === 'domain' ? pathOf(name) : null
  return path === null ? all : [...all, path]
}

/** Reads `Sales/Orders`: domains of the same name are told apart by the domains that contain them. */
function pathOf(text: string): Wanted | null {
  const names = text.split('/').map((part) => part.trim())
  const name = names.pop() ?? ''
  return names.length === 0 || name === '' || names.includes('')
    ? null
    : { name, qualifier: 'domain', origin: null, path: names }
}

/** The domains whose ancestors match the path, which may begin at any of them. */
async function onPath(
  reader: LineageReader,
  found: readonly EntityFacts[],
  { path }: Wanted
): Promise<readonly EntityFacts[]> {
  if (path === undefined) return found
  const { parentOf } = await reader.domainTree()
  let open = found.map((named) => ({ named, aboveId: parentOf(named.id) }))
  for (const name of path.toReversed()) {
    const ids = new Set(open.flatMap(({ aboveId }) => aboveId ?? []))
    if (ids.size === 0) return []
    const above = [...(await factsAbout(reader, ids)).values()]
    const fitting = new Set(
      withNames(above, await documentsFor(reader, above))
        .filter(({ names }) => names.includes(name))
        .map(({ id }) => id)
    )
    open = open.flatMap(({ named, aboveId }) =>
      aboveId !== null && fitting.has(aboveId) ? [{ named, aboveId: parentOf(aboveId) }] : []
    )
  }
  return open.map(({ named }) => named)
}

/** The name or the path of a domain, alone or after the expected type. */
function readingsAs(text: string, entityType: string): Wanted[] {
  const prefix = `${entityType}:`
  const whole: Wanted = { name: text, qualifier: entityType, origin: null }
  const hasPrefix = text.startsWith(prefix) && text !== prefix
  const path = entityType === 'domain' ? pathOf(hasPrefix ? text.slice(prefix.length) : text) : null
  return [
    ...(hasPrefix ? [{ ...whole, name: text.slice(prefix.length) }, whole] : [whole]),
    ...(path === null ? [] : [path])
  ]
}

function queryOf({ name, qualifier, origin }: Wanted): NameQuery {
  const rest = [
    ...(qualifier === null
      ? []
      : [
          anyOf(
            [...new Set([qualifier, qualifier.toLowerCase()])]
              .flatMap((text) => [fieldKey('platform', text), fieldKey('type', text)])
              .map(keyQuery)
          )
        ]),
    ...(origin === null ? [] : [keyQuery(fieldKey('origin', origin))])
  ]
  return { name: keyQuery(nameKey(folded(name))), rest: rest.length === 0 ? null : allOf(rest) }
}

/** The entities with exactly this name; soft-deleted ones only if there are no others. */
function meantOf(found: readonly Named[], { name }: Wanted, isWhole: boolean): Named[] {
  const whole = found.filter(({ names }) => names.includes(name))
  const best =
    isWhole || whole.length > 0
      ? whole
      : found.filter(({ urn }) => nameSuffixes(nameFromUrn(urn)).includes(name))
  const alive = best.filter(({ isRemoved }) => !isRemoved)
  return alive.length > 0 ? alive : best
}

/**
 * The entities that match each of the queries, with the index of the query. Equal queries are asked once, and
 * the entities of a few queries are read at a time, so that memory is bounded.
 */
async function* matchesOfEach(
  reader: LineageReader,
  queries: readonly NameQuery[]
): AsyncGenerator<[index: number, found: readonly EntityFacts[]][]> {
  const places = new Map<string, number[]>()
  const different: NameQuery[] = []
  for (const [index, query] of queries.entries()) {
    const key = `${query.name} ${query.rest ?? ''}`
    const known = places.get(key)
    if (known) known.push(index)
    else {
      different.push(query)
      places.set(key, [index])
    }
  }
  const sharing = [...places.values()]
  const matches = await asked(reader, (tx, within) =>
    within(() => findNamesakesOfEach(tx, different, matchesMaxCount))
  )
  for (let begin = 0, end = 0; begin < different.length; begin = end) {
    const ids = new Set<number>()
    while (end < different.length && (end === begin || ids.size < matchesMaxCount)) {
      for (const id of matches[end] ?? []) ids.add(id)
      end += 1
    }
    const factsOf = await factsAbout(reader, ids)
    yield matches.slice(begin, end).flatMap((some, at) => {
      const found = [...some].flatMap((id) => factsOf.get(id) ?? [])
      return (sharing[begin + at] ?? []).map((index): [number, EntityFacts[]] => [index, found])
    })
  }
}

const factsAbout = (reader: LineageReader, ids: Iterable<number>): Promise<Map<number, EntityFacts>> =>
  reader.inSql(searchTookTooLong, (tx, within) =>
    within(() => readEntityFacts(tx, Int32Array.from(ids).sort(), { urns: true, domains: false }))
  )

const documentsFor = (
  reader: LineageReader,
  found: readonly EntityFacts[]
): Promise<ReadonlyMap<number, Documents>> =>
  reader.documents(
    found.map(({ id }) => id),
    textAspectNames
  )

const withNames = (found: readonly EntityFacts[], documentsOf: ReadonlyMap<number, Documents>): Named[] =>
  found.map((facts) => ({
    ...facts,
    names: [...namesOf(facts.urn, documentsOf.get(facts.id) ?? new Map()), ...urnNames(facts.urn)]
  }))

function ambiguous(text: string, found: readonly EntityFacts[], field: string): CatalogError {
  const candidates = found.slice(0, candidatesMaxCount).map(({ urn }) => urn)
  return new CatalogError(
    'BAD_REQUEST',
    `${quoted(text)} may mean ${found.length === matchesMaxCount ? 'very many' : found.length} entities: ${candidates.join(', ')}${found.length > candidates.length ? ', …' : ''}. Say which, as platform:name@ENV or by its URN.`,
    { field, candidates, total: found.length }
  )
}

/**
 * Entities with a similar name, of the type that is wanted: in another case or environment, on another platform, or with a slightly
 * different spelling.
 */
async function namedNearly(
  reader: LineageReader,
  name: string,
  entityType: string | undefined
): Promise<Urn[]> {
  const same: EntityFacts[] = []
  for await (const matches of matchesOfEach(reader, [{ name: keyQuery(nameKey(folded(name))), rest: null }]))
    same.push(...matches.flatMap(([, found]) => found))
  const near =
    same.length >= candidatesMaxCount
      ? []
      : await asked(reader, (tx, within) =>
          within(() => findNearNames(tx, folded(name), candidatesMaxCount, entityType ?? null))
        )
  const ids = near.map(({ id }) => id)
  const factsOf = await factsAbout(reader, ids)
  const others = ids.flatMap((id) => factsOf.get(id) ?? [])
  const urns = new Set([...same, ...others].map(({ urn }) => urn))
  return [...urns]
    .filter((urn) => entityType === undefined || entityTypeOf(urn) === entityType)
    .slice(0, candidatesMaxCount)
}

function notFound({ text, field }: Question, candidates: readonly Urn[]): CatalogError {
  const hint =
    candidates.length === 0 ? '' : `; did you mean ${candidates.slice(0, namedMaxCount).join(' or ')}?`
  return new CatalogError('NOT_FOUND', `Nothing is called ${quoted(text)}${hint}`, {
    field,
    ...(candidates.length > 0 ? { candidates } : {})
  })
}

const shownMaxChars = 200
const quoted = (text: string): string =>
  `"${text.length > shownMaxChars ? `${text.slice(0, shownMaxChars).toWellFormed()}…` : text}"`
