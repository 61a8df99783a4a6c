/**
 * The content of an event with names resolved to URNs: facts of datasets and of the job, what the job reads
 * and writes, and the run.
 */
import type { JsonObject, JsonValue } from '../model/changes.ts'
import { checkJson } from '../model/json-checks.ts'
import { isObject } from '../model/json-values.ts'
import { platformOf } from '../urn/kinds.ts'
import { rowsPath } from '../urn/rows-urn.ts'
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
import { readColumnLineage, readTableInputs, type ColumnsOfFacet } from './facets/columns.ts'
import {
  readLineageOfDataset,
  readLineageOfJob,
  statesLineage,
  type LineageEnd,
  type LineageEntry
} from './facets/lineage.ts'
import { descriptionOf, ownersOf, tagsOf } from './facets/people-and-texts.ts'
import { reportOfRun, shortText, type RunReport } from './facets/run-report.ts'
import { columnsOf, schemaOf, topColumnsOf } from './facets/schema.ts'
import { writtenIn, type Link } from './links.ts'
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
import { at as inPlace, refuse, type DroppedParts, type EventParts } from './parts.ts'
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
  /** The platform instance, from the operator's connections. */
  instanceUrn: Urn | null
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
  dropped: DroppedParts
  report: RunReport
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
  /** The parts of the event that were left out. */
  dropped: DroppedParts
}

/**
 * Leaves out what cannot be in the catalog, except the job, the run, and the dataset of a dataset event.
 * Throws BAD_REQUEST naming the path, INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED.
 */
export function contentOf(event: OpenLineageEvent, connections: Connections = []): EventContent {
  const { parts } = event
  const datasets = new Map<Urn, DatasetContent>()
  const domains = new Map<Urn, Urn>()
  const urnOf = ({ urn, domain }: ResolvedDataset): Urn => {
    if (domain !== null) domains.set(urn, domain)
    return urn
  }
  const contentOfResolved = (
    resolved: ResolvedDataset,
    { namespace, name }: OpenLineageName
  ): DatasetContent => {
    const urn = urnOf(resolved)
    const content = datasets.get(urn) ?? {
      namespace,
      name,
      urn,
      knownAs: null,
      isTable: false,
      facts: {},
      instanceUrn: resolved.platformInstance,
      declared: null
    }
    datasets.set(urn, content)
    return content
  }
  const contentAt = ({ namespace, name }: OpenLineageName): DatasetContent =>
    contentOfResolved(resolveDataset({ namespace, name }, connections), { namespace, name })
  const tables = new Map<Urn, DatasetContent>()
  // Moves what the event says about a path to the table that it names for the path.
  const nameTable = (dataset: EventDataset): void => {
    const content = inPlace(dataset.field, () => contentAt(dataset))
    const table = tableOf(dataset, parts)
    const place = `${dataset.field}.facets.symlinks`
    const resolved = table && parts.take(() => inPlace(place, () => resolveTable(table, connections)))
    if (!resolved || resolved.urn === content.urn) return
    tables.set(content.urn, contentOfResolved(resolved, table))
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
    return parts.take(() => {
      const name = previousName(dataset, place)
      return name && inPlace(place, () => contentAt(name))
    })
  }
  const renames: { from: DatasetContent; to: DatasetContent }[] = []
  const describe = (dataset: EventDataset): DatasetContent => {
    const own = contentAt(dataset)
    if (isCreation(dataset)) own.knownAs ??= own.urn
    const former = formerContent(dataset)
    if (former && former !== own) renames.push({ from: former, to: own })
    const content = contentNow(dataset)
    content.facts = { ...content.facts, ...factsOfDataset(dataset, content.urn, parts) }
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
    parts
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
      domains: [...domains],
      dropped: parts.dropped
    }
  }
  const { job: urn, flow: flowUrn } = jobUrn(orchestrator, event.job)
  const canBeNamed = (dataset: EventDataset): boolean =>
    parts.take(() => inPlace(dataset.field, () => contentAt(dataset))) !== null
  const inputs = event.inputs.filter(canBeNamed)
  const outputs = event.outputs.filter(canBeNamed)
  for (const dataset of [...inputs, ...outputs]) nameTable(dataset)
  for (const dataset of [...inputs, ...outputs]) describe(dataset)
  applyRenames()
  const job: JobContent = {
    namespace: event.job.namespace,
    name: event.job.name,
    urn,
    flowUrn,
    facts: factsOfJob(event.job, parts),
    links: linksOfJob({ ...event, inputs, outputs }, named),
    isDeclared: event.kind === 'job' && (event.hasLists || declaresLineage(event.job.facets.lineage))
  }
  // A dataset that a run writes exists, unless the event says that it was dropped.
  for (const written of event.kind === 'run' ? writtenIn(job.links) : []) {
    const content = datasets.get(written)
    if (content) content.facts = { isDropped: false, ...content.facts }
  }
  for (const { name, field } of dependencies(event, 'downstream', parts))
    parts.take(() => inPlace(field, () => noteJob(name)).links.push(['afterJob', urn]))
  const parentUrn = event.kind === 'run' ? parentRun(event.run.facets, parts) : null
  // Once everything has been read.
  const { dropped } = parts
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
            parentUrn,
            eventType: event.eventType,
            dropped,
            inputs: endsOfRun(job.links, 'input', 'read'),
            outputs: endsOfRun(job.links, 'output', 'write'),
            report: reportOfRun({ ...event, inputs, outputs }, note)
          }
        : null,
    domains: [...domains],
    dropped
  }
}

