/**
 * What is known of a dataset, a job or a run from all events together.
 *
 * Events come late, twice and in any order, so states are merged by rules in which order does not count: the newest event decides a fact,
 * links of runs add up with the first and the last time they were seen, and what a job or dataset event declares replaces what an older one did.
 */
import type { JsonValue } from '../model/changes.ts'
import { isObject } from '../model/json-values.ts'
import type { Urn } from '../urn/urn.ts'
import type { DatasetContent, EventContent, JobContent, RunContent } from './content.ts'
import type { OpenLineageName } from './event.ts'
import { datasetsOf, endsOf, linkFrom, linkText, type Link } from './links.ts'

/** First and last time, in milliseconds since 1970. */
export type Span = [number, number]

type Dated<Value extends JsonValue> = { time: number; value: Value }
export type DatedFacts = { [name: string]: Dated<JsonValue> }
/** By the link as JSON. */
export type SeenLinks = { [link: string]: Span }

/** What events say of a dataset. */
type Said = {
  facts: DatedFacts
  /** What runs of any job have made it from. */
  seen: SeenLinks
  /** What it is declared to be made from: by the URN of the job that declares it, and under an empty name by itself. */
  declared: { [by: string]: Dated<string[]> }
}

/** `isTable`: the name is that of a path, and the value the table there. */
export type Alias = Dated<Urn> & { isTable?: true }

export type DatasetState = Said & {
  kind: 'dataset'
  namespace: string
  name: string
  /** Its own URN where the name has been given to it again. */
  knownAs: Alias | null
  /** What is said of a path by events that name no table there, in the table that it is now. It leaves when the path becomes another table. */
  ofPaths?: { [path: string]: Said }
}
export type JobState = {
  kind: 'job'
  namespace: string
  name: string
  flowUrn: Urn
  facts: DatedFacts
  seen: SeenLinks
  declared: Dated<string[]> | null
  /** What others declare of it, by the URN of the job or dataset that does; absent where none has. */
  declaredBy?: { [by: string]: Dated<string[]> }
  /** The run that the newest event of any run is of; absent where none has been seen. */
  lastRun?: Dated<Urn>
}
export type RunState = {
  kind: 'run'
  runId: string
  startedMs: number
  jobUrn: Dated<Urn>
  parentUrn: Dated<Urn> | null
  /** The newest of the events that end a run; absent while it goes on. */
  ended?: Dated<EndType>
}
export type State = DatasetState | JobState | RunState

const endTypes = ['COMPLETE', 'FAIL', 'ABORT'] as const
type EndType = (typeof endTypes)[number]

/** The states that are loaded: `stateOf` gives null where nothing is known yet, `put` replaces a state. */
type LoadedStates = {
  stateOf: (urn: Urn) => State | null
  put: (urn: Urn, state: State) => void
  /** The dataset that has what was said of a path so far. */
  holderOf: (path: Urn) => Urn | null
}

/** Merges what an event says into the states. All that the event names, and what statesDeclaredBy gives, must be loaded. */
export function mergeContent(
  { timeMs, datasets, job, otherJobs, run }: EventContent,
  loaded: LoadedStates
): void {
  const former = new Map(datasets.map(({ urn }) => [urn, declarationOf(loaded.stateOf(urn))]))
  for (const dataset of datasets) {
    if (dataset.knownAs !== null) leaveAlias(loaded, dataset, timeMs)
    loaded.put(dataset.urn, mergeDataset(loaded.stateOf(dataset.urn), dataset, timeMs))
  }
  // What is said of others goes into states that are there.
  for (const each of job ? [...otherJobs, job] : otherJobs) mergeJob(loaded, each, timeMs)
  for (const { urn, declared } of datasets)
    if (declared !== null) declareElsewhere(loaded, urn, former.get(urn) ?? null)
  if (run) {
    loaded.put(run.urn, mergeRun(loaded.stateOf(run.urn), run, timeMs))
    const state = loaded.stateOf(run.jobUrn)
    if (state?.kind === 'job')
      loaded.put(run.jobUrn, {
        ...state,
        lastRun: newest(state.lastRun ?? null, { time: timeMs, value: run.urn })
      })
  }
}

/** The other states that change with what a job or a dataset declares. */
export const statesDeclaredBy = (state: State | null): Urn[] => [
  ...linksElsewhere(declarationOf(state)?.value ?? []).keys()
]

/** What its own newest event declares. */
function declarationOf(state: State | null): Dated<string[]> | null {
  if (state?.kind === 'job') return state.declared
  return state?.kind === 'dataset' ? (state.declared[''] ?? null) : null
}

