/**
 * Applies OpenLineage events: merges them into the stored states, and applies what the states then assert as
 * changes.
 *
 * All events of a call are one transaction, so an event is applied completely or not at all. An event that
 * was received before changes nothing.
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { describedBy } from '../../model/change-facts.ts'
import type { Change, JsonValue } from '../../model/changes.ts'
import { printExactly } from '../../model/exact-json.ts'
import { isObject } from '../../model/json-values.ts'
import {
  assertionsOf,
  changesBetween,
  commonTo,
  upsertOf,
  withoutEdgesTo,
  type Assertions
} from '../../openlineage/assertions.ts'
import type { Connections } from '../../openlineage/connections.ts'
import { contentOf, type EventContent, type RunContent } from '../../openlineage/content.ts'
import { describedIn } from '../../openlineage/described.ts'
import { parseEventText } from '../../openlineage/event-text.ts'
import { parseEvent } from '../../openlineage/event.ts'
import { flowName, shortJobName } from '../../openlineage/names.ts'
import {
  aliasOf,
  datasetsNamed,
  factsOf,
  isEmptyDataset,
  mergeContent,
  moveDataset,
  statesDeclaredBy,
  withoutEnds,
  withoutOldLinks,
  type State
} from '../../openlineage/state.ts'
import { metrics } from '../../platform/metrics.ts'
import { findAspectsOfEntities } from '../../store/aspects.ts'
import { findEntities } from '../../store/entities.ts'
import {
  findCurrentNames,
  insertEvents,
  lockIngestion,
  namesMaxCount,
  readAliases,
  readStates,
  ownersOfEdgesAt,
  writeStates
} from '../../store/openlineage.ts'
import type { Urn } from '../../urn/urn.ts'
import { applyRecords, type ApplyContext } from '../write/apply-records.ts'
import type { Call } from '../write/call.ts'

/** The source of statements from events. */
export const openLineageSource = 'openlineage'

/** An event that has been read and checked. */
export type ReadEvent = { digest: Buffer; text: string; content: EventContent }

/**
 * Checks everything that does not need the catalog. Parts that cannot be read are left out. Throws BAD_REQUEST naming the path, INVALID_URN,
 * INVALID_CHARACTER, LIMIT_EXCEEDED.
 */
export function readEvent(sent: unknown, field = '', connections: Connections = []): ReadEvent {
  const event = parseEvent(sent, field)
  const content = contentOf(event, connections)
  checkTime(content.timeMs, field)
  const text = printExactly(event.stored)
  return { digest: createHash('sha256').update(text).digest(), text, content }
}

/**
 * How far the clock of a producer may be ahead. A fact with a later date would win over all that follow,
 * forever.
 */
const aheadMaxMs = 24 * 60 * 60 * 1_000

function checkTime(timeMs: number, field: string): void {
  if (timeMs <= Date.now() + aheadMaxMs) return
  const at = field === '' ? 'eventTime' : `${field}.eventTime`
  throw new CatalogError('BAD_REQUEST', `${at} is more than a day ahead of the clock of the server`, {
    field: at
  })
}

/** Reads and checks an event from its text. Throws as readEvent does. */
export const readEventText = (text: string, connections?: Connections): ReadEvent =>
  readEvent(parseEventText(text, 'The event'), '', connections)

/**
 * Commits all of the events, or none. Only one call runs at a time, across all processes: the states that an
 * alias affects are known only after others have been read, so row locks could not be taken in one order, and
 * calls with row locks deadlocked more often than retries could fix. Throws FORBIDDEN, LIMIT_EXCEEDED,
 * UNAVAILABLE, VALIDATION_FAILED.
 */
export async function ingestEvents(db: Db, events: readonly ReadEvent[], call: Call): Promise<void> {
  const areNew = await inTransaction(db, (tx) => applyEvents(tx, events, call))
  // After the commit, because an attempt that is rolled back leaves nothing out.
  metrics.eventPartsDropped.inc(
    events.reduce((sum, { content }, index) => sum + (areNew[index] ? content.dropped.count : 0), 0)
  )
}