const endsOfRun = (links: readonly Link[], ...kinds: ('input' | 'read' | 'output' | 'write')[]): Urn[] =>
  links.flatMap((link) => (kinds.some((kind) => kind === link[0]) ? [link[1]] : []))

/** A deleted facet of a job event ends what it declared. A facet without a list of entries says nothing. */
const declaresLineage = (lineage: JsonValue | undefined): boolean =>
  lineage === null || (isObject(lineage) && Array.isArray(lineage.entries))

/** The URNs of the names in an event. `note` and `noteJob` add the dataset or the job to the content. */
type Named = {
  /** The URN of the job of the event; null for a dataset event. */
  ownJob: Urn | null
  /** The same job if the event is of one of its runs. */
  jobOfRun: Urn | null
  note: (name: OpenLineageName) => Urn
  noteJob: (name: OpenLineageName) => JobContent
  parts: EventParts
}

function linksOfJob(event: Extract<OpenLineageEvent, { kind: 'run' | 'job' }>, named: Named): Link[] {
  const { note, noteJob, parts } = named
  const entries = lineageEntries(event, named)
  return [
    ...event.inputs.map((dataset): Link => ['input', note(dataset)]),
    ...event.outputs.map((dataset): Link => ['output', note(dataset)]),
    // If the facet `lineage` is present, only it describes columns.
    ...(entries
      ? entries.flatMap((entry) => linksOfEntry(entry, named))
      : event.outputs.flatMap((dataset) =>
          columnLinks('column', note(dataset), columnLineageOf(dataset, note(dataset), named), named)
        )),
    ...dependencies(event, 'upstream', parts).flatMap(({ name, field }): Link[] => {
      const job = parts.take(() => inPlace(field, () => noteJob(name)))
      return job ? [['afterJob', job.urn]] : []
    })
  ]
}

/**
 * The entries of the facet `lineage` of the job and of its outputs; null if neither has the facet, or all of
 * them are empty and so say nothing.
 */
function lineageEntries(
  { job, outputs }: Extract<OpenLineageEvent, { kind: 'run' | 'job' }>,
  reading: Named
): LineageEntry[] | null {
  const { lineage } = job.facets
  const ofJob = isObject(lineage) ? readLineageOfJob(lineage, 'job.facets.lineage', reading) : []
  const ofOutputs = outputs.flatMap((dataset) => {
    const { lineage: facet } = dataset.facets
    return isObject(facet) && statesLineage(facet)
      ? [readLineageOfDataset(facet, dataset, `${dataset.field}.facets.lineage`, reading)]
      : []
  })
  const entries = [...ofJob, ...ofOutputs]
  return entries.length > 0 ? entries : null
}

