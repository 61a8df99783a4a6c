/**
 * Applies OpenLineage events: what they say is merged into what is known, and what that asserts is applied as changes.
 *
 * One transaction for all events of a call: an event is in the catalog whole or not at all. An event that is known already changes nothing.
 */
import { createHash } from 'node:crypto'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { Change } from '../../model/changes.ts'
import { assertionsOf, changesBetween, upsertOf, type Assertions } from '../../openlineage/assertions.ts'
import { contentOf, type EventContent, type RunContent } from '../../openlineage/content.ts'
import { parseEvent } from '../../openlineage/event.ts'
import { flowName, shortJobName } from '../../openlineage/names.ts'
import {
  datasetsNamed,
  isEmptyDataset,
  madeBefore,
  mergeContent,
  moveDataset,
  type State
} from '../../openlineage/state.ts'
import { insertEvents, lockStates, readStates, statedAround, writeStates } from '../../store/openlineage.ts'
import type { Urn } from '../../urn/urn.ts'
import { applyRecords } from '../write/apply-records.ts'
import type { Call } from '../write/call.ts'

/** An event that has been read and checked. */
export type ReadEvent = { digest: Buffer; text: string; content: EventContent }

/** Checks all that can be checked without the catalog. Throws BAD_REQUEST naming the path, INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED. */
export function readEvent(sent: unknown, field = ''): ReadEvent {
  const content = contentOf(parseEvent(sent, field))
  const text = JSON.stringify(sent)
  return { digest: createHash('sha256').update(text).digest(), text, content }
}

/** Commits all of the events, or none. Throws FORBIDDEN, LIMIT_EXCEEDED, UNAVAILABLE, VALIDATION_FAILED. */
export const ingestEvents = (db: Db, events: readonly ReadEvent[], call: Call): Promise<void> =>
  inTransaction(db, async (tx) => {
    const fresh = await newEvents(tx, events)
    if (fresh.length === 0) return
    const contents = fresh.map((event) => event.content)
    const states = await openStates(tx, contents)
    for (const content of contents) {
      mergeContent(content, {
        stateOf: (urn) => states.get(urn)?.state ?? null,
        put: (urn, state) => {
          const held = states.get(urn)
          if (held) states.set(urn, { ...held, state })
        }
      })
    }
    await adoptNames(tx, states)
    const changes = changesOf(states)
    await applyRecords(
      tx,
      [
        {
          line: 0,
          changes: [...changes, ...contents.flatMap(({ run, timeMs }) => (run ? runEvent(run, timeMs) : []))]
        }
      ],
      {
        ...call,
        source: 'openlineage',
        operation: 'ingestEvents',
        missingReferences: 'create'
      }
    )
    await writeStates(
      tx,
      [...states]
        .filter(([, { state, before }]) => state !== before)
        .map(([urn, { state, asserted }]) => ({ urn, state, asserted }))
    )
  })

/** Those that were not sent before, each once. */
async function newEvents(tx: Tx, events: readonly ReadEvent[]): Promise<ReadEvent[]> {
  const byDigest = new Map(events.map((event) => [event.digest.toString('hex'), event]))
  const digests = await insertEvents(
    tx,
    [...byDigest.values()].map(({ digest, text, content: { timeMs } }) => ({ digest, text, timeMs }))
  )
  return digests.flatMap((digest) => byDigest.get(digest.toString('hex')) ?? [])
}

/** `before` is the state as it was read: one that has not changed is the same object. What is not locked is only read. */
type Held = { state: State | null; before: State | null; asserted: Assertions; isLocked: boolean }
type States = Map<Urn, Held>

