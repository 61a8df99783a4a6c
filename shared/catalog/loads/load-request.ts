/** What a load is told beside its body, and what it is once its body has begun: a dbt project names its source itself, and is all that it states. */
import { CatalogError } from '../../errors.ts'
import type { DbtOptions } from '../../formats/dbt/options.ts'
import type { Connections } from '../../openlineage/connections.ts'
import type { SentFormat } from '../../formats/read-records.ts'
import type { Actor, MissingReferences } from '../../model/changes.ts'
import type { NewLoad } from '../../store/loads.ts'
import { openLineageSource } from '../openlineage/ingest-events.ts'
import { checkedSnapshotSource, defaultLoadSource } from './load-source.ts'

export type LoadRequest = {
  actor: Actor
  requestId: string | null
  /** Of several the body tells which. */
  format: SentFormat
  /** Who states its edges; null is whom the body names, or else the default. */
  source: string | null
  missingReferences: MissingReferences
  /** All of its records are applied, or none. */
  isAtomic?: boolean
  /** Nothing is applied; the load says what would be. */
  isDryRun?: boolean
  /** Under which the same submission may be sent again. */
  idempotencyKey?: string | null
  /** Absent for a merge. */
  snapshot?: SnapshotTerms | undefined
  /** The terms of a body that names its source, where neither a merge nor a snapshot was asked for: it is a snapshot then. */
  snapshotOfProject?: SnapshotTerms | undefined
  /** Absent where none was given. */
  dbt?: DbtOptions | undefined
  /** What the operator says of the namespaces that a dbt project is in. */
  connections?: Connections | undefined
}

/** How much a snapshot may take away: a share of what its source states, from 0 to 1, or with `force` whatever it finds to. */
export type SnapshotTerms = { force: boolean; maxRemovedShare: number }

/** A load before its body is opened. */
export type Submission = Omit<NewLoad, 'format' | 'header'>

/** What the body turned out to be; `source` is who states it, where it says so. */
export type Told = { format: string; source?: string }

export const termsOf = (
  { snapshot, snapshotOfProject }: LoadRequest,
  { source }: Told
): SnapshotTerms | undefined => snapshot ?? (source === undefined ? undefined : snapshotOfProject)

export function submissionOf(id: string, request: LoadRequest, told: Told): Submission {
  const snapshot = termsOf(request, told)
  const isOfEvents = told.format === 'openlineage'
  return {
    id,
    mode: snapshot ? 'snapshot' : 'merge',
    ...(snapshot ? { sweep: 'pending', sweepMaxShare: snapshot.maxRemovedShare } : {}),
    force: snapshot?.force ?? false,
    source: isOfEvents ? openLineageSource : (request.source ?? told.source ?? defaultLoadSource),
    // Events and projects describe what they name.
    missingReferences: isOfEvents || told.source !== undefined ? 'create' : request.missingReferences,
    actor: request.actor.urn,
    tokenId: request.actor.tokenId,
    scopes: [...request.actor.scopes],
    domainUrn: request.actor.domainUrn,
    requestId: request.requestId,
    isAtomic: request.isAtomic ?? false,
    isDryRun: request.isDryRun ?? false,
    idempotencyKey: request.idempotencyKey ?? null
  }
}

/**
 * Throws BAD_REQUEST for what was said and does not fit what the body turned out to be, what checkedSnapshotSource throws, and of events UNSUPPORTED for a
 * snapshot, for they declare themselves what they replace, and FORBIDDEN for a token that is limited to a domain: runs are in no domain.
 */
export function checkRequest(request: LoadRequest, told: Told): void {
  if (told.format === 'openlineage') checkRequestOfEvents(request)
  if (told.source === undefined) {
    if (request.snapshotOfProject?.force) throw forceWithoutSnapshot()
    if (request.dbt)
      throw new CatalogError('BAD_REQUEST', 'owners, domains and namespace are for format=dbt', {
        field: 'format'
      })
  }
  if (termsOf(request, told)) checkedSnapshotSource(request.source ?? told.source, 'source')
}

function checkRequestOfEvents({ snapshot, source, actor }: LoadRequest): void {
  if (snapshot)
    throw new CatalogError(
      'UNSUPPORTED',
      'Events are no snapshot: job and dataset events replace what they stated before. Send them with mode=merge',
      { field: 'mode' }
    )
  if (source !== null && source !== defaultLoadSource && source !== openLineageSource)
    throw new CatalogError('BAD_REQUEST', `The source of events is ${openLineageSource}`, { field: 'source' })
  if (actor.domainUrn !== null)
    throw new CatalogError(
      'FORBIDDEN',
      `The token is limited to ${actor.domainUrn}; the jobs and runs of events are in no domain`
    )
}

export const forceWithoutSnapshot = (): CatalogError =>
  new CatalogError('BAD_REQUEST', 'force is for mode=snapshot', { field: 'force' })
