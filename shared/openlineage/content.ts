/** What an event says, with names resolved to URNs: facts of datasets and of the job, what the job reads and writes, and the run. */
import type { JsonObject, JsonValue } from '../model/changes.ts'
import { isObject, listOf } from '../model/json-values.ts'
import { platformOf } from '../urn/kinds.ts'
import type { Urn } from '../urn/urn.ts'
import type { Connections } from './connections.ts'
import {
  readName,
  type EventDataset,
  type EventJob,
  type EventType,
  type OpenLineageEvent,
  type OpenLineageName
} from './event.ts'
import { readColumnLineage, type ColumnInput } from './facets/columns.ts'
import {
  readLineageOfDataset,
  readLineageOfJob,
  type LineageEnd,
  type LineageEntry
} from './facets/lineage.ts'
import { descriptionOf, ownersOf, tagsOf } from './facets/people-and-texts.ts'
import { schemaOf } from './facets/schema.ts'
import type { Link } from './links.ts'
import { isPath, jobUrn, resolveDataset, resolveTable, runUrn, type ResolvedDataset } from './names.ts'
import { orchestratorOf } from './orchestrator.ts'
import { unlessRefused } from './unless-refused.ts'

/** By name; what an event does not say is absent. */
export type Facts = { [name: string]: JsonValue }

export type DatasetContent = OpenLineageName & {
  urn: Urn
  /** What it is called now: the table that its path is, its name after a rename, or itself where the event makes it. */
  knownAs: Urn | null
  facts: Facts
  /** What a dataset event declares that it is made from; null where it is no such event. */
  declared: Link[] | null
}

export type JobContent = OpenLineageName & {
  urn: Urn
  flowUrn: Urn
  facts: Facts
  links: Link[]
  /** Whether the links are all there are, as a job event has it; those of a run are added to what other runs had. */
  isDeclared: boolean
}

export type RunContent = {
  urn: Urn
  runId: string
  jobUrn: Urn
  parentUrn: Urn | null
  eventType: EventType | null
}

export type EventContent = {
  timeMs: number
  datasets: DatasetContent[]
  job: JobContent | null
  /** Jobs that are said to run after it. */
  downstreamJobs: JobContent[]
  run: RunContent | null
  /** Where datasets are put that are new, by the operator's connections. */
  domains: [dataset: Urn, domain: Urn][]
}

/** Throws BAD_REQUEST naming the path, INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED. */
export function contentOf(event: OpenLineageEvent, connections: Connections = []): EventContent {
  const datasets = new Map<Urn, DatasetContent>()
  const domains = new Map<Urn, Urn>()
  const urnOf = ({ urn, domain }: ResolvedDataset): Urn => {
    if (domain !== null) domains.set(urn, domain)
    return urn
  }
  const contentAt = ({ namespace, name }: OpenLineageName): DatasetContent => {
    const urn = urnOf(resolveDataset({ namespace, name }, connections))
    const content = datasets.get(urn) ?? { namespace, name, urn, knownAs: null, facts: {}, declared: null }
    datasets.set(urn, content)
    return content
  }
  const note = (name: OpenLineageName): Urn => contentAt(name).urn
  const renames: { from: DatasetContent; to: DatasetContent }[] = []
  const describe = (dataset: EventDataset): DatasetContent => {
    const content = contentAt(dataset)
    const table = tableOf(dataset)
    const resolved = table && unlessRefused(() => resolveTable(table, connections))
    const tableUrn = resolved && urnOf(resolved)
    if (tableUrn && tableUrn !== content.urn) content.knownAs = tableUrn
    else if (isMadeAnew(dataset)) content.knownAs ??= content.urn
    content.facts = { ...content.facts, ...factsOfDataset(dataset, content.knownAs ?? content.urn) }
    const formerName = previousName(dataset)
    const former = formerName && contentAt(formerName)
    if (former && former !== content) renames.push({ from: former, to: content })
    return content
  }
  const applyRenames = (): void => {
    for (const { to } of renames) to.knownAs ??= to.urn
    for (const { from, to } of renames) if (from.knownAs !== from.urn) from.knownAs = to.urn
  }
  if (event.kind === 'dataset') {
    describe(event.dataset).declared = declaredLinks(event.dataset, note)
    applyRenames()
    return {
      timeMs: event.timeMs,
      datasets: [...datasets.values()],
      job: null,
      downstreamJobs: [],
      run: null,
      domains: [...domains]
    }
  }
  const orchestrator = orchestratorOf(event)
  const { job: urn, flow: flowUrn } = jobUrn(orchestrator, event.job)
  const jobOf = (name: OpenLineageName): Urn => jobUrn(orchestrator, name).job
  for (const dataset of [...event.inputs, ...event.outputs]) describe(dataset)
  applyRenames()
  const job: JobContent = {
    namespace: event.job.namespace,
    name: event.job.name,
    urn,
    flowUrn,
    facts: factsOf(event.job),
    links: linksOfJob(event, urn, note, jobOf),
    isDeclared: event.kind === 'job'
  }
  return {
    timeMs: event.timeMs,
    datasets: [...datasets.values()],
    job,
    downstreamJobs: downstreamJobsOf(event, urn, orchestrator),
    run:
      event.kind === 'run'
        ? {
            urn: runUrn(event.run.runId),
            runId: event.run.runId,
            jobUrn: urn,
            parentUrn: parentRun(event.run.facets),
            eventType: event.eventType
          }
        : null,
    domains: [...domains]
  }
}

