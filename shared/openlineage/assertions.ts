/**
 * Computes what states assert in the catalog: aspects, and entries of aspects, each by the path with which a
 * patch adds it.
 */
import { isDeepStrictEqual } from 'node:util'
import { limits } from '../limits.ts'
import type { Change, JsonObject, JsonValue, PatchOperation } from '../model/changes.ts'
import { prepareAspect } from '../model/aspect-registry.ts'
import { isObject, listOf } from '../model/json-values.ts'
import { preparePatch } from '../model/prepare-patch.ts'
import { platformOf } from '../urn/kinds.ts'
import { entityTypeOf, toUrn, type Urn } from '../urn/urn.ts'
import { linkFrom, type Link } from './links.ts'
import { columnUrn } from './names.ts'
import type { DroppedParts } from './parts.ts'
import {
  factsOf,
  linkListsOf,
  spanOfBoth,
  type DatasetState,
  type DatedFacts,
  type JobState,
  type RunState,
  type SeenLinks,
  type Span,
  type State
} from './state.ts'

/**
 * Assertions by owner, aspect and path; the empty path is the whole aspect. Plain JSON, because it is stored.
 */
export type Assertions = { [ownerUrn: string]: { [aspectName: string]: { [path: string]: JsonValue } } }

/** Follows all aliases of a dataset to its present URN. */
export type NameOf = (urn: Urn) => Urn

const actor = 'urn:li:corpuser:openlineage'
const confidenceScore = 0.5

export function assertionsOf(urn: Urn, state: State, nameOf: NameOf): Assertions {
  const assertions = new AssertionBuilder()
  if (state.kind === 'job') assertJob(assertions, urn, state, nameOf)
  else if (state.kind === 'run') assertRun(assertions, urn, state)
  // A dataset that is an alias asserts nothing: everything has moved to its new name.
  else if (nameOf(urn) === urn) assertDataset(assertions, urn, state, nameOf)
  return assertions.all
}

class AssertionBuilder {
  readonly all: Assertions = {}
  readonly #spans = new Map<string, Span>()

  add(owner: Urn, aspectName: string, path: readonly string[], value: JsonValue): void {
    const own = ((this.all[owner] ??= {})[aspectName] ??= {})
    own[printPath(path)] = value
  }

