/** The one thing that events say of lineage, as a tuple that is kept as JSON. */
import type { Urn } from '../urn/urn.ts'

/**
 * Datasets are as the event names them, before it is known what else they are called. `input` and `output` are at the edge of a job;
 * `read` and `write` are so by an entry of the facet `lineage`; `direct` leads past the job, first the dataset made, then the one it is made
 * from; `described` is an output of which is known what goes into it. Of columns: dataset made, column, dataset it is made from, column, operation.
 */
export type Link =
  | ['input' | 'output' | 'read' | 'write' | 'described', Urn]
  | ['direct', Urn, Urn]
  | ['column' | 'directColumn', Urn, string, Urn, string, string]
  | ['afterJob', Urn]

export const linkText = (link: Link): string => JSON.stringify(link)

/** Only what linkText made is read. */
export const linkFrom = (text: string): Link => JSON.parse(text) as Link

export function datasetsOf(link: Link): Urn[] {
  switch (link[0]) {
    case 'afterJob':
      return []
    case 'direct':
      return [link[1], link[2]]
    case 'column':
    case 'directColumn':
      return [link[1], link[3]]
    default:
      return [link[1]]
  }
}
