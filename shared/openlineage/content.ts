/**
 * The content of an event with names resolved to URNs: facts of datasets and of the job, what the job reads
 * and writes, and the run.
 */
import { CatalogError } from '../errors.ts'
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
import {
  readColumnLineage,
  readTableInputs,
  tableEdgesOfEvent,
  type ColumnsOfFacet,
  type TableEdges
} from './facets/columns.ts'
import {
  readLineageOfDataset,
  readLineageOfJob,
  type LineageEnd,
  type LineageEntry
} from './facets/lineage.ts'
import { descriptionOf, ownersOf, tagsOf } from './facets/people-and-texts.ts'
import { schemaOf, topColumnsOf } from './facets/schema.ts'
import type { Link } from './links.ts'
import {
  columnUrn,
  isPath,
  jobUrn,
  resolveDataset,
  resolveTable,
  runUrn,
  type ResolvedDataset
} from './names.ts'
import { orchestratorOf } from './orchestrator.ts'
import { unlessRefused } from './unless-refused.ts'

/** Facts by name; a fact that the event does not mention is absent. */
export type Facts = { [name: string]: JsonValue }

export type DatasetContent = OpenLineageName & {
  urn: Urn
  /**
   * The present name of the dataset: the table of a path, the new name after a rename, or its own name if the
   * event creates it.
   */
  knownAs: Urn | null
  /** Whether the dataset is a path, and `knownAs` its table. */
  isTable: boolean
  facts: Facts
  /** The sources that a dataset event declares; null if it has no facet about them, and for other events. */
  declared: Link[] | null
}

export type JobContent = OpenLineageName & {
  urn: Urn
  flowUrn: Urn
  facts: Facts
  links: Link[]
  /**
   * Whether the links are complete, as in a job event that states any; the links of a run event are added to
   * those of other runs.
   */
  isDeclared: boolean
}

export type RunContent = {
  urn: Urn
  runId: string
  jobUrn: Urn
  parentUrn: Urn | null
  eventType: EventType | null
  /** The datasets that the event says the run read and wrote, under the names that it used. */
  inputs: Urn[]
  outputs: Urn[]
}