/** Locks what the events speak of: datasets first, then jobs and runs, as every call does. */
async function openStates(tx: Tx, contents: readonly EventContent[]): Promise<States> {
  const states: States = new Map()
  await lock(
    tx,
    states,
    contents.flatMap(({ datasets }) =>
      datasets.flatMap(({ urn, knownAs }) => (knownAs ? [urn, knownAs] : [urn]))
    )
  )
  await lock(
    tx,
    states,
    contents.flatMap(({ job, followers, run }) => [
      ...(job ? [job.urn] : []),
      ...followers.map((each) => each.urn),
      ...(run ? [run.urn] : [])
    ])
  )
  // A job that declares anew may no longer say what goes into a dataset.
  await lock(
    tx,
    states,
    contents.flatMap(({ job }) => (job?.isDeclared ? madeBefore(states.get(job.urn)?.state ?? null) : []))
  )
  return states
}

async function lock(tx: Tx, states: States, urns: readonly Urn[]): Promise<void> {
  const rows = await lockStates(
    tx,
    urns.filter((urn) => !states.get(urn)?.isLocked)
  )
  for (const { urn, state, asserted } of rows)
    states.set(urn, { state, before: state, asserted, isLocked: true })
}

/** A dataset is known under few names one after the other; a circle of names ends at the name asked for. */
const namesMaxCount = 10

function nameIn(states: States, urn: Urn): Urn {
  let name = urn
  for (let count = 0; count < namesMaxCount; count += 1) {
    const next = nextName(states.get(name)?.state)
    if (next === null || next === urn) return name
    name = next
  }
  return name
}

const nextName = (state: State | null | undefined): Urn | null =>
  state?.kind === 'dataset' ? (state.knownAs?.value ?? null) : null

/** Where a dataset has got another name, what was said of it goes there, and whoever asserts edges of the old name is looked at again. */
async function adoptNames(tx: Tx, states: States): Promise<void> {
  const renamed = [...states]
    .filter(([, { state, before }]) => nextName(state) !== null && nextName(state) !== nextName(before))
    .map(([urn]) => urn)
  await lock(tx, states, await statedAround(tx, renamed))
  await readNames(tx, states)
  for (const [urn, held] of states) {
    const name = nameIn(states, urn)
    if (!held.isLocked || held.state?.kind !== 'dataset' || name === urn) continue
    await lock(tx, states, [name])
    const other = states.get(name)
    if (!other || (isEmptyDataset(held.state) && other.state)) continue
    const { table, path } = moveDataset(held.state, other.state)
    states.set(name, { ...other, state: table })
    states.set(urn, { ...held, state: path })
  }
}

/** Reads the datasets that states speak of, and what these are called now. */
async function readNames(tx: Tx, states: States): Promise<void> {
  for (let count = 0; count < namesMaxCount; count += 1) {
    const wanted = new Set<Urn>()
    for (const { state } of states.values()) {
      const name = nextName(state)
      for (const urn of [...(state ? datasetsNamed(state) : []), ...(name ? [name] : [])])
        if (!states.has(urn)) wanted.add(urn)
    }
    if (wanted.size === 0) return
    for (const urn of wanted) states.set(urn, { state: null, before: null, asserted: {}, isLocked: false })
    for (const { urn, state, asserted } of await readStates(tx, [...wanted]))
      states.set(urn, { state, before: state, asserted, isLocked: false })
  }
}

/** What makes the catalog say what the states assert, and that what is new exists. Remembers what is asserted from now on. */
function changesOf(states: States): Change[] {
  const changes: Change[] = []
  const nameOf = (urn: Urn): Urn => nameIn(states, urn)
  for (const [urn, held] of states) {
    const { state, before, asserted, isLocked } = held
    if (!isLocked || !state) continue
    if (!before && nameOf(urn) === urn) changes.push(...existence(urn, state))
    // It was taken for a dataset of its own until its other name was known.
    if (before?.kind === 'dataset' && nextName(before) === null && nextName(state) !== null)
      changes.push(upsertOf(urn, 'status', { removed: true }))
    const now = assertionsOf(urn, state, nameOf)
    const own = changesBetween(asserted, now)
    changes.push(...own)
    if (own.length > 0) states.set(urn, { ...held, asserted: now, before: null })
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