/** The context for applying the events of a load. */
export type EventContext = Call & Pick<ApplyContext, 'ofLoad' | 'isDryRun'>

/**
 * Applies events in the caller's transaction, which must be rolled back if this throws. Returns for each
 * event whether it is new. Throws as ingestEvents does.
 */
export async function applyEvents(
  tx: Tx,
  events: readonly ReadEvent[],
  context: EventContext
): Promise<boolean[]> {
  await lockIngestion(tx, context.ofLoad !== undefined)
  const fresh = await newEvents(tx, events)
  // A chunk always gets an entry in the audit trail.
  if (fresh.size > 0 || context.ofLoad) await applyFresh(tx, [...fresh], context)
  return events.map((event) => fresh.has(event))
}

async function applyFresh(tx: Tx, fresh: readonly ReadEvent[], context: EventContext): Promise<void> {
  // Applied in the order of their times within a call, because a name may move from one dataset to another.
  const contents = fresh.map((event) => event.content).sort((a, b) => a.timeMs - b.timeMs)
  const { states, holders } = await openStates(tx, contents)
  forgetDeleted(states)
  for (const content of contents) {
    mergeContent(content, {
      stateOf: (urn) => states.get(urn)?.state ?? null,
      holderOf: (path) => holders.get(path) ?? null,
      put: (urn, state) => {
        const known = states.get(urn)
        if (known) states.set(urn, { ...known, state })
      }
    })
  }
  const isRenamed = await applyAliases(tx, states)
  const asserted = new Map([...states].map(([urn, { stored }]) => [urn, stored.asserted]))
  const own = await withoutOthersAspects(tx, changesOf(states, isRenamed), asserted)
  const changes = [
    ...own,
    ...(await droppedAgain(tx, own, states)),
    ...(await statedAgain(tx, contents, states))
  ]
  // Before the changes are applied, because domain rules look at the namespaces.
  await writeStates(
    tx,
    [...states]
      .filter(([, { state, asserted, stored }]) => state !== stored.state || asserted !== stored.asserted)
      .map(([urn, { state, asserted }]) => ({ urn, state, asserted }))
  )
  await applyRecords(
    tx,
    [
      {
        line: 0,
        changes: [...changes, ...contents.flatMap(({ run, timeMs }) => (run ? runEvent(run, timeMs) : []))]
      }
    ],
    {
      ...context,
      domains: domainsIn(contents, states),
      isWriter: true,
      source: openLineageSource,
      operation: 'ingestEvents',
      missingReferences: 'create'
    }
  )
}

/** Leaves out the deletion of aspects that somebody else has written since events stated them. */
async function withoutOthersAspects(
  tx: Tx,
  changes: Change[],
  asserted: ReadonlyMap<Urn, Assertions>
): Promise<Change[]> {
  const urns = changes.flatMap((change) => (change.kind === 'deleteAspect' ? [change.entityUrn] : []))
  if (urns.length === 0) return changes
  const rows = await findEntities(tx, urns)
  const idOf = new Map(rows.map(({ urn, id }) => [urn, id]))
  const stored = await findAspectsOfEntities(tx, [...idOf.values()])
  return changes.filter((change) => {
    if (change.kind !== 'deleteAspect') return true
    const { entityUrn, aspectName } = change
    const value = asserted.get(entityUrn)?.[entityUrn]?.[aspectName]?.['']
    const now = stored.find((row) => row.entityId === idOf.get(entityUrn) && row.aspectName === aspectName)
    return isObject(value) && isDeepStrictEqual(now?.value, valueOf(upsertOf(entityUrn, aspectName, value)))
  })
}

const valueOf = (change: Change): JsonValue => (change.kind === 'upsertAspect' ? change.value : null)

/** Whether the newest event that says so dropped the dataset. */
function isDropped(states: States, urn: Urn): boolean {
  const state = states.get(urn)?.state
  return state?.kind === 'dataset' && factsOf(state).isDropped?.value === true
}

/**
 * A late event may describe a dataset that was dropped after it, which would bring the dataset back. So it is hidden
 * once more. One that somebody else has brought back stays.
 */
