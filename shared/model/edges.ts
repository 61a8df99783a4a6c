/** Reads a lineage edge that a client names by its two ends. */
import { CatalogError } from '../errors.ts'
import { dataFlowOf } from '../urn/kinds.ts'
import { parseUrn, type ParsedUrn, type Urn } from '../urn/urn.ts'
import { placeOfEdge } from './change-facts.ts'

export type ParsedEdge = {
  upstreamUrn: Urn
  downstreamUrn: Urn
  /** A data job and its own data flow: the job's URN says it already, so there is nothing to write. */
  isWithoutEffect: boolean
}

/** What the ends are called in errors. */
type EdgeFields = { upstreamField: string; downstreamField: string }

const usualFields: EdgeFields = { upstreamField: 'upstreamUrn', downstreamField: 'downstreamUrn' }

/**
 * Checks the two URNs and that lineage exists between such entities. `field` names the edge (`input.edgesToAdd[3]`), and
 * is left out of the ends' names where it is empty.
 * Throws INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED, and BAD_REQUEST that names both types where no such lineage exists.
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
