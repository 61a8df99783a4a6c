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
import { datasetsOf, linkFrom, linkText, type Link } from './links.ts'

/** First and last time, in milliseconds since 1970. */
export type Span = [number, number]

type Dated<Value extends JsonValue> = { time: number; value: Value }
export type DatedFacts = { [name: string]: Dated<JsonValue> }
/** By the link as JSON. */
export type SeenLinks = { [link: string]: Span }

export type DatasetState = {
  kind: 'dataset'
  namespace: string
  name: string
  knownAs: Dated<Urn> | null
  facts: DatedFacts
  /** What runs of any job have made it from. */
  seen: SeenLinks
  /** What it is declared to be made from: by the URN of the job that declares it, and under an empty name by itself. */
  declared: { [by: string]: Dated<string[]> }
}
export type JobState = {
  kind: 'job'
  namespace: string
  name: string
  flowUrn: Urn
  facts: DatedFacts
  seen: SeenLinks
  declared: Dated<string[]> | null
}
export type RunState = {
  kind: 'run'
  runId: string
  startedMs: number
  jobUrn: Dated<Urn>
  parentUrn: Dated<Urn> | null
}
export type State = DatasetState | JobState | RunState

/** `stateOf` gives what is known, null for nothing; `put` takes what is known then. */
type Book = { stateOf: (urn: Urn) => State | null; put: (urn: Urn, state: State) => void }

/** Merges what an event says into the states. Those of all that the event speaks of, and of madeBefore, must be in the book. */
export function mergeContent({ timeMs, datasets, job, followers, run }: EventContent, book: Book): void {
  for (const dataset of datasets)
    book.put(dataset.urn, mergeDataset(book.stateOf(dataset.urn), dataset, timeMs))
  for (const each of job ? [job, ...followers] : []) mergeJob(book, each, timeMs)
  if (run) book.put(run.urn, mergeRun(book.stateOf(run.urn), run, timeMs))
}

/** The datasets of which a job has declared what goes into them. */
export const madeBefore = (state: State | null): Urn[] =>
  state?.kind === 'job' ? [...madeBy(state.declared?.value ?? []).keys()] : []

function mergeDataset(before: State | null, content: DatasetContent, time: number): DatasetState {
  const known = datasetOf(before, content)
  return {
    ...known,
    // Of two names for one URN the lesser is kept, whichever came first.
    ...(nameText(content) < nameText(known) ? { namespace: content.namespace, name: content.name } : {}),
    knownAs:
      content.knownAs === null || content.knownAs === content.urn
        ? known.knownAs
        : newest(known.knownAs, { time, value: content.knownAs }),
    facts: mergeFacts(known.facts, dated(content.facts, time)),
    declared:
      content.declared === null
        ? known.declared
        : declare(known, '', { time, value: textsOf(content.declared) })
  }
}

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

function mergeJob({ stateOf, put }: Book, content: JobContent, time: number): void {
  const before = stateOf(content.urn)
  const known = before?.kind === 'job' ? before : null
  const texts = textsOf(content.links)
  const declared = content.isDeclared
    ? newest(known?.declared ?? null, { time, value: texts })
    : (known?.declared ?? null)
  put(content.urn, {
    kind: 'job',
    namespace: content.namespace,
    name: content.name,
    flowUrn: content.flowUrn,
    facts: mergeFacts(known?.facts ?? {}, dated(content.facts, time)),
    seen: content.isDeclared
      ? (known?.seen ?? {})
      : addSeen(known?.seen ?? {}, seenAt({ time, value: texts })),
    declared
  })
  // A dataset that is made from others without the job between is told so itself: several jobs may say it.
  if (!content.isDeclared) {
    for (const [urn, links] of madeBy(texts)) {
      const state = stateOf(urn)
      if (state?.kind === 'dataset')
        put(urn, { ...state, seen: addSeen(state.seen, seenAt({ time, value: links })) })
    }
  } else if (declared !== null && declared !== known?.declared) {
    const now = madeBy(declared.value)
    for (const urn of new Set([...now.keys(), ...madeBefore(known)])) {
      const state = stateOf(urn)
      const links = { time: declared.time, value: now.get(urn) ?? [] }
      if (state?.kind === 'dataset') put(urn, { ...state, declared: declare(state, content.urn, links) })
    }
  }
}