async function droppedAgain(tx: Tx, changes: readonly Change[], states: States): Promise<Change[]> {
  const dropped = changes.flatMap((change) => {
    const urn = describedBy(change)
    return urn !== null && isDropped(states, urn) ? [urn] : []
  })
  return (await findEntities(tx, [...new Set(dropped)])).flatMap(({ urn, isRemoved }) =>
    isRemoved ? [upsertOf(urn, 'status', { removed: true })] : []
  )
}

/**
 * What was soft-deleted and is described by these events is back: their jobs and runs, what a run writes, and
 * what has facets. An event that is older than one known about its job says nothing new.
 */
async function statedAgain(tx: Tx, contents: readonly EventContent[], states: States): Promise<Change[]> {
  const described = contents.filter((content) => !isOutdated(content, states)).flatMap(describedIn)
  const urns = new Set(described.map((urn) => nameIn(states, urn)))
  const rows = await findEntities(
    tx,
    [...urns].filter((urn) => !isDropped(states, urn))
  )
  return rows.flatMap(({ urn, isRemoved }) => (isRemoved ? [{ kind: 'upsertEntity', entityUrn: urn }] : []))
}

function isOutdated({ job, timeMs }: EventContent, states: States): boolean {
  const state = job && states.get(job.urn)?.state
  return state?.kind === 'job' && (state.lastRun?.time ?? 0) > timeMs
}

/**
 * An entity without a state is new, or has been deleted permanently together with its edges. So the edges to
 * it are forgotten, and only later events assert them again.
 */
function forgetDeleted(states: States): void {
  const gone = new Set([...states].flatMap(([urn, { state, isOpen }]) => (isOpen && !state ? [urn] : [])))
  if (gone.size === 0) return
  for (const [urn, known] of states) {
    const state = known.state && withoutEnds(known.state, gone)
    if (state !== known.state)
      states.set(urn, { ...known, state, asserted: withoutEdgesTo(known.asserted, gone) })
  }
}

/** The domains that connections give to the datasets of the events, by their present names. */
function domainsIn(contents: readonly EventContent[], states: States): Map<Urn, Urn> {
  const domains = new Map<Urn, Urn>()
  for (const [urn, domain] of contents.flatMap((content) => content.domains)) {
    const name = nameIn(states, urn)
    if (name === urn || !domains.has(name)) domains.set(name, domain)
  }
  return domains
}

/** The events that were not received before, each once. */
async function newEvents(tx: Tx, events: readonly ReadEvent[]): Promise<Set<ReadEvent>> {
  const byDigest = new Map(events.map((event) => [event.digest.toString('hex'), event]))
  const digests = await insertEvents(
    tx,
    [...byDigest.values()].map(({ digest, text, content }) => ({
      digest,
      text,
      timeMs: content.timeMs,
      subjects: subjectsOf(content)
    }))
  )
  return new Set(digests.flatMap((digest) => byDigest.get(digest.toString('hex')) ?? []))
}

/** The run and the job first, because of many datasets only some count. */
function subjectsOf({ run, job, datasets }: EventContent): Urn[] {
  const urns = [
    ...(run ? [run.urn] : []),
    ...(job ? [job.urn] : []),
    ...datasets.flatMap(({ urn, knownAs }) => (knownAs === null ? [urn] : [urn, knownAs]))
  ]
  return [...new Set(urns)].slice(0, limits.openLineageSubjectsMaxCount)
}

type Asserting = { state: State | null; asserted: Assertions }
/**
 * `stored` is the content of the row; unchanged parts are the same objects. A state that is not open was only
 * read for its alias.
 */
type KnownState = Asserting & { stored: Asserting; isOpen: boolean; isWhole: boolean }
type States = Map<Urn, KnownState>

const asRead = ({ state, asserted }: Asserting): KnownState => ({
  state,
  asserted,
  stored: { state, asserted },
  isOpen: false,
  isWhole: true
})

/**
 * Reads the states that the events may change. `holders` are the tables of paths that may become another
 * table.
 */
