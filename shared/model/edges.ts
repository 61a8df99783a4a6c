/** Reads a lineage edge that a client gives by its two ends. */
import { CatalogError } from '../errors.ts'
import { dataFlowOf } from '../urn/kinds.ts'
import { parseUrn, type ParsedUrn, type Urn } from '../urn/urn.ts'
import { placeOfEdge } from './change-facts.ts'

export type ParsedEdge = {
  upstreamUrn: Urn
  downstreamUrn: Urn
  /**
   * True for a data job and its own data flow: the URN of the job contains the flow, so there is nothing to
   * write.
   */
  isWithoutEffect: boolean
}

/** The names of the ends in errors. */
type EdgeFields = { upstreamField: string; downstreamField: string }

const usualFields: EdgeFields = { upstreamField: 'upstreamUrn', downstreamField: 'downstreamUrn' }

/**
 * Checks the two URNs, and that lineage can exist between such entities. `field` names the edge
 * (`input.edgesToAdd[3]`); if it is empty, errors name only the ends. Throws INVALID_URN, INVALID_CHARACTER,
 * LIMIT_EXCEEDED, and BAD_REQUEST with both types if such lineage cannot exist.
 */
export function parseEdge(
  upstream: unknown,
  downstream: unknown,
  field: string,
  { upstreamField, downstreamField } = usualFields
): ParsedEdge {
  const prefix = field === '' ? '' : `${field}.`
  const up = parseUrn(upstream, prefix + upstreamField)
  const down = parseUrn(downstream, prefix + downstreamField)
  const isWithoutEffect = isJobInItsFlow(up, down) || isJobInItsFlow(down, up)
  if (!isWithoutEffect && !placeOfEdge(up.urn, down.urn)) throw noLineage(up, down, field)
  return { upstreamUrn: up.urn, downstreamUrn: down.urn, isWithoutEffect }
}

const isJobInItsFlow = (flow: ParsedUrn, job: ParsedUrn): boolean =>
  flow.entityType === 'dataFlow' && job.entityType === 'dataJob' && dataFlowOf(job.urn) === flow.urn

function noLineage(up: ParsedUrn, down: ParsedUrn, field: string): CatalogError {
  const pair = `from a ${up.entityType} (upstream) to a ${down.entityType} (downstream)`
  const isFlowAndJob = [up.entityType, down.entityType].sort().join() === 'dataFlow,dataJob'
  const why = isFlowAndJob
    ? ': a dataJob is part of the dataFlow that its own URN names, and of no other'
    : ''
  return new CatalogError('BAD_REQUEST', `No lineage leads ${pair}${why}`, field === '' ? {} : { field })
}
