/**
 * Column records (fineGrainedLineages): which columns are derived from which. A record may have no ends, or
 * several, on either side.
 */
import { defaulted, list, numberBetween, oneOf, optional, record, required, text, urn } from '../shape.ts'
import type { Shape } from '../shape.ts'

export const matchType: Shape = oneOf('EXACT', 'NORMALIZED', 'UNRESOLVED')

const columns = list(urn(), 'columnsPerRecordMaxCount')

export const fineGrainedLineages: Shape = list(
  record({
    upstreamType: required(oneOf('FIELD_SET', 'DATASET', 'NONE')),
    upstreams: optional(columns),
    downstreamType: required(oneOf('FIELD', 'FIELD_SET')),
    downstreams: optional(columns),
    transformOperation: optional(text),
    confidenceScore: defaulted(numberBetween(0, 1), () => 1),
    query: optional(urn()),
    matchType: optional(matchType)
  }),
  'columnRecordsMaxCount'
)