async function openStates(
  tx: Tx,
  contents: readonly EventContent[]
): Promise<{ states: States; holders: ReadonlyMap<Urn, Urn> }> {
  const states: States = new Map()
  await open(
    tx,
    states,
    contents.flatMap(({ datasets, job, otherJobs, run }) => [
      ...datasets.flatMap(({ urn, knownAs }) => (knownAs ? [urn, knownAs] : [urn])),
      ...(job ? [job.urn] : []),
      ...otherJobs.map((each) => each.urn),
      ...(run ? [run.urn] : [])
    ])
  )
  // Other states must be opened too, because a new declaration may omit links of the last one.
  await open(
    tx,
    states,
    contents
      .flatMap(({ datasets, job }) => [
        ...(job?.isDeclared ? [job.urn] : []),
        ...datasets.flatMap(({ urn, declared }) => (declared === null ? [] : [urn]))
      ])
      .flatMap((urn) => statesDeclaredBy(states.get(urn)?.state ?? null))
  )
  // Before a name is given to another dataset, its state moves to the dataset that had the name.
  const renamed = contents.flatMap(({ datasets }) =>
    datasets.flatMap(({ urn, knownAs }) => {
      const name = knownAs === null ? null : nextName(urn, states.get(urn)?.state)
      return name === null || name === knownAs ? [] : [{ urn, name }]
    })
  )
  await open(
    tx,
    states,
    renamed.map(({ name }) => name)
  )
  const holders = await findCurrentNames(
    tx,
    renamed.map(({ urn }) => urn)
  )
  await open(tx, states, [...holders.values()])
  return { states, holders }
}

async function open(tx: Tx, states: States, urns: readonly Urn[]): Promise<void> {
  await read(tx, states, urns)
  for (const urn of urns) {
    const known = states.get(urn)
    if (known) states.set(urn, { ...known, isOpen: true })
  }
}

/** Reads the states that have not been read yet. */
async function read(tx: Tx, states: States, urns: readonly Urn[]): Promise<void> {
  const wanted = new Set(urns.filter((urn) => !states.get(urn)?.isWhole))
  for (const urn of wanted) states.set(urn, asRead({ state: null, asserted: {} }))
  for (const row of await readStates(tx, [...wanted])) states.set(row.urn, asRead(row))
}

/** Follows aliases to the present name. A cycle ends where it began. */
const nameIn = (states: States, urn: Urn): Urn => laterNames(states, urn).at(-1) ?? urn

/** The names that a dataset got after this one, its present name last. */
function laterNames(states: States, urn: Urn): Urn[] {
  const names: Urn[] = []
  while (names.length < namesMaxCount) {
    const name = names.at(-1) ?? urn
    const next = nextName(name, states.get(name)?.state)
    if (next === null || next === urn) break
    names.push(next)
  }
  return names
}

const nextName = (urn: Urn, state: State | null | undefined): Urn | null =>
  state?.kind === 'dataset' ? aliasOf(urn, state) : null

/**
 * Moves the states of renamed datasets to their new names, and loads the states that assert edges under the
 * old ones, so that these edges move too. Returns whether any name changed.
 */
async function applyAliases(tx: Tx, states: States): Promise<boolean> {
  const renamed = [...states]
    .filter(([urn, { state, stored }]) => nextName(urn, state) !== nextName(urn, stored.state))
    .map(([urn]) => urn)
  // The edges of an alias are stored under the name that it had.
  const names = await findCurrentNames(tx, renamed)
  await open(
    tx,
    states,
    await ownersOfEdgesAt(tx, [...new Set(renamed.flatMap((urn) => [urn, names.get(urn) ?? urn]))])
  )
  await readNames(tx, states)
  // The last former name comes first: what was stated under an earlier name moved to it before, and more may
  // have been stated under the earlier name since.
  const former = [...states.keys()]
    .map((urn) => ({ urn, names: laterNames(states, urn) }))
    .filter(({ names }) => names.length > 0)
    .sort((a, b) => a.names.length - b.names.length)
  for (const { urn, names } of former) {
    const [held, name = urn] = [states.get(urn), names.at(-1)]
    if (!held?.isOpen || held.state?.kind !== 'dataset') continue
    await open(tx, states, [name])
    const other = states.get(name)
    if (!other || (isEmptyDataset(held.state) && other.state)) continue
    const moved = moveDataset(urn, held.state, name, other.state)
    states.set(name, { ...other, state: moved.renamed })
    states.set(urn, { ...held, state: moved.former })
  }
  // The states opened here refer to more datasets, whose names count for their edges.
  await readNames(tx, states)
  return renamed.length > 0
}

