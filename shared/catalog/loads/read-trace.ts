/**
 * What happened to the aspects of a write, by the trace id of its answer: pending, applied, overtaken,
 * refused.
 *
 * A queued write has the state of its load. A write that was applied before its answer has no load: the
 * aspects then show whether they were changed since the id was made. There is no index to wait for, so both
 * storages that DataHub's clients ask for have the same state.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CatalogError } from '../../errors.ts'
import type { Db } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import type { Actor } from '../../model/changes.ts'
import { checkCount } from '../../model/count-checks.ts'
import { checkLines } from '../../model/text-checks.ts'
import { isObject } from '../../model/json-values.ts'
import { terminalStates } from '../../model/load-moves.ts'
import { nameInProposal } from '../../model/proposal-text.ts'
import { isTraceId, timeOfTrace } from '../../model/trace-id.ts'
import { findAspects, latestTimeseries } from '../../store/aspects.ts'
import { findAssociations } from '../../store/domains.ts'
import { findEntities } from '../../store/entities.ts'
import { findTracedLoad, type LoadRow } from '../../store/loads.ts'
import { listRejects, type Reject } from '../../store/rejects.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { isVisible } from './read-load.ts'

type WriteStatus = 'ERROR' | 'PENDING' | 'ACTIVE_STATE' | 'HISTORIC_STATE' | 'NO_OP' | 'UNKNOWN'

type StorageStatus = { writeStatus: WriteStatus; writeMessage?: string }

type TracedAspect = { success: boolean; primaryStorage: StorageStatus; searchStorage: StorageStatus }

/** The states by URN and aspect name. */
export type TraceView = { [urn: string]: { [aspectName: string]: TracedAspect } }

/** `detailed` also explains states that are not errors. */
export type TraceQuestion = { onlyIncludeErrors: boolean; detailed: boolean }

/**
 * Parses the body: the aspect names of each URN. Throws BAD_REQUEST, INVALID_URN, INVALID_CHARACTER,
 * LIMIT_EXCEEDED (proposalsPerBatchMaxCount).
 */
export function parseTraced(body: unknown): Map<Urn, string[]> {
  if (!isObject(body))
    throw new CatalogError('BAD_REQUEST', 'The body must be an object of lists: the names of aspects, by URN')
  const wanted = new Map<Urn, string[]>()
  let count = 0
  for (const [text, names] of Object.entries(body)) {
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string'))
      throw new CatalogError('BAD_REQUEST', 'The aspects of a URN must be a list of names', {
        field: text.slice(0, 500).toWellFormed()
      })
    wanted.set(
      toUrn(text, 'urn'),
      names.map((name) => checkLines(name, { field: 'aspect', limit: 'descriptionMaxChars' }))
    )
    count += Math.max(1, names.length)
  }
  checkCount(count, 'proposalsPerBatchMaxCount', { field: 'body', what: `${count} aspects in one request` })
  return wanted
}

/**
 * For a load that the caller may not see, shows only the state of the aspects. Throws BAD_REQUEST for an
 * invalid id.
 */
export async function readTrace(
  db: Db,
  actor: Actor,
  traceId: string,
  wanted: ReadonlyMap<Urn, readonly string[]>,
  { onlyIncludeErrors, detailed }: TraceQuestion
): Promise<TraceView> {
  if (!isTraceId(traceId))
    throw new CatalogError('BAD_REQUEST', 'The trace id must be 32 hexadecimal digits', { field: 'traceId' })
  const load = await settledLoad(db, actor, traceId)
  const rejects = load ? await rejectsByName(db, load) : new Map<string, Reject>()
  const states = await aspectStates(db, wanted)
  const view: TraceView = {}
  for (const [urn, names] of wanted) {
    for (const name of names) {
      const key = `${urn} ${name}`
      const status = load
        ? statusInLoad(load, rejects.get(key), states.get(key))
        : statusSince(timeOfTrace(traceId), states.get(key))
      const isError = status.writeStatus === 'ERROR'
      if (onlyIncludeErrors && !isError) continue
      const shown = detailed || isError ? status : { writeStatus: status.writeStatus }
      view[urn] = { ...view[urn], [name]: { success: !isError, primaryStorage: shown, searchStorage: shown } }
    }
  }
  return view
}

