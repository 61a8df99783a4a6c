/** What an event describes, beyond naming it: so that it counts as stated again. */
import type { Urn } from '../urn/urn.ts'
import type { EventContent } from './content.ts'

/** Its job with the flow, its run, and the datasets of which it states facts or lineage, as a run does of what it writes. */
export const describedIn = (content: EventContent): Urn[] => [
  ...(content.job ? [content.job.urn, content.job.flowUrn] : []),
  ...(content.run ? [content.run.urn] : []),
  ...content.datasets.flatMap(({ urn, facts, declared }) =>
    declared !== null || Object.keys(facts).length > 0 ? [urn] : []
  )
]
