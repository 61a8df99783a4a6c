/** What rows of entities show besides their cards: read for all rows of a page together, and shown as soon as it is there. */
import { signal, type Signal } from '@preact/signals'
import { cardOf, type Card } from './entity.ts'
import { rowFacts, type RunOfJob } from './queries.ts'
import { graphql } from './request.ts'

export type RowFacts = {
  about: string
  /** Null for what can have none. */
  owners: readonly Card[] | null
  /** The assets made from it directly; null for what has no lineage. */
  usedBy: number | null
  lastRun: RunOfJob | null
}

/** The entities of one request. */
const pageCount = 100
/** How long facts are shown before they are read again. */
const freshMs = 20_000

type Known = { facts: Signal<RowFacts | undefined>; at: number; reading: Promise<void> }
const known = new Map<string, Known>()
let waiting: Map<string, Signal<RowFacts | undefined>> | null = null
let reading: Promise<void> = Promise.resolve()

async function read(asked: Map<string, Signal<RowFacts | undefined>>): Promise<void> {
  const all = [...asked.keys()]
  for (let from = 0; from < all.length; from += pageCount) {
    const urns = all.slice(from, from + pageCount)
    try {
      const { entities } = await graphql(rowFacts, { urns })
      for (const [index, entity] of entities.entries()) {
        const facts = asked.get(urns[index] ?? '')
        if (!facts) continue
        facts.value = {
          about: entity?.editableProperties?.description || entity?.properties?.description || '',
          owners:
            entity?.ownership === undefined
              ? null
              : (entity.ownership?.owners?.map(({ owner }) => cardOf(owner)) ?? []),
          usedBy: entity?.usedBy?.total ?? null,
          lastRun: entity?.lastRun ?? null
        }
      }
    } catch {
      // The rows stay as they are, and the next page asks again.
      for (const urn of urns) known.delete(urn)
    }
  }
}

/** The facts of a row, which come later; those asked for in the same moment are read with one request. */
export function factsOf(urn: string): Known {
  const found = known.get(urn)
  if (found && Date.now() - found.at < freshMs) return found
  if (!waiting) {
    const asked = (waiting = new Map())
    reading = Promise.resolve().then(() => {
      waiting = null
      return read(asked)
    })
  }
  const facts = found?.facts ?? signal<RowFacts | undefined>(undefined)
  waiting.set(urn, facts)
  const next = { facts, at: Date.now(), reading }
  known.set(urn, next)
  return next
}

/** Returns when the facts of the rows are there, so that a list is drawn once. */
export async function readFacts(urns: readonly string[]): Promise<void> {
  await Promise.all(urns.map((urn) => factsOf(urn).reading))
}