export type EventContent = {
  timeMs: number
  datasets: DatasetContent[]
  job: JobContent | null
  /**
   * The other jobs that the event names. Each gets a state, because a job without a state counts as deleted.
   */
  otherJobs: JobContent[]
  run: RunContent | null
  /** The domains of new datasets, from the operator's connections. */
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
  const contentOfUrn = (urn: Urn, { namespace, name }: OpenLineageName): DatasetContent => {
    const content = datasets.get(urn) ?? {
      namespace,
      name,
      urn,
      knownAs: null,
      isTable: false,
      facts: {},
      declared: null
    }
    datasets.set(urn, content)
    return content
  }
  const contentAt = ({ namespace, name }: OpenLineageName): DatasetContent =>
    contentOfUrn(urnOf(resolveDataset({ namespace, name }, connections)), { namespace, name })
  const tables = new Map<Urn, DatasetContent>()
  // Moves what the event says about a path to the table that it names for the path.
  const nameTable = (dataset: EventDataset): void => {
    const content = inPlace(dataset.field, () => contentAt(dataset))
    const table = tableOf(dataset)
    const resolved = table && unlessRefused(() => resolveTable(table, connections))
    if (!resolved || resolved.urn === content.urn) return
    tables.set(content.urn, contentOfUrn(urnOf(resolved), table))
    content.knownAs = resolved.urn
    content.isTable = true
  }
  const contentNow = (name: OpenLineageName): DatasetContent => {
    const content = contentAt(name)
    return tables.get(content.urn) ?? content
  }
  const note = (name: OpenLineageName): Urn => contentNow(name).urn
  const formerContent = (dataset: EventDataset): DatasetContent | null => {
    const place = `${dataset.field}.facets.lifecycleStateChange.previousIdentifier`
    const name = previousName(dataset, place)
    return name && inPlace(place, () => contentAt(name))
  }
  const renames: { from: DatasetContent; to: DatasetContent }[] = []
  const describe = (dataset: EventDataset): DatasetContent => {
    const own = contentAt(dataset)
    if (isCreation(dataset)) own.knownAs ??= own.urn
    const former = formerContent(dataset)
    if (former && former !== own) renames.push({ from: former, to: own })
    const content = contentNow(dataset)
    content.facts = { ...content.facts, ...factsOfDataset(dataset, content.urn) }
    return content
  }
  const applyRenames = (): void => {
    for (const { to } of renames) to.knownAs ??= to.urn
    for (const { from, to } of renames) {
      if (from.knownAs === from.urn) continue
      from.knownAs = to.urn
      from.isTable = false
    }
  }
  const orchestrator = orchestratorOf(event)
  const otherJobs = new Map<Urn, JobContent>()
  const noteJob = (name: OpenLineageName): JobContent => {
    const { job, flow } = jobUrn(orchestrator, name)
    const content: JobContent = otherJobs.get(job) ?? {
      ...name,
      urn: job,
      flowUrn: flow,
      facts: {},
      links: [],
      isDeclared: false
    }
    otherJobs.set(job, content)
    return content
  }
  const ownJob = event.kind === 'dataset' ? null : inPlace('job', () => jobUrn(orchestrator, event.job)).job
  const named: Named = {
    ownJob,
    jobOfRun: event.kind === 'run' ? ownJob : null,
    note,
    noteJob,
    left: tableEdgesOfEvent()
  }
  if (event.kind === 'dataset') {
    nameTable(event.dataset)
    describe(event.dataset).declared = declaredLinks(event.dataset, named)
    applyRenames()
    return {
      timeMs: event.timeMs,
      datasets: [...datasets.values()],
      job: null,
      otherJobs: [...otherJobs.values()],
      run: null,
      domains: [...domains]
    }
  }
  const { job: urn, flow: flowUrn } = jobUrn(orchestrator, event.job)
  for (const dataset of [...event.inputs, ...event.outputs]) nameTable(dataset)
  for (const dataset of event.inputs) describe(dataset)
  for (const dataset of event.outputs) {
    const content = describe(dataset)
    // A dataset that a run writes exists, unless the event says that it was dropped.
    if (event.kind === 'run') content.facts = { isDropped: false, ...content.facts }
  }
  applyRenames()
  const job: JobContent = {
    namespace: event.job.namespace,
    name: event.job.name,
    urn,
    flowUrn,
    facts: factsOfJob(event.job),
    links: linksOfJob(event, named),
    isDeclared: event.kind === 'job' && (event.hasLists || event.job.facets.lineage !== undefined)
  }
  for (const { name, field } of dependencies(event, 'downstream'))
    inPlace(field, () => noteJob(name)).links.push(['afterJob', urn])
  return {
    timeMs: event.timeMs,
    datasets: [...datasets.values()],
    job,
    otherJobs: [...otherJobs.values()].filter((other) => other.urn !== urn),
    run:
      event.kind === 'run'
        ? {
            urn: inPlace('run.runId', () => runUrn(event.run.runId)),
            runId: event.run.runId,
            jobUrn: urn,
            parentUrn: parentRun(event.run.facets),
            eventType: event.eventType,
            inputs: endsOfRun(job.links, 'input', 'read'),
            outputs: endsOfRun(job.links, 'output', 'write')
          }
        : null,
    domains: [...domains]
  }
}

const endsOfRun = (links: readonly Link[], ...kinds: ('input' | 'read' | 'output' | 'write')[]): Urn[] =>
  links.flatMap((link) => (kinds.some((kind) => kind === link[0]) ? [link[1]] : []))

/** The URNs of the names in an event. `note` and `noteJob` add the dataset or the job to the content. */
type Named = {
  /** The URN of the job of the event; null for a dataset event. */
  ownJob: Urn | null
  /** The same job if the event is of one of its runs. */
  jobOfRun: Urn | null
  note: (name: OpenLineageName) => Urn
  noteJob: (name: OpenLineageName) => JobContent
  left: TableEdges
}

