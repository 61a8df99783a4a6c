/** upstreamLineage: the datasets a dataset is derived from, and its column lineage. */
import { defaulted, list, map, oneOf, optional, record, required, text, urn } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { fineGrainedLineages, matchType } from './fine-grained-lineages.ts'
import { auditStamp, unsetStamp } from './shared-records.ts'

export const upstreamLineage: AspectModel = {
  name: 'upstreamLineage',
  requiresEntity: true,
  template: () => ({ upstreams: [] }),
  shape: record({
    upstreams: required(
      list(
        record({
          auditStamp: defaulted(auditStamp, unsetStamp),
          created: optional(auditStamp),
          dataset: required(urn('dataset')),
          type: required(oneOf('COPY', 'TRANSFORMED', 'VIEW')),
          properties: optional(map(text)),
          query: optional(urn()),
          matchType: optional(matchType)
        })
      )
    ),
    fineGrainedLineages: optional(fineGrainedLineages)
  })
}
