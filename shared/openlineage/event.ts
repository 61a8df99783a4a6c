/**
 * Reads OpenLineage events: run, job and dataset events in the envelope of the specification (2-0-2),
 * distinguished by their fields.
 */
import { CatalogError } from '../errors.ts'
import type { JsonObject, JsonValue } from '../model/changes.ts'
import { isObject } from '../model/json-values.ts'
import { parseEventTime } from './event-time.ts'
import { EventParts, isGiven, refuse } from './parts.ts'
import { storableEvent } from './storable-event.ts'

/** The name of a job or a dataset. */
export type OpenLineageName = { namespace: string; name: string }

/** `useFacets` are about how this run uses it: `inputFacets` or `outputFacets`. */
export type EventDataset = OpenLineageName & { facets: JsonObject; useFacets: JsonObject; field: string }
export type EventJob = OpenLineageName & { facets: JsonObject }
export type EventRun = { runId: string; facets: JsonObject }

/** `parts` has the parts that were left out. `stored` is the event without what cannot be stored. */
type Common = { timeMs: number; producer: string; parts: EventParts; stored: JsonValue }

export type OpenLineageEvent =
  | (Common & {
      kind: 'run'
      eventType: EventType | null
      run: EventRun
      job: EventJob
      inputs: EventDataset[]
      outputs: EventDataset[]
    })
  | (Common & {
      kind: 'job'
      job: EventJob
      inputs: EventDataset[]
      outputs: EventDataset[]
      /** False if both lists are absent or empty: the event does not say what the job reads and writes. */
      hasLists: boolean
    })
  | (Common & { kind: 'dataset'; dataset: EventDataset })

const eventTypes = ['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL', 'OTHER'] as const
export type EventType = (typeof eventTypes)[number]

/**
 * Checks the parts of an event that are used and leaves the rest unchanged: unknown facets are kept, and
 * `producer` and `schemaURL` may be missing. What cannot be read is left out, except the time of the event
 * and the names of what it is about. `field` is the place of the event, empty if it is the whole body. Throws
 * BAD_REQUEST naming the path, INVALID_CHARACTER, LIMIT_EXCEEDED.
 */
export function parseEvent(sent: unknown, field = ''): OpenLineageEvent {
  const parts = new EventParts()
  const event = storableEvent(sent, field, parts)
  if (!isObject(event)) {
    if (field !== '') throw refuse(field, 'must be an object')
    throw new CatalogError(
      'BAD_REQUEST',
      `The event must be an object${Array.isArray(event) ? ', not a list of events' : ''}`
    )
  }
  try {
    return readParts(event, field, parts)
  } catch (error) {
    const place = error instanceof CatalogError ? error.details.field : undefined
    // What is wrong with a value that could not be stored says more than that it is missing.
    throw (typeof place === 'string' ? parts.errorAt(place) : undefined) ?? error
  }
}

function readParts(event: JsonObject, field: string, parts: EventParts): OpenLineageEvent {
  const at = (path: string): string => (field === '' ? path : `${field}.${path}`)
  const common = {
    timeMs: parseEventTime(event.eventTime, at('eventTime')),
    producer: typeof event.producer === 'string' ? event.producer : '',
    parts,
    stored: event
  }
  const [hasRun, hasJob, hasDataset] = [isGiven(event.run), isGiven(event.job), isGiven(event.dataset)]
  const datasets = (name: 'inputs' | 'outputs'): EventDataset[] =>
    parts
      .objects(event[name], at(name))
      .flatMap(({ each, place }) => parts.take(() => readDataset(each, place, parts)) ?? [])
  if (hasRun && hasJob)
    return {
      ...common,
      kind: 'run',
      eventType: parts.take(() => readEventType(event.eventType, at('eventType'))),
      run: readRun(event.run, at('run'), parts),
      job: readJob(event.job, at('job'), parts),
      inputs: datasets('inputs'),
      outputs: datasets('outputs')
    }
  if (hasRun) throw refuse(at('job'), 'is missing: a run belongs to a job')
  if (hasDataset && !hasJob)
    return { ...common, kind: 'dataset', dataset: readDataset(event.dataset, at('dataset'), parts) }
  if (hasJob) {
    const [inputs, outputs] = [datasets('inputs'), datasets('outputs')]
    return {
      ...common,
      kind: 'job',
      job: readJob(event.job, at('job'), parts),
      inputs,
      outputs,
      hasLists: inputs.length + outputs.length > 0
    }
  }
  throw refuse(at('job'), 'is missing: an event describes a run and its job, a job, or a dataset')
}

function readEventType(sent: JsonValue | undefined, field: string): EventType | null {
  if (!isGiven(sent)) return null
  const found = eventTypes.find((type) => type === (typeof sent === 'string' ? sent.toUpperCase() : ''))
  if (!found) throw refuse(field, `must be one of ${eventTypes.join(', ')}`)
  return found
}

function readRun(sent: JsonValue | undefined, field: string, parts: EventParts): EventRun {
  if (!isObject(sent)) throw refuse(field, 'must be an object')
  return {
    runId: readText(sent.runId, `${field}.runId`),
    facets: readFacets(sent.facets, `${field}.facets`, parts)
  }
}

function readJob(sent: JsonValue | undefined, field: string, parts: EventParts): EventJob {
  if (!isObject(sent)) throw refuse(field, 'must be an object')
  return { ...readName(sent, field), facets: readFacets(sent.facets, `${field}.facets`, parts) }
}

function readDataset(sent: JsonValue | undefined, field: string, parts: EventParts): EventDataset {
  if (!isObject(sent)) throw refuse(field, 'must be an object')
  return {
    ...readName(sent, field),
    facets: readFacets(sent.facets, `${field}.facets`, parts),
    useFacets: {
      ...readFacets(sent.inputFacets, `${field}.inputFacets`, parts),
      ...readFacets(sent.outputFacets, `${field}.outputFacets`, parts)
    },
    field
  }
}

/** Throws BAD_REQUEST if the namespace or the name is not a text. */
export function readName(sent: JsonObject, field: string): OpenLineageName {
  return {
    namespace: readText(sent.namespace, `${field}.namespace`),
    name: readText(sent.name, `${field}.name`)
  }
}

function readText(sent: JsonValue | undefined, field: string): string {
  if (typeof sent !== 'string' || sent.trim() === '') throw refuse(field, 'must be a text that is not empty')
  return sent
}

/** Facets by their names: null if marked as deleted. A facet that is not an object is left out. */
const readFacets = (sent: JsonValue | undefined, field: string, parts: EventParts): JsonObject =>
  Object.fromEntries(
    Object.entries(parts.object(sent, field)).flatMap(([name, facet]) => {
      if (isObject(facet)) return [[name, facet._deleted === true ? null : facet]]
      if (isGiven(facet)) parts.drop(refuse(`${field}.${name}`, 'must be an object'))
      return []
    })
  )
