/** Replaces the short references in the records of a load by URNs while it is received. */
import { CatalogError } from '../../errors.ts'
import { recordParser, type RecordShape } from '../../formats/parse-record.ts'
import type { ReadRecord } from '../../formats/read-records.ts'
import { limits } from '../../limits.ts'
import { isReference, urnOfReference } from '../search/reference-urns.ts'
import type { LineageSources } from '../lineage/with-lineage.ts'

/** The most references that one record may have. */
const referencesPerRecord = 4
const domainFields = ['domainUrn', 'parentDomain']

/**
 * Returns a function that rereads a record that was refused because of an invalid URN, with URNs instead of
 * references, or unchanged if that is not possible.
 *
 * Each reference is looked up once per load. At most loadReferencesMaxCount are looked up, and none after
 * loadReferenceFailuresMaxCount have failed: a load without a single valid URN must not cause a search for
 * each of its lines.
 */
export function createReferenceReader(
  sources: LineageSources,
  shape: RecordShape
): (entry: ReadRecord) => Promise<ReadRecord> {
  const parser = recordParser(shape)
  const known = new Map<string, Promise<string>>()
  let failureCount = 0

  function look(reference: string, field: string): Promise<string> | null {
    const entityType = domainFields.includes(parser.meaningOf(field)) ? 'domain' : undefined
    const key = `${entityType ?? ''}\n${reference}`
    const found = known.get(key)
    if (found) return found
    if (known.size >= limits.loadReferencesMaxCount || failureCount >= limits.loadReferenceFailuresMaxCount)
      return null
    const looked = urnOfReference(sources, reference, {
      field,
      suggests: false,
      ...(entityType === undefined ? {} : { entityType })
    })
    known.set(key, looked)
    looked.catch(() => {
      failureCount += 1
    })
    return looked
  }

  async function read(entry: ReadRecord, triesLeft: number): Promise<ReadRecord> {
    if (!('error' in entry) || triesLeft === 0) return entry
    const { line, text, error } = entry
    const { field } = error.details
    const reference =
      error.code === 'INVALID_URN' && typeof field === 'string' ? parser.valueOf(text, field) : null
    if (typeof field !== 'string' || !isReference(reference)) return entry
    let changed: string
    try {
      const urn = await look(reference, field)
      if (urn === null) return entry
      changed = parser.withValue(text, field, urn)
    } catch (fault) {
      if (!(fault instanceof CatalogError)) throw fault
      const { code, message, details } = fault
      return {
        line,
        text,
        error: new CatalogError(code, parser.messageOf(text, message), details, { cause: fault })
      }
    }
    const next = parsed(changed, line)
    // A refused record is shown as it was sent.
    const last = await read(next, triesLeft - 1)
    return 'error' in last ? { ...last, text } : last
  }

  function parsed(text: string, line: number): ReadRecord {
    try {
      return { line, text, record: parser.parse(text, line) }
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      return { line, text, error }
    }
  }

  return (entry) => read(entry, referencesPerRecord)
}