/** Makes sure that the dataset is among those of the event, and gives its URN. */
type Note = (name: OpenLineageName) => Urn

function linksOfJob(
  event: Extract<OpenLineageEvent, { kind: 'run' | 'job' }>,
  urn: Urn,
  note: Note,
  jobOf: (name: OpenLineageName) => Urn
): Link[] {
  const links: Link[] = [
    ...event.inputs.map((dataset): Link => ['input', note(dataset)]),
    ...event.outputs.map((dataset): Link => ['output', note(dataset)]),
    ...event.outputs.flatMap((dataset) =>
      columnLinks(
        'column',
        note(dataset),
        readColumnLineage(dataset.facets.columnLineage, `${dataset.field}.facets.columnLineage`),
        note
      )
    )
  ]
  const { lineage } = event.job.facets
  if (isObject(lineage))
    for (const entry of readLineageOfJob(lineage, 'job.facets.lineage'))
      links.push(...linksOfEntry(entry, urn, note, jobOf))
  links.push(...dependencies(event, 'upstream').map((name): Link => ['afterJob', jobOf(name)]))
  return links
}

function linksOfEntry(
  { target, inputs, columns }: LineageEntry,
  ownJob: Urn | null,
  note: Note,
  jobOf: (name: OpenLineageName) => Urn
): Link[] {
  const jobAt = (end: Extract<LineageEnd, { type: 'JOB' }>): Urn | null => (end.job ? jobOf(end.job) : ownJob)
  if (target.type === 'JOB') {
    const targetJob = jobAt(target)
    return inputs.flatMap((input): Link[] => {
      if (input.type === 'DATASET') return targetJob === ownJob ? [['read', note(input.dataset)]] : []
      const inputJob = jobAt(input)
      if (targetJob === ownJob && inputJob && inputJob !== ownJob) return [['afterJob', inputJob]]
      return []
    })
  }
  const urn = note(target.dataset)
  return [
    ['described', urn],
    ...inputs.flatMap((input): Link[] =>
      input.type === 'DATASET'
        ? [['direct', urn, note(input.dataset)]]
        : jobAt(input) === ownJob && ownJob !== null
          ? [['write', urn]]
          : []
    ),
    ...columnLinks('directColumn', urn, columns, note)
  ]
}

const columnLinks = (
  kind: 'column' | 'directColumn',
  urn: Urn,
  columns: ReadonlyMap<string, readonly ColumnInput[]>,
  note: Note
): Link[] =>
  [...columns].flatMap(([column, inputs]) =>
    inputs.map((input): Link => [kind, urn, column, note(input.dataset), input.column, input.operation])
  )

