/**
 * The state of a dataset, a job or a run: all events about it together.
 *
 * Events arrive late, twice and in any order, so they are merged by rules that do not depend on the order.
 * The newest event decides a fact. Links of runs accumulate, with the first and the last time that each was
 * seen. Of the links between columns, those count that were seen since the newest run began to state any for
 * the same dataset. The declaration in a job or dataset event replaces an older declaration.
 */
import { limits } from '../limits.ts'
import type { JsonValue } from '../model/changes.ts'
import type { Urn } from '../urn/urn.ts'
import type { DatasetContent, EventContent, JobContent, RunContent } from './content.ts'
import { newest, type Dated } from './dated.ts'
import type { OpenLineageName } from './event.ts'
import { datasetsOf, endsOf, linkFrom, linkText, type Link } from './links.ts'
import { shownPartsMaxCount, type DroppedParts } from './parts.ts'
import { reportIn, type ReportState } from './run-reports.ts'

/** The first and the last time, in milliseconds since 1970. */
export type Span = [number, number]

export type DatedFacts = { [name: string]: Dated<JsonValue> }
/** Spans by link; the key is the link as JSON. */
export type SeenLinks = { [link: string]: Span }

/**
 * The times at which runs stated columns, by the other end of the statement (in the state of a job the
 * dataset that it writes, in the state of a dataset the job), and by run.
 */
export type ColumnRuns = { [by: string]: { [run: string]: Span } }

/** The facts about a dataset that events state under one name. */
type NamedPart = {
  facts: DatedFacts
  /** The sources seen in runs of any job. */
  seen: SeenLinks
  /**
   * The declared sources, by the URN of the declaring job; under an empty name, the sources that the dataset
   * itself declares.
   */
  declared: { [by: string]: Dated<string[]> }
  /** By the URN of the job; absent if no run has stated columns with the facet `lineage`. */
  columnRuns?: ColumnRuns
}

/** `isTable`: the aliased name is a path, and the value its table. */
export type Alias = Dated<Urn> & { isTable?: true }

export type DatasetState = NamedPart & {
  kind: 'dataset'
  namespace: string
  name: string
  /** The present name; the dataset's own URN if the name was given back to it. */
  knownAs: Alias | null
  /** Its platform instance according to the operator's connections; absent without one. */
  instanceUrn?: Urn
  /**
   * The facts that events state about it under its other names: its paths, and its names before renames. Each
   * name has its own part, because a job may declare the lineage of several names, and then declare less
   * under one of them, and because a path may become another table. The stored field is called after paths,
   * which were its only names at first. A process of the version before looks for it there, and would remove
   * the edges that it does not find.
   */
  ofPaths?: { [name: string]: NamedPart }
}
export type JobState = {
  kind: 'job'
  namespace: string
  name: string
  flowUrn: Urn
  facts: DatedFacts
  seen: SeenLinks
  declared: Dated<string[]> | null
  /** Links of this job that others declare, by the URN of that job or dataset; absent if there are none. */
  declaredBy?: { [by: string]: Dated<string[]> }
  /** The run of the newest run event; absent without such an event. */
  lastRun?: Dated<Urn>
  /** By the URN of the dataset written, under the name that events used; absent if runs state no columns. */
  columnRuns?: ColumnRuns
}
export type RunState = {
  kind: 'run'
  runId: string
  startedMs: number
  jobUrn: Dated<Urn>
  parentUrn: Dated<Urn> | null
  /** The newest event that ends the run; absent while it runs. */
  ended?: Dated<EndType>
  /** The datasets that the run read and wrote, by name; absent if its events name none. */
  inputs?: Urn[]
  outputs?: Urn[]
  /** The parts of its events that were left out; absent if there are none. */
  dropped?: DroppedParts
  /** What its events report; absent if they report nothing. */
  report?: ReportState
}

export type State = DatasetState | JobState | RunState

const endTypes = ['COMPLETE', 'FAIL', 'ABORT'] as const
type EndType = (typeof endTypes)[number]

/** The loaded states. `stateOf` returns null for an entity without a state; `put` replaces a state. */
type LoadedStates = {
  stateOf: (urn: Urn) => State | null
  put: (urn: Urn, state: State) => void
  /** The table whose state has the content of a path. */
  holderOf: (path: Urn) => Urn | null
}

/**
 * Merges an event into the states. The states of everything that the event names, and those in
 * statesDeclaredBy, must be loaded.
 */