function linksOfJob(event: Extract<OpenLineageEvent, { kind: 'run' | 'job' }>, named: Named): Link[] {
  const { note, noteJob, left } = named
  const entries = lineageEntries(event, left)
  return [
    ...event.inputs.map((dataset): Link => ['input', note(dataset)]),
    ...event.outputs.map((dataset): Link => ['output', note(dataset)]),
    // If the facet `lineage` is present, only it describes columns.
    ...(entries
      ? entries.flatMap((entry) => linksOfEntry(entry, named))
      : event.outputs.flatMap((dataset) =>
          columnLinks('column', note(dataset), columnLineageOf(dataset, note(dataset), left), note)
        )),
    ...dependencies(event, 'upstream').map(({ name, field }): Link => [
      'afterJob',
      inPlace(field, () => noteJob(name)).urn
    ])
  ]
}

/** The entries of the facet `lineage` of the job and of its outputs; null if neither has the facet. */
function lineageEntries(
  { job, outputs }: Extract<OpenLineageEvent, { kind: 'run' | 'job' }>,
  left: TableEdges
): LineageEntry[] | null {
  const { lineage } = job.facets
  const ofOutputs = outputs.flatMap((dataset) =>
    isObject(dataset.facets.lineage)
      ? [readLineageOfDataset(dataset.facets.lineage, dataset, `${dataset.field}.facets.lineage`, left)]
      : []
  )
  if (!isObject(lineage)) return ofOutputs.length > 0 ? ofOutputs : null
  return [...readLineageOfJob(lineage, 'job.facets.lineage', left), ...ofOutputs]
}

type DatasetEnd = Extract<LineageEnd, { type: 'DATASET' }>
type JobEnd = Extract<LineageEnd, { type: 'JOB' }>

function linksOfEntry(
  { target, inputs, columns, isDescribed }: LineageEntry,
  { ownJob, jobOfRun, note, noteJob }: Named
): Link[] {
  const datasetAt = ({ dataset, field }: DatasetEnd): Urn => inPlace(field, () => note(dataset))
  const jobAt = ({ job, field }: JobEnd): Urn | null =>
    job ? inPlace(field, () => noteJob(job)).urn : ownJob
  const linkOf = (end: JobEnd, kind: 'read' | 'write' | 'afterJob', other: Urn): Link[] => {
    const urn = jobAt(end)
    if (urn === null || urn === other) return []
    if (urn === ownJob || end.job === null) return [[kind, other]]
    return [['ofJob', urn, kind, other]]
  }
  if (target.type === 'JOB')
    return inputs.flatMap((input) => {
      const other = input.type === 'JOB' ? jobAt(input) : datasetAt(input)
      return other === null ? [] : linkOf(target, input.type === 'JOB' ? 'afterJob' : 'read', other)
    })
  const urn = datasetAt(target)
  return [
    ...(isDescribed ? [['described', urn] satisfies Link] : []),
    ...inputs.flatMap((input): Link[] =>
      input.type === 'DATASET' ? [['direct', urn, datasetAt(input)]] : linkOf(input, 'write', urn)
    ),
    ...columnLinks('directColumn', urn, columns, note, jobOfRun)
  ]
}

const columnLineageOf = (
  { field, facets: { columnLineage, schema } }: EventDataset,
  urn: Urn,
  left: TableEdges
): ColumnsOfFacet =>
  readColumnLineage(
    columnLineage,
    `${field}.facets.columnLineage`,
    isObject(schema) ? topColumnsOf(schema).filter((name) => canBeColumn(urn, name)) : [],
    left
  )

const columnLinks = (
  kind: 'column' | 'directColumn',
  urn: Urn,
  columns: ColumnsOfFacet,
  note: Named['note'],
  jobOfRun: Urn | null = null
): Link[] =>
  [...columns].flatMap(([column, inputs]) =>
    inputs.map((input): Link => {
      const upstream = inPlace(input.field, () => note(input.dataset))
      checkColumn(urn, column, input.field)
      checkColumn(upstream, input.column, input.field)
      return kind === 'directColumn' && jobOfRun !== null
        ? [kind, urn, column, upstream, input.column, input.operation, jobOfRun]
        : [kind, urn, column, upstream, input.column, input.operation]
    })
  )

const plainColumn = /^[\w.-]{1,200}$/
/** A quick check that is enough for most columns. */
const isPlainColumn = (dataset: Urn, column: string): boolean =>
  plainColumn.test(column) && dataset.length <= 500