function mergeDataset(before: State | null, content: DatasetContent, time: number): DatasetState {
  const known = datasetOf(before, content)
  if (known === before && saysNothingNew(known, content)) return known
  return {
    ...known,
    // Two names may become one URN. Always keeping the lesser makes the order of arrival irrelevant.
    ...(nameText(content) < nameText(known) ? { namespace: content.namespace, name: content.name } : {}),
    knownAs:
      content.knownAs === null
        ? known.knownAs
        : newest<Urn, Alias>(known.knownAs, {
            time,
            value: content.knownAs,
            ...(content.isTable ? { isTable: true } : {})
          }),
    facts: mergeFacts(known.facts, dated(content.facts, time)),
    declared:
      content.declared === null
        ? known.declared
        : declare(known, '', { time, value: textsOf(content.declared) })
  }
}

/**
 * What was said under a name before the name is given to another dataset belongs to the one that had it.
 * What was said of a path belongs to the table that it is now, whichever table it was then.
 */
function leaveAlias(loaded: LoadedStates, { urn, knownAs, isTable }: DatasetContent, time: number): void {
  const { stateOf, put } = loaded
  const state = stateOf(urn)
  if (state?.kind === 'dataset' && state.knownAs?.isTable && isTable) {
    if (state.knownAs.value !== knownAs && state.knownAs.time <= time) takeBack(loaded, urn, state)
    return
  }
  const alias = state?.kind === 'dataset' ? aliasOf(urn, state) : null
  const target = alias === null ? null : stateOf(alias)
  if (alias === null || state?.kind !== 'dataset' || target?.kind !== 'dataset' || isEmptyDataset(state))
    return
  const { renamed, former } = moveDataset(urn, state, target)
  put(alias, renamed)
  put(urn, former)
}

/** Gives what was said of a path back to it by the table that had it. */
function takeBack({ put, stateOf, holderOf }: LoadedStates, path: Urn, state: DatasetState): void {
  const holder = holderOf(path)
  const held = holder === null ? null : stateOf(holder)
  if (holder === null || held?.kind !== 'dataset') return
  const { [path]: said, ...others } = held.ofPaths ?? {}
  if (!said) return
  put(holder, { ...held, ofPaths: others })
  put(path, { ...state, ...joined(state, said) })
}

/** The name that a dataset goes by instead of its own; null where that is its own. */
export const aliasOf = (urn: Urn, { knownAs }: Pick<DatasetState, 'knownAs'>): Urn | null =>
  knownAs === null || knownAs.value === urn ? null : knownAs.value

/** Most inputs are a name and nothing more. */
const saysNothingNew = (known: DatasetState, content: DatasetContent): boolean =>
  content.declared === null &&
  content.knownAs === null &&
  Object.keys(content.facts).length === 0 &&
  nameText(content) >= nameText(known)

const nameText = ({ namespace, name }: OpenLineageName): string => JSON.stringify([namespace, name])

const datasetOf = (state: State | null, { namespace, name }: OpenLineageName): DatasetState =>
  state?.kind === 'dataset'
    ? state
    : { kind: 'dataset', namespace, name, knownAs: null, facts: {}, seen: {}, declared: {} }

const declare = (
  { declared }: DatasetState,
  by: string,
  links: Dated<string[]>
): DatasetState['declared'] => ({ ...declared, [by]: newest(declared[by] ?? null, links) })

function mergeJob(loaded: LoadedStates, content: JobContent, time: number): void {
  const { stateOf, put } = loaded
  const before = stateOf(content.urn)
  const known = before?.kind === 'job' ? before : null
  if (known && saysNothing(content)) return
  const texts = textsOf(content.links)
  const declared = content.isDeclared
    ? newest(known?.declared ?? null, { time, value: texts })
    : (known?.declared ?? null)
  put(content.urn, {
    kind: 'job',
    namespace: content.namespace,
    name: content.name,
    flowUrn: content.flowUrn,
    ...(known?.lastRun ? { lastRun: known.lastRun } : {}),
    ...(known?.declaredBy ? { declaredBy: known.declaredBy } : {}),
    facts: mergeFacts(known?.facts ?? {}, dated(content.facts, time)),
    seen: content.isDeclared
      ? (known?.seen ?? {})
      : addSeen(known?.seen ?? {}, seenAt({ time, value: texts })),
    declared
  })
  if (content.isDeclared) {
    declareElsewhere(loaded, content.urn, known?.declared ?? null)
    return
  }
  for (const [urn, links] of linksElsewhere(texts)) {
    const state = stateOf(urn)
    if (state && state.kind !== 'run')
      put(urn, { ...state, seen: addSeen(state.seen, seenAt({ time, value: links })) })
  }
}

/** A job that is named only as an end of what is said of another. */
const saysNothing = ({ facts, links, isDeclared }: JobContent): boolean =>
  !isDeclared && links.length === 0 && Object.keys(facts).length === 0

