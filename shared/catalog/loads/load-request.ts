/**
 * The options of a load in its request, and those that its body decides. A dbt project names its own source,
 * and is a snapshot of it.
 */
import { CatalogError } from '../../errors.ts'
import type { DbtOptions } from '../../formats/dbt/options.ts'
import type { SqlOptions } from '../../formats/sql/options.ts'
import type { Connections } from '../../openlineage/connections.ts'
import type { SentFormat } from '../../formats/read-records.ts'
import type { Actor, MissingReferences, UpsertReplaces } from '../../model/changes.ts'
import { limitedTo } from '../../model/limited-to.ts'
import type { NewLoad } from '../../store/loads.ts'
import { openLineageSource } from '../openlineage/ingest-events.ts'
import { checkedSnapshotSource, defaultLoadSource } from './load-source.ts'

export type LoadRequest = {
  actor: Actor
  requestId: string | null
  /** If several are possible, the body decides. */
  format: SentFormat
  /** The source of its edges; null for the source that the body names, otherwise the default. */
  source: string | null
  missingReferences: MissingReferences
  /** Default: the whole aspect. */
  upsertReplaces?: UpsertReplaces
  /** Either all of its records are applied, or none. */
  isAtomic?: boolean
  /** Nothing is applied; the load reports what would change. */
  isDryRun?: boolean
  /** The key under which the same submission may be sent again. */
  idempotencyKey?: string | null
  /** Absent for a merge. */
  snapshot?: SnapshotTerms | undefined
  /**
   * The terms if the body names its source: it is then a snapshot. Absent if a merge or a snapshot was
   * requested.
   */
  snapshotOfProject?: SnapshotTerms | undefined
  /** Absent if none were given. */
  dbt?: DbtOptions | undefined
  /** How a load of SQL files is read; absent if no dialect was given. */
  sql?: SqlOptions | undefined
  /** Options about the namespaces of a dbt project. */
  connections?: Connections | undefined
}

/**
 * How much a snapshot may remove: a share of what its source states, from 0 to 1; with `force`, everything it
 * finds.
 */
export type SnapshotTerms = { force: boolean; maxRemovedShare: number }

/** A load before its body is opened. */
export type Submission = Omit<NewLoad, 'format' | 'header'>

/** The facts that the body decides. `source` is set if the body names one. */
export type BodyFacts = { format: string; source?: string }

export const termsOf = (
  { snapshot, snapshotOfProject }: LoadRequest,
  { source }: BodyFacts
): SnapshotTerms | undefined => snapshot ?? (source === undefined ? undefined : snapshotOfProject)

export function submissionOf(id: string, request: LoadRequest, facts: BodyFacts): Submission {
  const snapshot = termsOf(request, facts)
  const isOfEvents = facts.format === 'openlineage'
  return {
    id,
    mode: snapshot ? 'snapshot' : 'merge',
    ...(snapshot ? { sweep: 'pending', sweepMaxShare: snapshot.maxRemovedShare } : {}),
    force: snapshot?.force ?? false,
    source: isOfEvents ? openLineageSource : (request.source ?? facts.source ?? defaultLoadSource),
    // Events, projects and statements describe the assets they name.
    missingReferences:
      isOfEvents || facts.source !== undefined || facts.format === 'sql'
        ? 'create'
        : request.missingReferences,
    upsertReplaces: request.upsertReplaces ?? 'aspect',
    actor: request.actor.urn,
    tokenId: request.actor.tokenId,
    scopes: [...request.actor.scopes],
    domainUrns: request.actor.domainUrns,
    requestId: request.requestId,
    isAtomic: request.isAtomic ?? false,
    isDryRun: request.isDryRun ?? false,
    idempotencyKey: request.idempotencyKey ?? null
  }
}

/**
 * Throws BAD_REQUEST for options that do not fit the body, and what checkedSnapshotSource throws. For events,
 * throws UNSUPPORTED for a snapshot, because each event says what it replaces, and FORBIDDEN for a token that
 * is limited to domains, because runs are in no domain.
 */
export function checkRequest(request: LoadRequest, facts: BodyFacts): void {
  if (facts.format === 'openlineage') checkRequestOfEvents(request)
  if (facts.source === undefined) {
    if (request.snapshotOfProject?.force) throw forceWithoutSnapshot()
    if (request.dbt)
      throw new CatalogError('BAD_REQUEST', 'owners, domains and namespace are for format=dbt', {
        field: 'format'
      })
  }
  if (request.sql && facts.format !== 'sql')
    throw new CatalogError('BAD_REQUEST', 'dialect, platform, database and schema are for format=sql', {
      field: 'format'
    })
  if (termsOf(request, facts)) checkedSnapshotSource(request.source ?? facts.source, 'source')
}

function checkRequestOfEvents({ snapshot, source, actor }: LoadRequest): void {
  if (snapshot)
    throw new CatalogError(
      'UNSUPPORTED',
      'Events cannot be a snapshot: job and dataset events replace what they stated before. Send them with mode=merge',
      { field: 'mode' }
    )
  if (source !== null && source !== defaultLoadSource && source !== openLineageSource)
    throw new CatalogError('BAD_REQUEST', `The source of events is ${openLineageSource}`, { field: 'source' })
  if (actor.domainUrns !== null)
    throw new CatalogError(
      'FORBIDDEN',
      `${limitedTo(actor.domainUrns)}; the jobs and runs of events are in no domain`
    )
}

export const forceWithoutSnapshot = (): CatalogError =>
  new CatalogError('BAD_REQUEST', 'force is for mode=snapshot', { field: 'force' })