/** What a dataset is made from without a job that is known: `lineage`, else `columnLineage`. */
function declaredLinks(dataset: EventDataset, note: Note): Link[] {
  const { lineage } = dataset.facets
  const place = `${dataset.field}.facets`
  if (isObject(lineage))
    return linksOfEntry(readLineageOfDataset(lineage, dataset, `${place}.lineage`), null, note, () =>
      note(dataset)
    )
  const columns = readColumnLineage(dataset.facets.columnLineage, `${place}.columnLineage`)
  const urn = note(dataset)
  const links = columnLinks('directColumn', urn, columns, note)
  return [
    ...[...columns.values()].flat().map((input): Link => ['direct', urn, note(input.dataset)]),
    ...links
  ]
}

/** The jobs of a list of the facet `jobDependencies`. */
function dependencies(event: OpenLineageEvent, listName: 'upstream' | 'downstream'): OpenLineageName[] {
  const facet = event.kind === 'run' ? event.run.facets.jobDependencies : null
  return listOf(isObject(facet) ? facet[listName] : undefined).flatMap((each, index) => {
    const place = `run.facets.jobDependencies.${listName}[${index}].job`
    return isObject(each) && isObject(each.job) ? [readName(each.job, place)] : []
  })
}

const downstreamJobsOf = (event: OpenLineageEvent, urn: Urn, orchestrator: string): JobContent[] =>
  dependencies(event, 'downstream').map((name) => {
    const { job, flow } = jobUrn(orchestrator, name)
    return { ...name, urn: job, flowUrn: flow, facts: {}, links: [['afterJob', urn]], isDeclared: false }
  })

function parentRun({ parent }: JsonObject): Urn | null {
  const run = isObject(parent) ? parent.run : null
  const runId = isObject(run) && typeof run.runId === 'string' ? run.runId.trim() : ''
  return runId === '' ? null : unlessRefused(() => runUrn(runId))
}

function tableOf({ facets: { symlinks } }: EventDataset): OpenLineageName | null {
  const tables = listOf(isObject(symlinks) ? symlinks.identifiers : undefined).flatMap((each) =>
    isObject(each) && each.type === 'TABLE'
      ? (unlessRefused(() => readName(each, 'symlinks.identifiers')) ?? [])
      : []
  )
  return tables.at(-1) ?? null
}

function previousName({ facets: { lifecycleStateChange: facet } }: EventDataset): OpenLineageName | null {
  if (!isObject(facet) || facet.lifecycleStateChange !== 'RENAME' || !isObject(facet.previousIdentifier))
    return null
  return readName(facet.previousIdentifier, 'lifecycleStateChange.previousIdentifier')
}

/** Whether its name is its own from here on, whatever was called so before. A path that is made again is still the table that it was. */
const isMadeAnew = ({ namespace, name, facets: { lifecycleStateChange: facet } }: EventDataset): boolean =>
  isObject(facet) && facet.lifecycleStateChange === 'CREATE' && !isPath({ namespace, name })

function factsOfDataset(dataset: EventDataset, urn: Urn): Facts {
  const { schema, lifecycleStateChange: lifecycle } = dataset.facets
  const read = isObject(schema) ? schemaOf(schema, platformOf(urn) ?? '', dataset.name) : null
  return {
    ...factsOf(dataset),
    ...(read ? { schema: read } : {}),
    ...(isObject(lifecycle) && typeof lifecycle.lifecycleStateChange === 'string'
      ? { isDropped: lifecycle.lifecycleStateChange === 'DROP' }
      : {})
  }
}

function factsOf({ facets: { documentation, ownership, tags } }: Pick<EventJob, 'facets'>): Facts {
  const description = isObject(documentation) ? descriptionOf(documentation) : null
  return {
    ...(description === null ? {} : { description }),
    ...(isObject(ownership) ? { owners: ownersOf(ownership) } : {}),
    ...(isObject(tags) ? { tags: tagsOf(tags) } : {})
  }
}
