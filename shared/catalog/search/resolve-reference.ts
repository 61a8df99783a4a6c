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
import { findMatches, findNearNames } from '../../store/search-documents.ts'
import { fabricTypes } from '../../urn/kind-shapes.ts'
import { datasetUrn, nameFromUrn } from '../../urn/kinds.ts'
import { entityTypeOf, toUrn, type Urn } from '../../urn/urn.ts'
import { namesOf, soughtText, textAspectNames } from '../entities/entity-texts.ts'
import { asked } from './find-entities.ts'
import type { LineageReader } from '../lineage/lineage-reader.ts'
import type { EntityReference } from '../lineage/read-entity.ts'
import { nameSuffixes, urnNames } from './search-document.ts'
import { withLineage, type LineageSources } from '../lineage/with-lineage.ts'

/**
 * A parsed reference. `qualifier` is a platform or an entity type; `path` has the names of the domains that
 * contain the wanted one, outermost first.
 */
type Wanted = { name: string; qualifier: string | null; origin: string | null; path?: readonly string[] }

type Named = { id: number; urn: Urn; names: readonly string[]; exists: boolean; isRemoved: boolean }

const matchesMaxCount = 1_000
const candidatesMaxCount = 10
/** Number of candidates in the message of an error. */
const namedMaxCount = 3

/** `entityType`: only entities of this type match. Without `suggests`, similar names are not searched for. */
export type ReferenceOptions = { field?: string; entityType?: string; suggests?: boolean }

/**
 * Throws NOT_FOUND or, for several matches, BAD_REQUEST, both with `candidates`; and INVALID_URN,
 * LIMIT_EXCEEDED.
 */
export async function resolveReference(
  sources: LineageSources,
  reference: string,
  { field = 'reference', entityType, suggests = true }: ReferenceOptions = {}
): Promise<Required<EntityReference>> {
  const text = soughtText(reference, field)
  if (text === null)
    throw new CatalogError(
      'BAD_REQUEST',
      `${field} must name an entity, for example as snowflake:db.schema.table, as table@PROD or by its URN`,
      { field }
    )
  const urn = text.startsWith('urn:li:') ? toUrn(text, field) : null
  return withLineage(
    sources,
    async (reader) => {
      const known = urn && (await reader.find([urn])).get(urn)
      if (known) return { urn: known.urn, exists: known.exists }
      const readings = urn ? [] : entityType === undefined ? readingsOf(text) : readingsAs(text, entityType)
      for (const wanted of readings) {
        const found = await onPath(
          reader,
          meantOf(await namedEntities(reader, queryOf(wanted)), wanted),
          wanted
        )
        if (found.length > 1) throw ambiguous(text, found, field)
        const [only] = found
        // The entity of a path that has become a table is soft-deleted; the table has replaced it.
        const current = only?.isRemoved ? (await reader.find([only.urn])).get(only.urn) : null
        if (only) return { urn: current?.urn ?? only.urn, exists: current?.exists ?? only.exists }
      }
      const alias = await aliasOf(reader, readings)
      if (alias) return alias
      throw notFound(
        text,
        field,
        suggests
          ? await namedNearly(reader, urn ? nameFromUrn(urn) : (readings[0]?.name ?? text), entityType)
          : []
      )
    },
    { units: 1 }
  )
}

/**
 * The dataset that had this name before. Needs a platform, because otherwise any name might be the name of a
 * dataset.
 */
async function aliasOf(
  reader: LineageReader,
  readings: readonly Wanted[]
): Promise<Required<EntityReference> | null> {
  const urns = readings.flatMap(({ name, qualifier, origin, path }) =>
    qualifier === null || path !== undefined || /[(),]/.test(name + qualifier)
      ? []
      : [datasetUrn(qualifier.toLowerCase(), name, origin ?? undefined)]
  )
  const known = await reader.find(urns)
  const found = urns.map((urn) => known.get(urn)).find((each) => each !== undefined)
  return found ? { urn: found.urn, exists: found.exists } : null
}

