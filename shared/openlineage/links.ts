/** A link is one statement about lineage in an event. It is stored as JSON. */
import type { Urn } from '../urn/urn.ts'

/**
 * The downstream comes first. Datasets have the names that the event used; aliases are resolved when the link is asserted.
 *
 * - `input`, `output`: the lists of the event
 * - `read`, `write`: the job as an end of an entry in the facet `lineage`
 * - `described`: an output whose upstream datasets the facet `lineage` gives, even if there are none
 * - `direct`, `directColumn`: from dataset to dataset, without the job. The last element of `directColumn` is
 *   the job whose run stated it; absent in declarations, and in links stored by older versions
 * - `column`: through the job, from the facet `columnLineage`; the last element is the operation
 * - `afterJob`: the job runs after this one
 * - `ofJob`: the last two elements are a link of another job, which the facet `lineage` names
 */
export type Link =
  | ['input' | 'output' | 'read' | 'write' | 'described', Urn]
  | ['direct', Urn, Urn]
  | ['column', Urn, string, Urn, string, string]
  | ['directColumn', Urn, string, Urn, string, string, Urn?]
  | ['afterJob', Urn]
  | ['ofJob', Urn, 'read' | 'write' | 'afterJob', Urn]

export const linkText = (link: Link): string => JSON.stringify(link)

/**
 * Recently read links: each is read several times for one event. A full map is emptied, which costs a few
 * reads.
 */
const known = new Map<string, Link>()
const knownMaxCount = 5_000

/** Reads only texts that linkText wrote. */
export function linkFrom(text: string): Link {
  const found = known.get(text)
  if (found) return found
  const link = JSON.parse(text) as Link
  if (known.size >= knownMaxCount) known.clear()
  known.set(text, link)
  return link
}

/** All entities that the link leads to or from, including jobs. */
export const endsOf = (link: Link): Urn[] =>
  link[0] === 'afterJob' ? [link[1]] : link[0] === 'ofJob' ? [link[1], link[3]] : datasetsOf(link)

/** The datasets that a job writes according to its links, without those that other jobs write. */
export const writtenIn = (links: readonly Link[]): Urn[] =>
  links.flatMap((link) => {
    switch (link[0]) {
      case 'output':
      case 'write':
      case 'described':
      case 'direct':
        return [link[1]]
      default:
        return []
    }
  })

export function datasetsOf(link: Link): Urn[] {
  switch (link[0]) {
    case 'afterJob':
      return []
    case 'ofJob':
      return link[2] === 'afterJob' ? [] : [link[3]]
    case 'direct':
      return [link[1], link[2]]
    case 'column':
    case 'directColumn':
      return [link[1], link[3]]
    default:
      return [link[1]]
  }
}