/** Where the declaration of a job or a dataset is no longer the former one: puts what it says into the states of others, in place of what the former said. */
function declareElsewhere({ stateOf, put }: LoadedStates, by: Urn, former: Dated<string[]> | null): void {
  const declared = declarationOf(stateOf(by))
  if (declared === null || declared === former) return
  const now = linksElsewhere(declared.value)
  for (const urn of new Set([...now.keys(), ...linksElsewhere(former?.value ?? []).keys()])) {
    const state = stateOf(urn)
    const links = { [by]: { time: declared.time, value: now.get(urn) ?? [] } }
    if (urn === by || !state) continue
    if (state.kind === 'dataset') put(urn, { ...state, declared: { ...state.declared, ...links } })
    if (state.kind === 'job') put(urn, { ...state, declaredBy: { ...state.declaredBy, ...links } })
  }
}

/** Links that others assert, by who does: those from dataset to dataset the downstream one, for several jobs may state it; those of another job that job. */
function linksElsewhere(texts: readonly string[]): Map<Urn, string[]> {
  const found = new Map<Urn, string[]>()
  for (const text of texts) {
    const [urn, own] = linkElsewhere(text)
    if (urn === null) continue
    const links = found.get(urn)
    if (links) links.push(own)
    else found.set(urn, [own])
  }
  return found
}

/** Who asserts it, and the link there; null where it is the one who has stated it. */
function linkElsewhere(text: string): [Urn | null, string] {
  const link = linkFrom(text)
  if (link[0] === 'direct' || link[0] === 'directColumn') return [link[1], text]
  return link[0] === 'ofJob' ? [link[1], linkText([link[2], link[3]])] : [null, text]
}

function addSeen(before: SeenLinks, more: SeenLinks): SeenLinks {
  const seen = { ...before }
  for (const [link, span] of Object.entries(more)) seen[link] = together(seen[link], span)
  return seen
}

/** Declared links with the time of the declaration as their span. */
export const seenAt = ({ time, value }: { time: number; value: readonly string[] }): SeenLinks =>
  Object.fromEntries(value.map((link): [string, Span] => [link, [time, time]]))

function mergeRun(
  before: State | null,
  { runId, jobUrn, parentUrn, eventType }: RunContent,
  time: number
): RunState {
  const known = before?.kind === 'run' ? before : null
  const end = endTypes.find((type) => type === eventType)
  const ended = end === undefined ? known?.ended : newest(known?.ended ?? null, { time, value: end })
  return {
    kind: 'run',
    runId,
    jobUrn: newest(known?.jobUrn ?? null, { time, value: jobUrn }),
    startedMs: Math.min(known?.startedMs ?? time, time),
    parentUrn:
      parentUrn === null
        ? (known?.parentUrn ?? null)
        : newest(known?.parentUrn ?? null, { time, value: parentUrn }),
    ...(ended ? { ended } : {})
  }
}

/** Joins what is known of a dataset under its former name to what is known under the new one; only the alias stays with the former. */
export function moveDataset(
  urn: Urn,
  former: DatasetState,
  renamed: State | null
): { renamed: DatasetState; former: DatasetState } {
  const { ofPaths: ofFormer = {}, ...own } = former
  const known = datasetOf(renamed, own)
  // Of a path apart, for the path may become another table.
  const moving = Object.entries({
    ...ofFormer,
    ...(own.knownAs?.isTable && hasSaid(own) ? { [urn]: said(own) } : {})
  })
  const ofPaths = { ...known.ofPaths }
  for (const [path, each] of moving) ofPaths[path] = joined(ofPaths[path] ?? nothing, each)
  return {
    renamed: {
      ...known,
      ...(own.knownAs?.isTable ? {} : joined(known, own)),
      ...(Object.keys(ofPaths).length > 0 ? { ofPaths } : {})
    },
    former: { ...own, ...nothing }
  }
}

const nothing: Said = { facts: {}, seen: {}, declared: {} }
const said = ({ facts, seen, declared }: Said): Said => ({ facts, seen, declared })
const hasSaid = (each: Said): boolean =>
  Object.values(said(each)).some((part) => Object.keys(part).length > 0)

function joined(a: Said, b: Said): Said {
  const declared = { ...a.declared }
  for (const [by, links] of Object.entries(b.declared)) declared[by] = newest(declared[by] ?? null, links)
  return { facts: mergeFacts(a.facts, b.facts), seen: addSeen(a.seen, b.seen), declared }
}

/** All that is said of a dataset, also as a path. */
export const allSaid = (state: DatasetState): Said =>
  Object.values(state.ofPaths ?? {}).reduce<Said>(joined, state)

/** Whether nothing but its name is known. */
export const isEmptyDataset = (state: DatasetState): boolean =>
  !hasSaid(state) && Object.keys(state.ofPaths ?? {}).length === 0