/** The likeliest reading first: a colon or an at sign may be part of the name. */
function readingsOf(text: string): Wanted[] {
  const [, before = text, after] = /^(.+)@(\w+)$/s.exec(text) ?? []
  const origin = fabricTypes.find((known) => known === after?.toUpperCase()) ?? null
  const rest = origin === null ? text : before
  const [, qualifier, name] = /^([A-Za-z][\w-]*):(.+)$/s.exec(rest) ?? []
  const whole: Wanted[] = [
    { name: rest, qualifier: null, origin },
    ...(origin === null ? [] : [{ name: text, qualifier: null, origin: null }])
  ]
  // A path is written `s3://bucket/key`; its name in a URN is bucket/key.
  const all =
    qualifier === undefined || name === undefined
      ? whole
      : [...whole, { name: name.replace(/^\/\/(?=.)/, ''), qualifier, origin }].toReversed()
  const path = qualifier === undefined || qualifier.toLowerCase() === 'domain' ? pathOf(name ?? rest) : null
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
  found: readonly Named[],
  { path }: Wanted
): Promise<readonly Named[]> {
  if (path === undefined) return found
  const { parentOf } = await reader.domainTree()
  let open = found.map((named) => ({ named, aboveId: parentOf(named.id) }))
  for (const name of path.toReversed()) {
    const ids = new Set(open.flatMap(({ aboveId }) => aboveId ?? []))
    if (ids.size === 0) return []
    const fitting = new Set(
      (await namedById(reader, Int32Array.from(ids).sort()))
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

function queryOf({ name, qualifier, origin }: Wanted): string {
  const either =
    qualifier === null
      ? []
      : [
          anyOf(
            [...new Set([qualifier, qualifier.toLowerCase()])]
              .flatMap((text) => [fieldKey('platform', text), fieldKey('type', text)])
              .map(keyQuery)
          )
        ]
  return allOf([
    keyQuery(nameKey(folded(name))),
    ...either,
    ...(origin === null ? [] : [keyQuery(fieldKey('origin', origin))])
  ])
}

/** The entities with exactly this name; soft-deleted ones only if there are no others. */
function meantOf(found: readonly Named[], { name }: Wanted): Named[] {
  const whole = found.filter(({ names }) => names.includes(name))
  const best =
    whole.length > 0 ? whole : found.filter(({ urn }) => nameSuffixes(nameFromUrn(urn)).includes(name))
  const alive = best.filter(({ isRemoved }) => !isRemoved)
  return alive.length > 0 ? alive : best
}

async function namedEntities(reader: LineageReader, words: string): Promise<Named[]> {
  return namedById(
    reader,
    await asked(reader, (tx, within) => within(() => findMatches(tx, words, null, matchesMaxCount)))
  )
}

async function namedById(reader: LineageReader, ids: Int32Array): Promise<Named[]> {
  const urnOf = await reader.urns(ids)
  const classOf = await reader.classes(ids)
  const documentsOf = await reader.documents(ids, textAspectNames)
  return [...ids].flatMap((id) => {
    const [urn, facts] = [urnOf(id), classOf(id)]
    return urn === null || facts === null
      ? []
      : [
          {
            id,
            urn,
            names: [...namesOf(urn, documentsOf.get(id) ?? new Map()), ...urnNames(urn)],
            exists: facts.exists,
            isRemoved: facts.isRemoved
          }
        ]
  })
}

function ambiguous(text: string, found: readonly Named[], field: string): CatalogError {
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
  const same = await namedEntities(reader, keyQuery(nameKey(folded(name))))
  const near =
    same.length >= candidatesMaxCount
      ? []
      : await asked(reader, (tx, within) =>
          within(() => findNearNames(tx, folded(name), candidatesMaxCount, entityType ?? null))
        )
  const others = await namedById(
    reader,
    Int32Array.from(near, ({ id }) => id)
  )
  const urns = new Set([...same, ...others].map(({ urn }) => urn))
  return [...urns]
    .filter((urn) => entityType === undefined || entityTypeOf(urn) === entityType)
    .slice(0, candidatesMaxCount)
}

function notFound(text: string, field: string, candidates: readonly Urn[]): CatalogError {
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
