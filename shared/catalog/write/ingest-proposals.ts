/** Applies change proposals and legacy snapshots that arrive over REST: one in a transaction, or several. */
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import type { Change, ChangeRecord, MissingReferences, UpsertReplaces, Verdict } from '../../model/changes.ts'
import { checkCount } from '../../model/count-checks.ts'
import { parseProposal, parseSnapshot } from '../../model/proposal.ts'
import { applyCall } from './apply-call.ts'
import type { Call } from './call.ts'

export type IngestOptions = Call & { missingReferences: MissingReferences; upsertReplaces: UpsertReplaces }

/** The name of a proposal in errors, by its index in the request. */
export type FieldOf = (index: number) => string

const fieldInBatch: FieldOf = (index) => `proposals[${index}]`

/** Applies one proposal. Throws what parseProposal throws, and MISSING_REFERENCE, CONFLICT, PRECONDITION_FAILED, FORBIDDEN. */
export async function ingestProposal(db: Db, proposal: unknown, options: IngestOptions): Promise<Verdict[]> {
  return applyProposals(
    db,
    readProposals([proposal], () => 'proposal'),
    'ingestProposal',
    options
  )
}

/**
 * Applies proposals in their order, all or none. If one is refused, all fail, and the error says which.
 * Throws as ingestProposal does, and LIMIT_EXCEEDED (proposalsPerBatchMaxCount).
 */
export async function ingestProposalBatch(
  db: Db,
  proposals: readonly unknown[],
  options: IngestOptions
): Promise<Verdict[]> {
  return applyProposals(db, readProposals(proposals), 'ingestProposalBatch', options)
}

/**
 * Parses the proposals and makes all checks that do not need the catalog. Throws what parseProposal throws,
 * and LIMIT_EXCEEDED (proposalsPerBatchMaxCount).
 */
export function readProposals(
  proposals: readonly unknown[],
  fieldOf: FieldOf = fieldInBatch
): ChangeRecord[] {
  checkCount(proposals.length, 'proposalsPerBatchMaxCount', {
    field: 'proposals',
    what: `${proposals.length} proposals in one request`,
    wayOut: 'Send more as a load (POST /loads?format=mcp)'
  })
  return proposals.map((proposal, index) => toRecord(parseProposal, proposal, index, fieldOf(index)))
}

/**
 * Applies the result of readProposals in its order, all or none. Throws MISSING_REFERENCE, CONFLICT,
 * PRECONDITION_FAILED, FORBIDDEN, VALIDATION_FAILED.
 */
export async function applyProposals(
  db: Db,
  records: readonly ChangeRecord[],
  operation: string,
  { actor, requestId, warn, missingReferences, upsertReplaces }: IngestOptions
): Promise<Verdict[]> {
  return records.length === 0
    ? []
    : applyCall(db, records, {
        actor,
        requestId,
        warn,
        missingReferences,
        upsertReplaces,
        operation,
        source: 'proposal'
      })
}

/**
 * Applies legacy snapshots, each `{proposedSnapshot, systemMetadata}`, all or none; `field` is the name of a
 * snapshot in errors. Throws as ingestProposalBatch does.
 */
export async function ingestSnapshots(
  db: Db,
  snapshots: readonly { field: string; event: unknown }[],
  options: IngestOptions
): Promise<Verdict[]> {
  checkCount(snapshots.length, 'proposalsPerBatchMaxCount', {
    field: 'entities',
    what: `${snapshots.length} snapshots in one request`,
    wayOut: 'Send more as a load (POST /loads?format=mcp)'
  })
  const records = snapshots.map(({ field, event }, index) =>
    toRecord((sent) => parseSnapshot(sent, 'value'), event, index, field)
  )
  return applyProposals(db, records, 'ingestSnapshot', options)
}

/** `field` is the name of the proposal in errors. */
function toRecord(
  parse: (sent: unknown) => { changes: Change[] },
  proposal: unknown,
  index: number,
  field: string
): ChangeRecord {
  try {
    const { changes } = parse(proposal)
    return { line: index, changes, fields: changes.map(() => field) }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    const inner = error.details.field
    throw new CatalogError(
      error.code,
      error.message,
      { ...error.details, field: inner ? `${field}.${inner}` : field },
      { cause: error }
    )
  }
}