type DatasetEnd = Extract<LineageEnd, { type: 'DATASET' }>
type JobEnd = Extract<LineageEnd, { type: 'JOB' }>

function linksOfEntry({ target, inputs, columns, isDescribed }: LineageEntry, named: Named): Link[] {
  const { ownJob, note, noteJob, parts } = named
  const datasetAt = ({ dataset, field }: DatasetEnd): Urn | null =>
    parts.take(() => inPlace(field, () => note(dataset)))
  const jobAt = ({ job, field }: JobEnd): Urn | null =>
    job ? parts.take(() => inPlace(field, () => noteJob(job)).urn) : ownJob
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
  if (urn === null) return []
  return [
    ...(isDescribed ? [['described', urn] satisfies Link] : []),
    ...inputs.flatMap((input): Link[] => {
      if (input.type === 'JOB') return linkOf(input, 'write', urn)
      const upstream = datasetAt(input)
      return upstream === null ? [] : [['direct', urn, upstream]]
    }),
    ...columnLinks('directColumn', urn, columns, named)
  ]
}

function columnLineageOf(target: EventDataset, urn: Urn, { parts }: Named): ColumnsOfFacet {
  const { columnLineage, schema } = target.facets
  if (!isObject(columnLineage)) return new Map()
  const names = isObject(schema) ? topColumnsOf(schema).filter((name) => canBeColumn(urn, name)) : []
  const place = `${target.field}.facets.columnLineage`
  return readColumnLineage(columnLineage, place, { names, target, parts })
}