  /** Several links may assert one edge; its span then covers them all. */
  addEdge(
    owner: Urn,
    aspectName: string,
    path: readonly string[],
    span: Span,
    print: (created: JsonObject, last: JsonObject) => JsonObject
  ): void {
    const key = `${owner} ${aspectName} ${printPath(path)}`
    const whole = spanOfBoth(this.#spans.get(key), span)
    this.#spans.set(key, whole)
    this.add(owner, aspectName, path, print(stamp(whole[0]), stamp(whole[1])))
  }
}

const stamp = (time: number): JsonObject => ({ time, actor })
const printPath = (path: readonly string[]): string =>
  path.length === 0 ? '' : `/${path.map(escape).join('/')}`
const escape = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1')

function assertDataset(to: AssertionBuilder, urn: Urn, state: DatasetState, nameOf: NameOf): void {
  const facts = factsOf(state)
  assertFacts(to, urn, facts, 'datasetProperties')
  if (facts.schema) to.add(urn, 'schemaMetadata', [], facts.schema.value)
  if (state.instanceUrn)
    to.add(urn, 'dataPlatformInstance', [], { platform: platformOf(urn), instance: state.instanceUrn })
  if (facts.isDropped?.value === true) to.add(urn, 'status', [], { removed: true })
  for (const links of linkListsOf(state)) assertDirect(to, urn, links, nameOf)
}

function assertFacts(to: AssertionBuilder, urn: Urn, facts: DatedFacts, properties: string): void {
  const description = facts.description?.value ?? null
  if (description !== null) to.add(urn, properties, ['description'], description)
  for (const owner of textsIn(facts.owners?.value))
    to.add(urn, 'ownership', ['owners', owner, 'DATAOWNER'], { owner, type: 'DATAOWNER' })
  for (const tag of textsIn(facts.tags?.value)) to.add(urn, 'globalTags', ['tags', tag], { tag })
}

const textsIn = (value: JsonValue | undefined): string[] =>
  listOf(value).filter((each) => typeof each === 'string')

/**
 * The edges of a job: those seen in runs, and those declared by the newest job event, and by other jobs and
 * datasets.
 */
function assertJob(to: AssertionBuilder, urn: Urn, state: JobState, nameOf: NameOf): void {
  assertFacts(to, urn, state.facts, 'dataJobInfo')
  for (const links of linkListsOf(state)) assertBoundary(to, urn, links, nameOf)
}

const linksIn = (seen: SeenLinks): [Link, Span][] =>
  Object.entries(seen).map(([text, span]) => [linkFrom(text), span])

/** Edges from dataset to dataset, and between their columns. */
function assertDirect(to: AssertionBuilder, urn: Urn, seen: SeenLinks, nameOf: NameOf): void {
  for (const [link, span] of linksIn(seen)) {
    if (link[0] === 'directColumn') assertColumn(to, urn, 'upstreamLineage', link, span, nameOf)
    if (link[0] !== 'direct') continue
    const upstream = nameOf(link[2])
    to.addEdge(urn, 'upstreamLineage', ['upstreams', upstream], span, (created, last) => ({
      dataset: upstream,
      type: 'TRANSFORMED',
      created,
      auditStamp: last
    }))
  }
}

/**
 * Edges between a job and its datasets. If links say which dataset is made from which, the job keeps all
 * datasets that it writes, and those inputs from which each of them is made: with the others, a path through
 * the job would join datasets that are not made from each other. A dataset made from nothing is left out if
 * the job has inputs.
 *
 * Compares the names that events used, not the datasets that these names are aliases of: a job is not visited
 * again when an alias becomes known, so otherwise the result would depend on the order of the events.
 */
function assertBoundary(to: AssertionBuilder, job: Urn, seen: SeenLinks, nameOf: NameOf): void {
  const links = linksIn(seen)
  const namedIn = (...kinds: Link[0][]): Set<Urn> =>
    new Set(links.flatMap(([link]) => (kinds.includes(link[0]) ? [link[1]] : [])))
  const described = namedIn('described')
  const madeFrom = new Map<Urn, Set<Urn>>()
  for (const [link] of links)
    if (link[0] === 'direct') madeFrom.set(link[1], (madeFrom.get(link[1]) ?? new Set()).add(link[2]))
  const used = new Set([...madeFrom.values()].flatMap((upstreams) => [...upstreams]))
  const written = namedIn('write')
  for (const output of namedIn('output'))
    if (!described.has(output) || madeFrom.has(output)) written.add(output)
  const read = namedIn('read')
  for (const input of namedIn('input'))
    if (!used.has(input) || [...written].every((output) => madeFrom.get(output)?.has(input))) read.add(input)
  if (read.size === 0) for (const output of namedIn('output')) written.add(output)
  const edge = (listName: string, other: Urn, span: Span): void =>
    to.addEdge(job, 'dataJobInputOutput', [listName, other], span, (created, last) => ({
      destinationUrn: other,
      created,
      lastModified: last
    }))
  for (const [link, span] of links) {
    const [kind, first] = link
    if (kind === 'read' || (kind === 'input' && read.has(first)))
      edge('inputDatasetEdges', nameOf(first), span)
    if (kind === 'write' || (kind === 'output' && written.has(first)))
      edge('outputDatasetEdges', nameOf(first), span)
    if (kind === 'afterJob') edge('inputDatajobEdges', first, span)
    if (link[0] === 'column' && !described.has(first))
      assertColumn(to, job, 'dataJobInputOutput', link, span, nameOf)
  }
}

function assertColumn(
  to: AssertionBuilder,
  owner: Urn,
  aspectName: string,
  [, down, downColumn, up, upColumn, operation]: ColumnLink,
  span: Span,
  nameOf: NameOf
): void {
  const downstream = columnUrn(nameOf(down), downColumn)
  const upstream = columnUrn(nameOf(up), upColumn)
  const path = ['fineGrainedLineages', operation || 'NONE', downstream, 'NONE', upstream]
  to.addEdge(owner, aspectName, path, span, (created, last) => ({
    confidenceScore,
    created,
    lastModified: last
  }))
}

type ColumnLink = Extract<Link, ['column' | 'directColumn', ...unknown[]]>

/** A run keeps its own inputs and outputs, which its job joins with those of all other runs. */
function assertRun(
  to: AssertionBuilder,
  urn: Urn,
  { runId, startedMs, jobUrn, parentUrn, inputs = [], outputs = [], dropped }: RunState
): void {
  const count = limits.runDatasetsMaxCount
  const cut = [
    ...(inputs.length > count ? [['inputs', `the first ${count}`]] : []),
    ...(outputs.length > count ? [['outputs', `the first ${count}`]] : [])
  ]
  to.add(urn, 'dataProcessInstanceProperties', [], {
    name: runId,
    created: stamp(startedMs),
    ...(cut.length > 0 || dropped
      ? { customProperties: { ...Object.fromEntries(cut), ...(dropped ? propertiesOf(dropped) : {}) } }
      : {})
  })
  if (inputs.length > 0) to.add(urn, 'dataProcessInstanceInput', [], { inputs: inputs.slice(0, count) })
  if (outputs.length > 0) to.add(urn, 'dataProcessInstanceOutput', [], { outputs: outputs.slice(0, count) })
  to.add(urn, 'dataProcessInstanceRelationships', [], {
    parentTemplate: jobUrn.value,
    upstreamInstances: [],
    ...(parentUrn ? { parentInstance: parentUrn.value } : {})
  })
}

/** What a reader of the run should know of the parts of its events that were left out. */
const propertiesOf = ({ count, first }: DroppedParts): { [name: string]: string } => ({
  droppedParts: String(count),
  ...Object.fromEntries(first.map(({ reason }, index) => [`droppedPart${index + 1}`, reason]))
})

/** The assertions of `asserted` with a path that others assert too. */
export const commonTo = (asserted: Assertions, others: Assertions): Assertions =>
  filtered(asserted, (owner, aspectName, path) => others[owner]?.[aspectName]?.[path] !== undefined)

/** The assertions that remain after entities, and all edges to and from them, have been deleted. */
export function withoutEdgesTo(asserted: Assertions, gone: ReadonlySet<Urn>): Assertions {
  const texts = [...gone].map(escape)
  return filtered(asserted, (_owner, _aspectName, path) => !texts.some((text) => path.includes(text)))
}

const filtered = (
  asserted: Assertions,
  isKept: (owner: string, aspectName: string, path: string) => boolean
): Assertions =>
  Object.fromEntries(
    Object.entries(asserted).map(([owner, aspects]) => [
      owner,
      Object.fromEntries(
        Object.entries(aspects).map(([name, paths]) => [
          name,
          Object.fromEntries(Object.entries(paths).filter(([path]) => isKept(owner, name, path)))
        ])
      )
    ])
  )

/**
 * The changes from the former to the present assertions. Only differences are written, so that the statements
 * of others stay. An aspect that is asserted to be null, such as that of a deleted facet, is deleted.
 */
export function changesBetween(before: Assertions, now: Assertions): Change[] {
  const changes: Change[] = []
  const upsert = (entityUrn: Urn, aspectName: string, value: JsonObject): number =>
    changes.push(upsertOf(entityUrn, aspectName, value))
  for (const owner of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const entityUrn = toUrn(owner)
    const [old, current] = [before[owner] ?? {}, now[owner] ?? {}]
    for (const aspectName of new Set([...Object.keys(old), ...Object.keys(current)])) {
      const operations: PatchOperation[] = []
      const [was, is] = [old[aspectName] ?? {}, current[aspectName] ?? {}]
      for (const path of Object.keys(was)) {
        if (Object.hasOwn(is, path)) continue
        if (path !== '') operations.push({ op: 'remove', path })
        else if (aspectName === 'status') upsert(entityUrn, aspectName, { removed: false })
      }
      for (const [path, value] of Object.entries(is)) {
        if (isDeepStrictEqual(was[path], value)) continue
        if (path !== '') operations.push({ op: 'add', path, value })
        else if (isObject(value)) upsert(entityUrn, aspectName, value)
        else if (was[path] !== undefined) changes.push({ kind: 'deleteAspect', entityUrn, aspectName })
      }
      if (operations.length > 0)
        changes.push({
          kind: 'patchAspect',
          entityUrn,
          aspectName,
          patch: preparePatch(entityTypeOf(entityUrn), aspectName, { patch: operations })
        })
    }
  }
  return changes
}

/** Throws VALIDATION_FAILED, LIMIT_EXCEEDED, as a proposal of the same aspect would. */
export const upsertOf = (entityUrn: Urn, aspectName: string, value: JsonObject): Change => ({
  kind: 'upsertAspect',
  changeType: 'UPSERT',
  entityUrn,
  aspectName,
  value: prepareAspect(entityTypeOf(entityUrn), aspectName, value)
})