export function mergeContent(
  { timeMs, datasets, job, otherJobs, run }: EventContent,
  loaded: LoadedStates
): void {
  const former = new Map(datasets.map(({ urn }) => [urn, declarationOf(loaded.stateOf(urn))]))
  for (const dataset of datasets) {
    if (dataset.knownAs !== null) leaveAlias(loaded, dataset, timeMs)
    loaded.put(dataset.urn, mergeDataset(loaded.stateOf(dataset.urn), dataset, timeMs))
  }
  // The other jobs are merged first, so that the links declared for them find their states.
  for (const each of otherJobs) mergeJob(loaded, each, timeMs, null)
  if (job) mergeJob(loaded, job, timeMs, run?.urn ?? null)
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

/** The other states that change with the declaration of a job or a dataset. */
export const statesDeclaredBy = (state: State | null): Urn[] => [
  ...linksElsewhere(declarationOf(state)?.value ?? []).keys()
]

/** The declaration in the newest event of the entity itself. For a dataset, under this name. */
function declarationOf(state: State | null): Dated<string[]> | null {
  if (state?.kind === 'job') return state.declared
  return state?.kind === 'dataset' ? (state.declared[''] ?? null) : null
}

function mergeDataset(before: State | null, content: DatasetContent, time: number): DatasetState {
  const known = datasetOf(before, content)
  if (known === before && addsNothing(known, content)) return known
  return {
    ...known,
    // Two names may become one URN. The lesser name is kept, so that the order of arrival does not matter.
    ...(nameText(content) < nameText(known) ? { namespace: content.namespace, name: content.name } : {}),
    knownAs:
      content.knownAs === null
        ? known.knownAs
        : aliasAfter(known.knownAs, content.knownAs, content.isTable, time),
    ...(content.instanceUrn === null ? {} : { instanceUrn: content.instanceUrn }),
    facts: mergeFacts(known.facts, dated(content.facts, time)),
    declared:
      content.declared === null
        ? known.declared
        : declare(known, '', { time, value: textsOf(content.declared) })
  }
}

const aliasAfter = (known: Alias | null, value: Urn, isTable: boolean, time: number): Alias =>
  newest<Urn, Alias>(known, { time, value, ...(isTable ? { isTable: true } : {}) })

/**
 * Before a name is given to another dataset, its state moves to the dataset that had the name. The content of
 * a path moves to its present table, whichever table the path had when the content was stated.
 */
function leaveAlias(loaded: LoadedStates, { urn, knownAs, isTable }: DatasetContent, time: number): void {
  const { stateOf, put } = loaded
  const state = stateOf(urn)
  if (state?.kind === 'dataset' && state.knownAs?.isTable && isTable) {
    if (state.knownAs.value !== knownAs && state.knownAs.time <= time) returnToPath(loaded, urn, state)
    return
  }
  const alias = state?.kind === 'dataset' ? aliasOf(urn, state) : null
  const target = alias === null ? null : stateOf(alias)
  if (alias === null || state?.kind !== 'dataset' || target?.kind !== 'dataset' || isEmptyDataset(state))
    return
  const { renamed, former } = moveDataset(urn, state, alias, target)
  put(alias, renamed)
  const isSameName = knownAs === null || aliasAfter(state.knownAs, knownAs, isTable, time).value === alias
  put(urn, isSameName ? former : { ...former, ...nothing })
}

/** Moves the content of a path from its table back to the path. */
function returnToPath({ put, stateOf, holderOf }: LoadedStates, path: Urn, state: DatasetState): void {
  const holder = holderOf(path)
  const held = holder === null ? null : stateOf(holder)
  if (holder === null || held?.kind !== 'dataset') return
  const { [path]: before, ...others } = held.ofPaths ?? {}
  if (!before) return
  put(holder, { ...held, ofPaths: others })
  put(path, { ...state, ...joinParts(before, state) })
}

/** The present name of a dataset; null if it is the dataset's own name. */
export const aliasOf = (urn: Urn, { knownAs }: Pick<DatasetState, 'knownAs'>): Urn | null =>
  knownAs === null || knownAs.value === urn ? null : knownAs.value

/** A quick check, because most inputs have only a name. */
const addsNothing = (known: DatasetState, content: DatasetContent): boolean =>
  content.declared === null &&
  content.knownAs === null &&
  Object.keys(content.facts).length === 0 &&
  (content.instanceUrn === null || content.instanceUrn === known.instanceUrn) &&
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

function mergeJob(loaded: LoadedStates, content: JobContent, time: number, run: Urn | null): void {
  const { stateOf, put } = loaded
  const before = stateOf(content.urn)
  const known = before?.kind === 'job' ? before : null
  if (known && isEmptyContent(content)) return
  const texts = textsOf(content.links)
  const declared = content.isDeclared
    ? newest(known?.declared ?? null, { time, value: texts })
    : (known?.declared ?? null)
  const columnRuns = addColumnRuns(known?.columnRuns, run, time, writtenColumns(content.links))
  put(content.urn, {
    kind: 'job',
    namespace: content.namespace,
    name: content.name,
    flowUrn: content.flowUrn,
    ...(known?.lastRun ? { lastRun: known.lastRun } : {}),
    ...(known?.declaredBy ? { declaredBy: known.declaredBy } : {}),
    ...(columnRuns ? { columnRuns } : {}),
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
    if (!state || state.kind === 'run') continue
    const seen = addSeen(state.seen, seenAt({ time, value: links }))
    const hasColumns = links.some((text) => linkFrom(text)[0] === 'directColumn')
    const runs = addColumnRuns(state.columnRuns, run, time, hasColumns ? [content.urn] : [])
    put(urn, { ...state, seen, ...(runs ? { columnRuns: runs } : {}) })
  }
}

/** The datasets for which links state columns through the job. */
const writtenColumns = (links: readonly Link[]): Urn[] =>
  links.flatMap((link) => (link[0] === 'column' ? [link[1]] : []))

/** Runs of one job that may state columns of one dataset in turns. What older ones stated has ended. */
const columnRunsKeptCount = 10

function addColumnRuns(
  before: ColumnRuns | undefined,
  run: Urn | null,
  time: number,
  ends: readonly Urn[]
): ColumnRuns | undefined {
  if (run === null || ends.length === 0) return before
  return joinColumnRuns(before, Object.fromEntries(ends.map((end) => [end, { [run]: [time, time] }])))
}

function joinColumnRuns(a: ColumnRuns | undefined, b: ColumnRuns | undefined): ColumnRuns | undefined {
  if (!a || !b) return a ?? b
  const joined = { ...a }
  for (const [end, runs] of Object.entries(b)) {
    const all = addSeen(joined[end] ?? {}, runs)
    const newestFirst = Object.entries(all).sort(
      ([runA, [, lastA]], [runB, [, lastB]]) => lastB - lastA || (runA < runB ? -1 : 1)
    )
    joined[end] = Object.fromEntries(newestFirst.slice(0, columnRunsKeptCount))
  }
  return joined
}

/**
 * The links of runs that count now. A link between columns counts if it was seen since the newest run began to
 * state columns between the same ends. Links of runs that overlap with it count too, because their events are
 * mixed.
 */
function presentLinks({ seen, columnRuns }: { seen: SeenLinks; columnRuns?: ColumnRuns }): SeenLinks {
  if (!columnRuns) return seen
  const since = new Map(
    Object.entries(columnRuns).map(([end, runs]) => {
      const newest = Math.max(...Object.values(runs).map(([, last]) => last))
      const ofNewest = Object.values(runs).filter(([, last]) => last === newest)
      return [end, Math.min(...ofNewest.map(([first]) => first))]
    })
  )
  return Object.fromEntries(
    Object.entries(seen).filter(([text, [, last]]) => {
      const end = endOfColumn(linkFrom(text))
      return end === undefined || last >= (since.get(end) ?? 0)
    })
  )
}

/** The end by which the runs of a link between columns are kept; undefined for other links and declarations. */
const endOfColumn = (link: Link): string | undefined =>
  link[0] === 'column' ? link[1] : link[0] === 'directColumn' ? link[6] : undefined

/** True for a job that is only named in links of another job. */
const isEmptyContent = ({ facts, links, isDeclared }: JobContent): boolean =>
  !isDeclared && links.length === 0 && Object.keys(facts).length === 0

/**
 * If the declaration of a job or a dataset has changed, replaces the links that the former declaration put
 * into the states of others.
 */
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

/**
 * The links in a declaration that others assert, by that entity. A link from dataset to dataset is asserted
 * by the downstream dataset, because several jobs may declare it; a link of another job is asserted by that
 * job.
 */
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

/**
 * The entity that asserts the link, and the form of the link there; null if the declaring entity asserts it.
 */
function linkElsewhere(text: string): [Urn | null, string] {
  const link = linkFrom(text)
  if (link[0] === 'direct' || link[0] === 'directColumn') return [link[1], text]
  return link[0] === 'ofJob' ? [link[1], linkText([link[2], link[3]])] : [null, text]
}

function addSeen(before: SeenLinks, more: SeenLinks): SeenLinks {
  const seen = { ...before }
  for (const [link, span] of Object.entries(more)) seen[link] = spanOfBoth(seen[link], span)
  return seen
}

/** Declared links, with the time of the declaration as their span. */
export const seenAt = ({ time, value }: { time: number; value: readonly string[] }): SeenLinks =>
  Object.fromEntries(value.map((link): [string, Span] => [link, [time, time]]))

function mergeRun(
  before: State | null,
  { runId, jobUrn, parentUrn, eventType, inputs, outputs, dropped, report }: RunContent,
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
    ...(ended ? { ended } : {}),
    ...namesIn('inputs', known?.inputs, inputs),
    ...namesIn('outputs', known?.outputs, outputs),
    ...(known?.dropped || dropped.count > 0 ? { dropped: addDropped(known?.dropped, dropped) } : {}),
    ...reportIn(known?.report, report, time)
  }
}

/** Keeps the first parts in the order of their texts, so that the order of arrival does not matter. */
function addDropped(known: DroppedParts | undefined, more: DroppedParts): DroppedParts {
  const texts = new Map(
    [...(known?.first ?? []), ...more.first].map((part) => [`${part.field} ${part.reason}`, part])
  )
  return {
    count: (known?.count ?? 0) + more.count,
    first: [...texts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, shownPartsMaxCount)
      .map(([, part]) => part)
  }
}

/** One more than are shown, so that a run with more can say so. */
const runNamesKeptCount = limits.runDatasetsMaxCount + 1

/** The names of both lists. The least ones are kept, so that the order of arrival does not matter. */
function namesIn<Key extends 'inputs' | 'outputs'>(
  key: Key,
  known: readonly Urn[] | undefined,
  more: readonly Urn[]
): { [key in Key]?: Urn[] } {
  const all = [...new Set([...(known ?? []), ...more])].sort().slice(0, runNamesKeptCount)
  return all.length === 0 ? {} : ({ [key]: all } as { [key in Key]?: Urn[] })
}

/**
 * Moves the state of a dataset under its former name to the state under `name`. Under the former name only
 * two things remain: the alias, and what the dataset itself declares, which decides whether another event of
 * the dataset is newer.
 */
export function moveDataset(
  urn: Urn,
  former: DatasetState,
  name: Urn,
  renamed: State | null
): { renamed: DatasetState; former: DatasetState } {
  const { ofPaths: ofFormer = {}, ...own } = former
  let known = datasetOf(renamed, own)
  const moving = Object.entries({ ...ofFormer, ...(hasContent(own) ? { [urn]: partOf(own) } : {}) })
  for (const [other, part] of moving)
    known =
      other === name
        ? { ...known, ...joinParts(part, known) }
        : {
            ...known,
            ofPaths: { ...known.ofPaths, [other]: joinParts(known.ofPaths?.[other] ?? nothing, part) }
          }
  const { '': declared } = own.declared
  return { renamed: known, former: { ...own, ...nothing, declared: declared ? { '': declared } : {} } }
}

const nothing: NamedPart = { facts: {}, seen: {}, declared: {}, columnRuns: {} }
const partOf = ({ facts, seen, declared, columnRuns }: NamedPart): NamedPart => ({
  facts,
  seen,
  declared,
  ...(columnRuns ? { columnRuns } : {})
})
const hasContent = (each: NamedPart): boolean =>
  Object.values(partOf(each)).some((part) => Object.keys(part).length > 0)

/**
 * Joins the part that was stated under a name before it moved with the part that was stated under the same
 * name afterwards. The later declaration of a job or of another dataset is the present one, even if both have
 * the same time: declareElsewhere writes only what counts.
 */
function joinParts(before: NamedPart, later: NamedPart): NamedPart {
  const own = later.declared['']
  const columnRuns = joinColumnRuns(before.columnRuns, later.columnRuns)
  return {
    facts: mergeFacts(before.facts, later.facts),
    seen: addSeen(before.seen, later.seen),
    ...(columnRuns ? { columnRuns } : {}),
    declared: {
      ...before.declared,
      ...later.declared,
      ...(own ? { '': newest(before.declared[''] ?? null, own) } : {})
    }
  }
}

/** The part of a dataset under its own name, and the parts under its other names. */
const partsOf = (state: DatasetState): NamedPart[] => [state, ...Object.values(state.ofPaths ?? {})]

/** The facts of a dataset, under whichever name they were stated. */
export const factsOf = (state: DatasetState): DatedFacts =>
  partsOf(state).reduce<DatedFacts>((facts, part) => mergeFacts(facts, part.facts), {})

/** Changes each part. Returns the same object if `change` returns each part unchanged. */
function withParts(state: DatasetState, change: (part: NamedPart) => NamedPart): DatasetState {
  const own = change(state)
  const others = Object.entries(state.ofPaths ?? {}).map(
    ([name, part]) => [name, part, change(part)] as const
  )
  if (own === state && others.every(([, before, after]) => before === after)) return state
  const ofPaths = Object.fromEntries(others.map(([name, , after]) => [name, after]))
  return { ...state, ...partOf(own), ...(others.length > 0 ? { ofPaths } : {}) }
}

/** Whether only the name of the dataset is known. */
export const isEmptyDataset = (state: DatasetState): boolean =>
  !hasContent(state) && Object.keys(state.ofPaths ?? {}).length === 0

/** The datasets in the links of a state, under the names that events used. */
export function datasetsNamed(state: State): Urn[] {
  if (state.kind === 'run') return []
  const texts = linkListsOf(state).flatMap((links) => Object.keys(links))
  return texts.flatMap((text) => datasetsOf(linkFrom(text)))
}

/**
 * The links seen in runs that count now, and the links of each declaration, by the entity itself and by others. Of the
 * declarations of a dataset itself, only the newest counts, under whichever name; of the declarations of a
 * job, all names count.
 */
export function linkListsOf(state: DatasetState | JobState): SeenLinks[] {
  if (state.kind === 'dataset') {
    let own: Dated<string[]> | null = null
    const lists: SeenLinks[] = []
    for (const part of partsOf(state)) {
      lists.push(presentLinks(part))
      for (const [by, links] of Object.entries(part.declared))
        if (by === '') own = newest<string[]>(own, links)
        else lists.push(seenAt(links))
    }
    return own ? [...lists, seenAt(own)] : lists
  }
  const declared = [...(state.declared ? [state.declared] : []), ...Object.values(state.declaredBy ?? {})]
  return [presentLinks(state), ...declared.map(seenAt)]
}

/** If runs have shown more links than this, the least recently used links are forgotten, some at a time. */
const linksMaxCount = 1_250
const linksKeptCount = 1_000
/** Links that were used within this time before the newest link are kept, whatever their number. */
const runMaxMs = 24 * 60 * 60 * 1_000

/**
 * Forgets old links of runs if there are very many, as for a job that writes a new path each day. Returns the
 * same object if nothing is forgotten.
 */
export function withoutOldLinks(state: State): State {
  if (state.kind === 'run') return state
  if (state.kind === 'dataset') return withParts(state, withoutOldSeen)
  return withoutOldSeen(state)
}

function withoutOldSeen<Part extends { seen: SeenLinks; columnRuns?: ColumnRuns }>(part: Part): Part {
  if (Object.keys(part.seen).length <= linksMaxCount) return part
  const newestFirst = Object.entries(part.seen).sort(
    ([textA, [, a]], [textB, [, b]]) => b - a || (textA < textB ? -1 : 1)
  )
  const newestMs = newestFirst[0]?.[1][1] ?? 0
  const kept = newestFirst.filter(
    ([, [, lastMs]], index) => index < linksKeptCount || lastMs >= newestMs - runMaxMs
  )
  if (kept.length === newestFirst.length) return part
  const seen = Object.fromEntries(kept)
  return { ...part, seen, ...(part.columnRuns ? { columnRuns: columnRunsOf(part.columnRuns, seen) } : {}) }
}

/** The runs that stated any of the links. */
function columnRunsOf(columnRuns: ColumnRuns, seen: SeenLinks): ColumnRuns {
  const ends = new Set(Object.keys(seen).map((text) => endOfColumn(linkFrom(text))))
  return Object.fromEntries(Object.entries(columnRuns).filter(([end]) => ends.has(end)))
}

/** The state without links to or from deleted entities; the same object if it has no such links. */
export function withoutEnds(state: State, gone: ReadonlySet<Urn>): State {
  const stays = (text: string): boolean => !endsOf(linkFrom(text)).some((urn) => gone.has(urn))
  if (state.kind === 'run') return state
  if (state.kind === 'dataset')
    return withParts(state, (part) => {
      const seen = keptKeys(part.seen, stays)
      const declared = keptDeclarations(part.declared, stays)
      return seen === part.seen && declared === part.declared ? part : { ...part, seen, declared }
    })
  const seen = keptKeys(state.seen, stays)
  const declared = state.declared && keptLinks(state.declared, stays)
  const declaredBy = state.declaredBy && keptDeclarations(state.declaredBy, stays)
  const isSame = seen === state.seen && declared === state.declared && declaredBy === state.declaredBy
  return isSame ? state : { ...state, seen, declared, ...(declaredBy ? { declaredBy } : {}) }
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

/** The span that covers both spans. */
export const spanOfBoth = (a: Span | undefined, b: Span): Span =>
  a ? [Math.min(a[0], b[0]), Math.max(a[1], b[1])] : b
