/**
 * Replaces the names in the records of a load by URNs while it is received, so that from then on they are
 * records like all others.
 *
 * Where missing assets are created, and for an asset that the record itself creates, the text of a name alone
 * decides what it means (urn/dataset-name.ts). So a load means the same in whatever order its lines come and
 * whatever other loads do meanwhile. All other names are looked up in the catalog, each once per load and many
 * in one statement.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CatalogError } from '../../errors.ts'
import { copyOfText } from '../../formats/plain-edges.ts'
import type { ParsedRecord, ReadRecord } from '../../formats/read-records.ts'
import type { NamingRecord } from '../../formats/read-text.ts'
import type { SentName } from '../../formats/sent-names.ts'
import { limits } from '../../limits.ts'
import type { MissingReferences } from '../../model/changes.ts'
import { readDatasetName, referenceParts, unknownPlatform, urnOfDatasetName } from '../../urn/dataset-name.ts'
import { knownPlatform } from '../../urn/platforms.ts'
import type { LineageSources } from '../lineage/with-lineage.ts'
import { findPlatforms } from '../search/find-platforms.ts'
import { refusalOf, type Unresolved } from '../search/reference-urns.ts'
import { resolveReferences, type FoundEntity } from '../search/resolve-reference.ts'

/** How many names are looked up in one transaction. */
const lookupsAtOnce = 500
/** How long records are read without a pause, so that other requests are answered in between. */
const turnMaxMs = 2

/** How many records are read between two looks at the clock. */
const entriesPerLook = 32

/** What a name or a platform means in the catalog; null for an unknown platform. */
type Answer = string | Unresolved | null

/** A text that has to be looked up. */
type Sought = { kind: 'asset' | 'domain' | 'platform'; text: string }

/** Returns a function that reads the names in a list of records. Lists may come one after the other only. */
export function createReferenceReader(
  sources: LineageSources,
  missingReferences: MissingReferences
): (entries: readonly ReadRecord[]) => Promise<readonly ParsedRecord[]> {
  const answers = new Map<string, Answer>()
  let heldBytes = 0
  let turnAt = performance.now()

  const isNew = ({ meaning }: SentName): boolean =>
    meaning === 'newAsset' || (meaning === 'asset' && missingReferences === 'create')

  /** What must be looked up for a name; null for a dataset on a platform of the list. */
  function soughtFor(name: SentName): Sought | null {
    const text = name.text.trim()
    if (!isNew(name)) return { kind: name.meaning === 'domain' ? 'domain' : 'asset', text }
    const { qualifier } = referenceParts(text)
    return qualifier === null || knownPlatform(qualifier) !== null
      ? null
      : { kind: 'platform', text: qualifier }
  }

  function keep({ kind, text }: Sought, answer: Answer): void {
    // A slice of the body would keep the whole piece in memory.
    answers.set(copyOfText(keyOf(kind, text)), answer)
    heldBytes += 2 * text.length + (typeof answer === 'string' ? answer.length : sizeOf(answer))
  }

  async function lookUp(names: Iterable<SentName>): Promise<void> {
    const open = new Map<string, Sought>()
    for (const name of names) {
      const sought = soughtFor(name)
      const key = sought && keyOf(sought.kind, sought.text)
      if (sought && key !== null && !answers.has(key)) open.set(key, sought)
    }
    const all = [...open.values()]
    for (let begin = 0; begin < all.length; begin += lookupsAtOnce) {
      if (heldBytes > limits.loadReferencesMaxBytes) return
      const some = all.slice(begin, begin + lookupsAtOnce)
      const platforms = some.filter(({ kind }) => kind === 'platform')
      const names = some.filter(({ kind }) => kind !== 'platform')
      if (platforms.length > 0) {
        const found = await findPlatforms(
          sources,
          platforms.map(({ text }) => text)
        )
        for (const [index, sought] of platforms.entries()) keep(sought, found[index] ?? null)
      }
      if (names.length > 0) {
        const found = await resolveReferences(sources, names.map(toReference))
        for (const [index, sought] of names.entries()) keep(sought, answerOf(found[index]))
      }
    }
  }

  /** Where missing assets are created nothing matches by its end, or a name would change its meaning. */
  const toReference = ({ kind, text }: Sought) => ({
    reference: text,
    field: 'the name',
    isWhole: missingReferences === 'create',
    ...(kind === 'domain' ? { entityType: kind } : {})
  })

  /** Throws INVALID_URN, INVALID_CHARACTER and LIMIT_EXCEEDED. */
  function urnOf(name: SentName): string {
    const { field, text } = name
    if (!isNew(name)) {
      const kind = name.meaning === 'domain' ? 'domain' : 'asset'
      const answer = answers.get(keyOf(kind, text.trim()))
      if (answer === undefined || answer === null) throw tooManyNames(field)
      if (typeof answer === 'string') return answer
      throw refusalOf(answer, {
        field,
        reference: text.trim(),
        ...(kind === 'domain'
          ? { entityType: kind }
          : {
              wayOut:
                'To create missing datasets, name each as platform:name and load with --missing-references create (missingReferences=create)'
            })
      })
    }
    const parts = readDatasetName(text, field)
    const known = knownPlatform(parts.platform) ?? answers.get(keyOf('platform', parts.platform))
    if (known === undefined) throw tooManyNames(field)
    if (typeof known !== 'string') throw unknownPlatform(text.trim(), parts.platform, field)
    return urnOfDatasetName(parts, known, field)
  }

  function read(entry: NamingRecord): ParsedRecord {
    try {
      return entry.withUrns(Object.fromEntries(entry.names.map((name) => [name.field, urnOf(name)])))
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      return entry.refused(error)
    }
  }

  return async (entries) => {
    const naming = entries.filter(isNaming)
    if (naming.length === 0) return entries.filter(isParsed)
    await lookUp(naming.flatMap(({ names }) => names))
    const records: ParsedRecord[] = []
    for (const entry of entries) {
      records.push(isNaming(entry) ? read(entry) : entry)
      if (records.length % entriesPerLook === 0 && performance.now() - turnAt > turnMaxMs) {
        await nextTurn()
        turnAt = performance.now()
      }
    }
    return records
  }
}

const isNaming = (entry: ReadRecord): entry is NamingRecord => 'names' in entry
const isParsed = (entry: ReadRecord): entry is ParsedRecord => !isNaming(entry)

const keyOf = (kind: Sought['kind'], text: string): string => `${kind} ${text}`

/** Only what a refusal needs, because an error with its stack takes a kilobyte. */
function answerOf(found: FoundEntity | CatalogError | undefined): Answer {
  if (!(found instanceof CatalogError)) return found?.urn ?? null
  const { code, message, details } = found
  return { code, message, details }
}

const sizeOf = (answer: Unresolved | null): number =>
  answer === null ? 0 : answer.message.length + String(answer.details.candidates ?? '').length

const tooManyNames = (field: string): CatalogError =>
  new CatalogError(
    'LIMIT_EXCEEDED',
    `${field} is one name too many: all names of a load and their URNs may have ${limits.loadReferencesMaxBytes} bytes. Send the remaining records as another load, or with URNs`,
    { field, limit: 'loadReferencesMaxBytes', maximum: limits.loadReferencesMaxBytes }
  )