/** The datasets in the links of a state, under the names that events used. */
export function datasetsNamed(state: State): Urn[] {
  if (state.kind === 'run') return []
  const texts = linkListsOf(state).flatMap((links) => Object.keys(links))
  return texts.flatMap((text) => datasetsOf(linkFrom(text)))
}

/** The links that runs have shown, and those of each declaration, its own and those of others. */
export function linkListsOf(state: DatasetState | JobState): SeenLinks[] {
  if (state.kind === 'dataset') {
    const { seen, declared } = allSaid(state)
    return [seen, ...Object.values(declared).map(seenAt)]
  }
  const declared = [...(state.declared ? [state.declared] : []), ...Object.values(state.declaredBy ?? {})]
  return [state.seen, ...declared.map(seenAt)]
}

/** Where more links are known from runs, all but those used last are forgotten; some at a time. */
const linksMaxCount = 1_250
const linksKeptCount = 1_000
/** Links used so long before the newest one are not forgotten, however many there are. */
const runMaxMs = 24 * 60 * 60 * 1_000

/** The state without links that runs used long ago, where there are very many: a job may write another path each day. The same object where there are not. */
export function withoutOldLinks(state: State): State {
  if (state.kind === 'run' || Object.keys(state.seen).length <= linksMaxCount) return state
  const newestFirst = Object.entries(state.seen).sort(
    ([textA, [, a]], [textB, [, b]]) => b - a || (textA < textB ? -1 : 1)
  )
  const newestMs = newestFirst[0]?.[1][1] ?? 0
  const kept = newestFirst.filter(
    ([, [, lastMs]], index) => index < linksKeptCount || lastMs >= newestMs - runMaxMs
  )
  return kept.length === newestFirst.length ? state : { ...state, seen: Object.fromEntries(kept) }
}

/** The state without all links that lead to or from what has been deleted; the same object where there are none. */
export function withoutEnds(state: State, gone: ReadonlySet<Urn>): State {
  const stays = (text: string): boolean => !endsOf(linkFrom(text)).some((urn) => gone.has(urn))
  if (state.kind === 'run') return state
  const seen = keptKeys(state.seen, stays)
  if (state.kind === 'job') {
    const declared = state.declared && keptLinks(state.declared, stays)
    const declaredBy = state.declaredBy && keptDeclarations(state.declaredBy, stays)
    const isSame = seen === state.seen && declared === state.declared && declaredBy === state.declaredBy
    return isSame ? state : { ...state, seen, declared, ...(declaredBy ? { declaredBy } : {}) }
  }
  const declared = keptDeclarations(state.declared, stays)
  return seen === state.seen && declared === state.declared ? state : { ...state, seen, declared }
}

type Stays = (text: string) => boolean

const keptKeys = (seen: SeenLinks, stays: Stays): SeenLinks =>
  Object.keys(seen).every(stays)
    ? seen
    : Object.fromEntries(Object.entries(seen).filter(([text]) => stays(text)))

const keptLinks = (declared: Dated<string[]>, stays: Stays): Dated<string[]> =>
  declared.value.every(stays) ? declared : { ...declared, value: declared.value.filter(stays) }

function keptDeclarations(
  declared: { [by: string]: Dated<string[]> },
  stays: Stays
): { [by: string]: Dated<string[]> } {
  const kept = Object.entries(declared).map(([by, links]) => [by, keptLinks(links, stays)] as const)
  return kept.every(([by, links]) => links === declared[by]) ? declared : Object.fromEntries(kept)
}

const textsOf = (links: readonly Link[]): string[] => [...new Set(links.map(linkText))].sort()

const dated = (facts: { [name: string]: JsonValue }, time: number): DatedFacts =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, { time, value }]))

function mergeFacts(a: DatedFacts, b: DatedFacts): DatedFacts {
  const facts = { ...a }
  for (const [name, fact] of Object.entries(b)) facts[name] = newest(facts[name] ?? null, fact)
  return facts
}

/** The newer fact. Ties are broken by comparing the values as JSON, so that the order of arrival does not matter. */
function newest<Value extends JsonValue, Fact extends Dated<Value> = Dated<Value>>(
  a: Fact | null,
  b: Fact
): Fact {
  if (!a || b.time > a.time) return b
  return b.time < a.time || sortedText(a.value) >= sortedText(b.value) ? a : b
}

/** JSON with sorted keys: jsonb does not keep the order of keys. */
const sortedText = (value: JsonValue): string =>
  JSON.stringify(value, (_key, each: JsonValue) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each
  )

/** The span of both. */
export const together = (a: Span | undefined, b: Span): Span =>
  a ? [Math.min(a[0], b[0]), Math.max(a[1], b[1])] : b
