/** What an event describes, beyond naming it: so that it counts as stated again. */
import type { Urn } from '../urn/urn.ts'
import type { EventContent } from './content.ts'

/** The datasets that the run of the event writes. */
export function writtenIn({ run, job }: EventContent): Urn[] {
  if (!run || !job) return []
  return job.links.flatMap((link) => {
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
}

/** Its job with the flow, its run, what the run writes, and the datasets of which it states facts or lineage. */
export const describedIn = (content: EventContent): Urn[] => [
  ...(content.job ? [content.job.urn, content.job.flowUrn] : []),
  ...(content.run ? [content.run.urn] : []),
  ...writtenIn(content),
  ...content.datasets.flatMap(({ urn, facts, declared }) =>
    declared !== null || Object.keys(facts).length > 0 ? [urn] : []
  )
]