/** A column that only the schema names may have a name that cannot be in lineage. */
const canBeColumn = (dataset: Urn, column: string): boolean =>
  isPlainColumn(dataset, column) || unlessRefused(() => columnUrn(dataset, column)) !== null

/** Throws LIMIT_EXCEEDED, INVALID_CHARACTER naming the path if the column cannot be in lineage. */
function checkColumn(dataset: Urn, column: string, field: string): void {
  // The full check follows when lineage is built.
  if (!isPlainColumn(dataset, column)) inPlace(field, () => columnUrn(dataset, column))
}

/** Returns what `make` returns. Adds the place in the event to its errors. */
function inPlace<T>(field: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    const place = field.length > placeMaxChars ? `${field.slice(0, placeMaxChars)}…` : field
    throw new CatalogError(
      error.code,
      `${place}: ${error.message}`,
      { ...error.details, field: place },
      { cause: error }
    )
  }
}

/** Limits the length of a path in an error, because names of columns may have any length. */
const placeMaxChars = 300

/**
 * The datasets from which a dataset is made, without a known job: `lineage`, otherwise `columnLineage`; null
 * if the event has neither, and so says nothing about them.
 */
function declaredLinks(dataset: EventDataset, named: Named): Link[] | null {
  const { lineage, columnLineage } = dataset.facets
  if (lineage === undefined && columnLineage === undefined) return null
  const { note, left } = named
  const place = `${dataset.field}.facets`
  if (isObject(lineage))
    return linksOfEntry(readLineageOfDataset(lineage, dataset, `${place}.lineage`, left), named)
  const urn = note(dataset)
  const columns = columnLineageOf(dataset, urn, left)
  const inputs = [
    ...[...columns.values()].flat(),
    ...readTableInputs(columnLineage, `${place}.columnLineage.dataset`)
  ]
  return [
    ...inputs.map(({ dataset: input, field }): Link => ['direct', urn, inPlace(field, () => note(input))]),
    ...columnLinks('directColumn', urn, columns, note)
  ]
}

/** The jobs in a list of the facet `jobDependencies`, each with its place in the event. */
function dependencies(
  event: OpenLineageEvent,
  listName: 'upstream' | 'downstream'
): { name: OpenLineageName; field: string }[] {
  const facet = event.kind === 'run' ? event.run.facets.jobDependencies : null
  return listOf(isObject(facet) ? facet[listName] : undefined).flatMap((each, index) => {
    const field = `run.facets.jobDependencies.${listName}[${index}].job`
    return isObject(each) && isObject(each.job) ? [{ name: readName(each.job, field), field }] : []
  })
}

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

function previousName(
  { facets: { lifecycleStateChange: facet } }: EventDataset,
  place: string
): OpenLineageName | null {
  if (!isObject(facet) || facet.lifecycleStateChange !== 'RENAME' || !isObject(facet.previousIdentifier))
    return null
  return readName(facet.previousIdentifier, place)
}

/**
 * Whether the event creates the dataset, so that its name is no longer an alias. A path that is created again
 * keeps its table.
 */
const isCreation = ({ namespace, name, facets: { lifecycleStateChange: facet } }: EventDataset): boolean =>
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

/** Includes how the job runs: BATCH or STREAMING. */
function factsOfJob(job: EventJob): Facts {
  const { jobType } = job.facets
  const processingType = isObject(jobType) ? jobType.processingType : null
  return {
    ...factsOf(job),
    ...(typeof processingType === 'string' ? { processingType: processingType.toUpperCase() } : {})
  }
}

/** The fact of a deleted facet is that there is nothing. */
function factsOf({ facets: { documentation, ownership, tags } }: Pick<EventJob, 'facets'>): Facts {
  const description = isObject(documentation) ? descriptionOf(documentation) : null
  return {
    ...(description === null && documentation !== null ? {} : { description }),
    ...(ownership === undefined ? {} : { owners: isObject(ownership) ? ownersOf(ownership) : [] }),
    ...(tags === undefined ? {} : { tags: isObject(tags) ? tagsOf(tags) : [] })
  }
}
