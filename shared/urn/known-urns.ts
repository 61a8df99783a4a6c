/** Remembers the URNs that were parsed last: a load names the same assets again and again. */
import { CatalogError } from '../errors.ts'
import { parseUrn, type Urn } from './urn.ts'

/** One object for a URN as long as it is remembered. */
export type KnownUrn = { urn: Urn; entityType: string }

/** With texts of 120 characters two generations take about 25 MB. */
const generationMaxCount = 65_536

let young = new Map<string, KnownUrn>()
let old = new Map<string, KnownUrn>()

/** Null for a text that is no URN; parseUrn says why. */
export function knownUrn(text: string): KnownUrn | null {
  const found = young.get(text)
  if (found) return found
  const older = old.get(text)
  if (older) {
    remember(older)
    return older
  }
  try {
    // A slice of a longer text would keep all of that text in memory.
    const { urn, entityType } = parseUrn(Buffer.from(text, 'utf8').toString('utf8'))
    const known = { urn, entityType }
    remember(known)
    return known
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}

function remember(known: KnownUrn): void {
  if (young.size >= generationMaxCount) {
    old = young
    young = new Map()
  }
  young.set(known.urn, known)
}