/**
 * DataHub's client asks again after two seconds at the earliest, so it is worth waiting a moment for a load
 * that is nearly done.
 */
const settleMaxMs = 1_000
const settleEveryMs = 25

/**
 * The load of the trace once it has ended, or in its current state after a moment; null if there is no load
 * that the actor may see.
 */
async function settledLoad(db: Db, actor: Actor, traceId: string): Promise<LoadRow | null> {
  for (const giveUpAt = Date.now() + settleMaxMs; ; await sleep(settleEveryMs)) {
    const load = await findTracedLoad(db, traceId)
    if (!load || !isVisible(load, actor)) return null
    if (terminalStates.includes(load.state) || Date.now() > giveUpAt) return load
  }
}

/** The current state of an aspect. `seq` is null for an aspect without an order of its own. */
type AspectState = { seq: number | null; changedAt: number }

async function aspectStates(
  db: Db,
  wanted: ReadonlyMap<Urn, readonly string[]>
): Promise<Map<string, AspectState>> {
  const entities = await findEntities(db, [...wanted.keys()])
  const names = [...new Set([...wanted.values()].flat())]
  const urnById = new Map(entities.map((entity) => [entity.id, entity.urn]))
  const ids = [...urnById.keys()]
  const states = new Map<string, AspectState>()
  const rows = await findAspects(
    db,
    entities.flatMap(({ id, urn }) =>
      [...new Set(wanted.get(urn))].map((aspectName) => ({ entityId: id, aspectName }))
    )
  )
  for (const { entityId, aspectName, seq, createdAt } of rows)
    states.set(`${urnById.get(entityId)} ${aspectName}`, { seq, changedAt: createdAt.getTime() })
  const associations = names.includes('domains') ? await findAssociations(db, ids) : []
  for (const { entityId, seq, createdAt } of associations)
    states.set(`${urnById.get(entityId)} domains`, { seq, changedAt: createdAt.getTime() })
  for (const { entityId, aspectName, seq, createdAt } of await latestTimeseries(db, ids, names))
    states.set(`${urnById.get(entityId)} ${aspectName}`, { seq, changedAt: createdAt.getTime() })
  return states
}

/** The first reject of each aspect. */
async function rejectsByName(db: Db, { id, rejected }: LoadRow): Promise<Map<string, Reject>> {
  const rejects =
    rejected === 0 ? [] : await listRejects(db, id, { after: 0, limit: limits.proposalsPerBatchMaxCount })
  const byName = new Map<string, Reject>()
  for (const reject of rejects) {
    const named = nameInProposal(reject.record ?? '')
    const key = named ? `${named.entityUrn} ${named.aspectName}` : ''
    if (!byName.has(key)) byName.set(key, reject)
  }
  return byName
}

function statusInLoad(
  load: LoadRow,
  reject: Reject | undefined,
  state: AspectState | undefined
): StorageStatus {
  if (reject) return { writeStatus: 'ERROR', writeMessage: `${reject.code}: ${reject.message}` }
  if (!terminalStates.includes(load.state))
    return { writeStatus: 'PENDING', writeMessage: `The load ${load.id} is not yet applied.` }
  if (load.state !== 'done')
    return { writeStatus: 'ERROR', writeMessage: load.error ?? `The load ${load.id} is ${load.state}.` }
  if (state && state.seq !== null && load.seq !== null && state.seq > load.seq)
    return { writeStatus: 'HISTORIC_STATE', writeMessage: 'A later write has changed the aspect since.' }
  // Edges are rows of their own: changing them updates the time of their aspect, but not its order.
  const isOfLoad =
    state !== undefined && (state.seq === load.seq || state.changedAt >= load.createdAt.getTime())
  if (isOfLoad) return { writeStatus: 'ACTIVE_STATE' }
  return load.applied + load.unchanged > 0
    ? { writeStatus: 'NO_OP', writeMessage: 'The aspect already had this value.' }
    : { writeStatus: 'UNKNOWN' }
}

const statusSince = (writtenAt: number, state: AspectState | undefined): StorageStatus =>
  state && state.changedAt >= writtenAt
    ? { writeStatus: 'ACTIVE_STATE', writeMessage: 'The aspect was changed after the id was made.' }
    : {
        writeStatus: 'UNKNOWN',
        writeMessage: 'No queued write has this id, and the aspect was not changed since the id was made.'
      }
