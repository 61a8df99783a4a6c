/** Remembers the URNs that were parsed last: a load names the same assets again and again. */
import { LRUCache } from 'lru-cache'
import { CatalogError } from '../errors.ts'
import { parseUrn, type Urn } from './urn.ts'

/** Returns the same object for a URN while it is remembered. */
export type KnownUrn = { urn: Urn; entityType: string }

/** With texts of 120 characters they take about 25 MB. */
const maxCount = 131_072

const knownUrns = new LRUCache<string, KnownUrn>({ max: maxCount })

/** Null for a text that is not a URN; parseUrn says why. */
export function knownUrn(text: string): KnownUrn | null {
  const found = knownUrns.get(text)
  if (found) return found
  try {
    // A slice of a longer text would keep all of that text in memory.
    const { urn, entityType } = parseUrn(Buffer.from(text, 'utf8').toString('utf8'))
    const known = { urn, entityType }
    knownUrns.set(urn, known)
    return known
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}