const columnLinks = (
  kind: 'column' | 'directColumn',
  urn: Urn,
  columns: ColumnsOfFacet,
  { jobOfRun, note, parts }: Named
): Link[] =>
  [...columns].flatMap(([column, inputs]) =>
    inputs.flatMap(
      (input): Link[] =>
        parts.take((): Link[] => {
          checkColumn(urn, column, input.field)
          const upstream = inPlace(input.field, () => note(input.dataset))
          checkColumn(upstream, input.column, input.field)
          return kind === 'directColumn' && jobOfRun !== null
            ? [[kind, urn, column, upstream, input.column, input.operation, jobOfRun]]
            : [[kind, urn, column, upstream, input.column, input.operation]]
        }) ?? []
    )
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

/**
 * The datasets from which a dataset is made, without a known job: `lineage`, otherwise `columnLineage`; null
 * if the event says nothing about them. A deleted facet says that there are none.
 */
function declaredLinks(dataset: EventDataset, named: Named): Link[] | null {
  const { lineage, columnLineage } = dataset.facets
  const { note, parts } = named
  const place = `${dataset.field}.facets`
  if (isObject(lineage) && statesLineage(lineage))
    return linksOfEntry(readLineageOfDataset(lineage, dataset, `${place}.lineage`, named), named)
  const isDeleted = lineage === null || columnLineage === null
  if (!isObject(columnLineage)) return isDeleted ? [] : null
  const urn = note(dataset)
  const columns = columnLineageOf(dataset, urn, named)
  const inputs = [
    ...[...columns.values()].flat().filter(({ column }) => column !== rowsPath),
    ...readTableInputs(columnLineage.dataset, `${place}.columnLineage.dataset`, parts)
  ]
  if (inputs.length === 0) return isDeleted ? [] : null
  return [
    ...inputs.flatMap(({ dataset: input, field }): Link[] => {
      const upstream = parts.take(() => inPlace(field, () => note(input)))
      return upstream === null ? [] : [['direct', urn, upstream]]
    }),
    ...columnLinks('directColumn', urn, columns, named)
  ]
}

/** The jobs in a list of the facet `jobDependencies`, each with its place in the event. */
function dependencies(
  event: OpenLineageEvent,
  listName: 'upstream' | 'downstream',
  parts: EventParts
): { name: OpenLineageName; field: string }[] {
  const facet = event.kind === 'run' ? event.run.facets.jobDependencies : null
  if (!isObject(facet)) return []
  return parts
    .objects(facet[listName], `run.facets.jobDependencies.${listName}`)
    .flatMap(({ each, place }) => {
      const field = `${place}.job`
      const { job } = each
      const name = parts.take(() => {
        if (!isObject(job)) throw refuse(field, 'must be an object')
        return readName(job, field)
      })
      return name ? [{ name, field }] : []
    })
}

function parentRun({ parent }: JsonObject, parts: EventParts): Urn | null {
  if (!isObject(parent)) return null
  const place = 'run.facets.parent.run'
  const runId = isObject(parent.run) ? parent.run.runId : null
  if (typeof runId === 'string' && runId.trim() !== '')
    return parts.take(() => inPlace(`${place}.runId`, () => runUrn(runId.trim())))
  parts.drop(refuse(`${place}.runId`, 'must be a text that is not empty'))
  return null
}

function tableOf({ field, facets: { symlinks } }: EventDataset, parts: EventParts): OpenLineageName | null {
  if (!isObject(symlinks)) return null
  const tables = parts
    .objects(symlinks.identifiers, `${field}.facets.symlinks.identifiers`)
    .flatMap(({ each, place }) =>
      each.type === 'TABLE' ? (parts.take(() => readName(each, place)) ?? []) : []
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

function factsOfDataset(dataset: EventDataset, urn: Urn, parts: EventParts): Facts {
  const { schema, lifecycleStateChange: lifecycle } = dataset.facets
  const place = `${dataset.field}.facets.schema`
  const read = isObject(schema)
    ? parts.take(() => {
        const columns = columnsOf(schema.fields, `${place}.fields`, parts)
        const document = schemaOf(columns, platformOf(urn) ?? '', dataset.name)
        checkJson(document, place)
        return document
      })
    : null
  return {
    ...factsOf(dataset, `${dataset.field}.facets`, parts),
    // A deleted facet ends what events stated about the columns.
    ...(read || schema === null ? { schema: read } : {}),
    ...(isObject(lifecycle) && typeof lifecycle.lifecycleStateChange === 'string'
      ? { isDropped: lifecycle.lifecycleStateChange === 'DROP' }
      : {})
  }
}

const sqlMaxChars = 20_000
const addressMaxChars = 2_000

/** Includes how the job runs, BATCH or STREAMING, its SQL, and the address of its code. */
function factsOfJob(job: EventJob, parts: EventParts): Facts {
  const { jobType, sql, sourceCodeLocation: code } = job.facets
  const query = isObject(sql) ? shortText(sql.query, sqlMaxChars) : null
  const codeUrl = isObject(code) ? webAddress(code.url ?? code.repoUrl) : null
  const processingType = isObject(jobType) ? jobType.processingType : null
  return {
    ...factsOf(job, 'job.facets', parts),
    ...(typeof processingType === 'string' ? { processingType: processingType.toUpperCase() } : {}),
    ...(query === null ? {} : { sql: query }),
    ...(codeUrl === null ? {} : { codeUrl })
  }
}

/** Only what a page can link to. */
function webAddress(value: JsonValue | undefined): string | null {
  const text = shortText(value, addressMaxChars)
  return text !== null && /^https?:\/\//i.test(text) && URL.canParse(text) ? text : null
}

/**
 * The fact of a deleted facet is that there is nothing. An empty facet, or one of which nothing could be read,
 * says nothing. `field` is the place of the facets.
 */
function factsOf(
  { facets: { documentation, ownership, tags } }: Pick<EventJob, 'facets'>,
  field: string,
  parts: EventParts
): Facts {
  const description = isObject(documentation)
    ? parts.take(() => {
        const text = descriptionOf(documentation)
        checkJson(text, `${field}.documentation.description`)
        return text
      })
    : null
  const owners = isObject(ownership) ? ownersOf(ownership, `${field}.ownership`, parts) : []
  const ofTags = isObject(tags) ? tagsOf(tags, `${field}.tags`, parts) : []
  return {
    ...(description === null && documentation !== null ? {} : { description }),
    ...(owners.length === 0 && ownership !== null ? {} : { owners }),
    ...(ofTags.length === 0 && tags !== null ? {} : { tags: ofTags })
  }
}
