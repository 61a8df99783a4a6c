/** Remembers recently parsed URNs, because a load names the same assets again and again. */
import { LRUCache } from 'lru-cache'
import { CatalogError } from '../errors.ts'
import { parseUrn, type Urn } from './urn.ts'

/** Returns the same object for a URN while it is remembered. */
export type KnownUrn = { urn: Urn; entityType: string }

/** About 25 MB for texts of 120 characters. */
const maxCount = 131_072

const knownUrns = new LRUCache<string, KnownUrn>({ max: maxCount })

/** Null for a text that is not a URN; parseUrn says why. */
export function knownUrn(text: string): KnownUrn | null {
  const found = knownUrns.get(text)
  if (found) return found
  try {
    // Copies the text, because a slice would keep the whole longer text in memory.
    const { urn, entityType } = parseUrn(Buffer.from(text, 'utf8').toString('utf8'))
    const known = { urn, entityType }
    knownUrns.set(urn, known)
    return known
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}