/** The links that lead into a dataset directly, by the dataset. */
function madeBy(texts: readonly string[]): Map<Urn, string[]> {
  const made = new Map<Urn, string[]>()
  for (const text of texts) {
    const link = linkFrom(text)
    if (link[0] !== 'direct' && link[0] !== 'directColumn') continue
    const links = made.get(link[1])
    if (links) links.push(text)
    else made.set(link[1], [text])
  }
  return made
}

function addSeen(before: SeenLinks, more: SeenLinks): SeenLinks {
  const seen = { ...before }
  for (const [link, span] of Object.entries(more)) seen[link] = together(seen[link], span)
  return seen
}

/** What is declared counts as seen when it was declared. */
export const seenAt = ({ time, value }: { time: number; value: readonly string[] }): SeenLinks =>
  Object.fromEntries(value.map((link): [string, Span] => [link, [time, time]]))

function mergeRun(before: State | null, { runId, jobUrn, parentUrn }: RunContent, time: number): RunState {
  const known = before?.kind === 'run' ? before : null
  return {
    kind: 'run',
    runId,
    jobUrn: newest(known?.jobUrn ?? null, { time, value: jobUrn }),
    startedMs: Math.min(known?.startedMs ?? time, time),
    parentUrn:
      parentUrn === null
        ? (known?.parentUrn ?? null)
        : newest(known?.parentUrn ?? null, { time, value: parentUrn })
  }
}

/** What was said of one dataset under two names, and what is left under the old one. */
export function moveDataset(
  path: DatasetState,
  table: State | null
): { table: DatasetState; path: DatasetState } {
  const known = datasetOf(table, path)
  let joined: DatasetState = {
    ...known,
    facts: mergeFacts(known.facts, path.facts),
    seen: addSeen(known.seen, path.seen)
  }
  for (const [by, links] of Object.entries(path.declared))
    joined = { ...joined, declared: declare(joined, by, links) }
  return { table: joined, path: { ...path, facts: {}, seen: {}, declared: {} } }
}

/** Whether nothing was said of a dataset but its name. */
export const isEmptyDataset = ({ facts, seen, declared }: DatasetState): boolean =>
  [facts, seen, declared].every((each) => Object.keys(each).length === 0)

/** The datasets that a state speaks of, as events named them. */
export function datasetsNamed(state: State): Urn[] {
  if (state.kind === 'run') return []
  const declared =
    state.kind === 'job' ? (state.declared ? [state.declared] : []) : Object.values(state.declared)
  const texts = [...Object.keys(state.seen), ...declared.flatMap(({ value }) => value)]
  return texts.flatMap((text) => datasetsOf(linkFrom(text)))
}

const textsOf = (links: readonly Link[]): string[] => [...new Set(links.map(linkText))].sort()

const dated = (facts: { [name: string]: JsonValue }, time: number): DatedFacts =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, { time, value }]))

function mergeFacts(a: DatedFacts, b: DatedFacts): DatedFacts {
  const facts = { ...a }
  for (const [name, fact] of Object.entries(b)) facts[name] = newest(facts[name] ?? null, fact)
  return facts
}

/** Of two events at the same time the greater text decides: any rule will do that does not depend on which came first. */
function newest<Value extends JsonValue>(a: Dated<Value> | null, b: Dated<Value>): Dated<Value> {
  if (!a || b.time > a.time) return b
  return b.time < a.time || sortedText(a.value) >= sortedText(b.value) ? a : b
}

/** JSON with the keys in order: Postgres does not keep the order in which they came. */
const sortedText = (value: JsonValue): string =>
  JSON.stringify(value, (_key, each: JsonValue) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each
  )

/** The span of both. */
export const together = (a: Span | undefined, b: Span): Span =>
  a ? [Math.min(a[0], b[0]), Math.max(a[1], b[1])] : b