/** Reads the aliases of the datasets that the states refer to, then the aliases of those, and so on. */
async function readNames(tx: Tx, states: States): Promise<void> {
  for (let count = 0; count < namesMaxCount; count += 1) {
    const wanted = new Set<Urn>()
    for (const [urn, { state }] of states) {
      const name = nextName(urn, state)
      for (const other of [...(state ? datasetsNamed(state) : []), ...(name ? [name] : [])])
        if (!states.has(other)) wanted.add(other)
    }
    if (wanted.size === 0) return
    for (const urn of wanted) states.set(urn, { ...asRead({ state: null, asserted: {} }), isWhole: false })
    for (const { urn, ...alias } of await readAliases(tx, [...wanted])) {
      const state: State = { kind: 'dataset', ...alias, facts: {}, seen: {}, declared: {} }
      states.set(urn, { ...asRead({ state, asserted: {} }), isWhole: false })
    }
  }
}

/**
 * The changes from what was asserted before to what the states assert now. Keeps the new assertions in
 * `states`.
 */
function changesOf(states: States, isRenamed: boolean): Change[] {
  const changes: Change[] = []
  const nameOf = (urn: Urn): Urn => nameIn(states, urn)
  for (const [urn, held] of states) {
    const { state, stored, asserted, isOpen } = held
    if (!isOpen || !state) continue
    // An unchanged state asserts the same, unless names have changed.
    if (state === stored.state && !isRenamed) continue
    const [formerAlias, alias] = [nextName(urn, stored.state), nextName(urn, state)]
    if ((!stored.state && nameOf(urn) === urn) || (formerAlias !== null && alias === null))
      changes.push(...existence(urn, state))
    // A dataset without an alias is an asset of its own, until its alias is known, and again when its name is
    // given back to it.
    if (stored.state?.kind === 'dataset' && (formerAlias === null) !== (alias === null))
      changes.push(upsertOf(urn, 'status', { removed: alias !== null }))
    const now = assertionsOf(urn, state, nameOf)
    const own = changesBetween(asserted, now)
    changes.push(...own)
    const kept = withoutOldLinks(state)
    // If old links were forgotten, their edges would stay asserted, and no later event would remove them.
    if (kept !== state)
      states.set(urn, { ...held, state: kept, asserted: commonTo(now, assertionsOf(urn, kept, nameOf)) })
    else if (own.length > 0) states.set(urn, { ...held, asserted: now })
  }
  return changes
}

function existence(urn: Urn, state: State): Change[] {
  if (state.kind !== 'job') return state.kind === 'dataset' ? [{ kind: 'upsertEntity', entityUrn: urn }] : []
  return [
    { kind: 'upsertEntity', entityUrn: state.flowUrn, name: flowName(state.name) },
    { kind: 'upsertEntity', entityUrn: urn, name: shortJobName(state.name) }
  ]
}

/** An entry in the history of the run. */
function runEvent({ urn, eventType }: RunContent, timeMs: number): Change[] {
  if (eventType === null || eventType === 'OTHER') return []
  const hasEnded = eventType !== 'START' && eventType !== 'RUNNING'
  const value = {
    timestampMillis: timeMs,
    status: hasEnded ? 'COMPLETE' : 'STARTED',
    ...(hasEnded
      ? { result: { type: eventType === 'COMPLETE' ? 'SUCCESS' : 'FAILURE', nativeResultType: eventType } }
      : {})
  }
  return [upsertOf(urn, 'dataProcessInstanceRunEvent', value)]
}
