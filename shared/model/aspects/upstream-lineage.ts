/** upstreamLineage: the datasets a dataset is derived from, and its column lineage. */
import { isObject } from '../json-values.ts'
import { defaulted, list, map, oneOf, optional, record, required, text, urn } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { fineGrainedLineages, matchType } from './fine-grained-lineages.ts'
import { auditStamp, unsetStamp } from './shared-records.ts'

const lineage = record({
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

export const upstreamLineage: AspectModel = {
  name: 'upstreamLineage',
  requiresEntity: true,
  template: () => ({ upstreams: [] }),
  // Column lineage may come alone. Without either list a misspelled name would remove all lineage.
  shape: (value, place) =>
    lineage(
      isObject(value) && Array.isArray(value.fineGrainedLineages)
        ? { ...value, upstreams: value.upstreams ?? [] }
        : value,
      place
    )
}
