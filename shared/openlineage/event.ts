/**
 * Reads OpenLineage events: run, job and dataset events in the envelope of the specification (2-0-2),
 * distinguished by their fields.
 */
import { CatalogError } from '../errors.ts'
import type { JsonObject, JsonValue } from '../model/changes.ts'
import { checkJson } from '../model/json-checks.ts'
import { isObject } from '../model/json-values.ts'
import { parseEventTime } from './event-time.ts'

/** The name of a job or a dataset. */
export type OpenLineageName = { namespace: string; name: string }

export type EventDataset = OpenLineageName & { facets: JsonObject; field: string }
export type EventJob = OpenLineageName & { facets: JsonObject }
export type EventRun = { runId: string; facets: JsonObject }

type Common = { timeMs: number; producer: string }

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
      /** False if the event has neither list, so that it does not say what the job reads and writes. */
      hasLists: boolean
    })
  | (Common & { kind: 'dataset'; dataset: EventDataset })

const eventTypes = ['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL', 'OTHER'] as const
export type EventType = (typeof eventTypes)[number]

/**
 * Checks the parts of an event that are used and leaves the rest unchanged: unknown facets are kept, and
 * `producer` and `schemaURL` may be missing. `field` is the place of the event, empty if it is the whole
 * body. Throws BAD_REQUEST naming the path, INVALID_CHARACTER, LIMIT_EXCEEDED.
 */
export function parseEvent(sent: unknown, field = ''): OpenLineageEvent {
  const at = (path: string): string => (field === '' ? path : `${field}.${path}`)
  const event = checkJson(sent, field, { maxBytes: Infinity })
  if (!isObject(event)) {
    if (field !== '') throw refuse(field, 'must be an object')
    throw new CatalogError(
      'BAD_REQUEST',
      `The event must be an object${Array.isArray(event) ? ', not a list of events' : ''}`
    )
  }
  const common = {
    timeMs: parseEventTime(event.eventTime, at('eventTime')),
    producer: typeof event.producer === 'string' ? event.producer : ''
  }
  const [hasRun, hasJob, hasDataset] = [isGiven(event.run), isGiven(event.job), isGiven(event.dataset)]
  if (hasRun && hasJob)
    return {
      ...common,
      kind: 'run',
      eventType: readEventType(event.eventType, at('eventType')),
      run: readRun(event.run, at('run')),
      job: readJob(event.job, at('job')),
      inputs: readDatasets(event.inputs, at('inputs')),
      outputs: readDatasets(event.outputs, at('outputs'))
    }
  if (hasRun) throw refuse(at('job'), 'is missing: a run belongs to a job')
  if (hasDataset && !hasJob)
    return { ...common, kind: 'dataset', dataset: readDataset(event.dataset, at('dataset')) }
  if (hasJob)
    return {
      ...common,
      kind: 'job',
      job: readJob(event.job, at('job')),
      inputs: readDatasets(event.inputs, at('inputs')),
      outputs: readDatasets(event.outputs, at('outputs')),
      hasLists: isGiven(event.inputs) || isGiven(event.outputs)
    }
  throw refuse(at('job'), 'is missing: an event describes a run and its job, a job, or a dataset')
}

const isGiven = (value: JsonValue | undefined): boolean => value !== undefined && value !== null

function readEventType(sent: JsonValue | undefined, field: string): EventType | null {
  if (!isGiven(sent)) return null
  const found = eventTypes.find((type) => type === (typeof sent === 'string' ? sent.toUpperCase() : ''))
  if (!found) throw refuse(field, `must be one of ${eventTypes.join(', ')}`)
  return found
}

function readRun(sent: JsonValue | undefined, field: string): EventRun {
  if (!isObject(sent)) throw refuse(field, 'must be an object')
  return { runId: readText(sent.runId, `${field}.runId`), facets: readFacets(sent.facets, `${field}.facets`) }
}

function readJob(sent: JsonValue | undefined, field: string): EventJob {
  if (!isObject(sent)) throw refuse(field, 'must be an object')
  return { ...readName(sent, field), facets: readFacets(sent.facets, `${field}.facets`) }
}

function readDatasets(sent: JsonValue | undefined, field: string): EventDataset[] {
  if (!isGiven(sent)) return []
  if (!Array.isArray(sent)) throw refuse(field, 'must be a list')
  return sent.map((each, index) => readDataset(each, `${field}[${index}]`))
}

function readDataset(sent: JsonValue | undefined, field: string): EventDataset {
  if (!isObject(sent)) throw refuse(field, 'must be an object')
  return { ...readName(sent, field), facets: readFacets(sent.facets, `${field}.facets`), field }
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

/** Facets by their names: null if marked as deleted. A facet that is not an object counts as absent. */
function readFacets(sent: JsonValue | undefined, field: string): JsonObject {
  if (!isGiven(sent)) return {}
  if (!isObject(sent)) throw refuse(field, 'must be an object')
  return Object.fromEntries(
    Object.entries(sent).flatMap(([name, facet]) =>
      isObject(facet) ? [[name, facet._deleted === true ? null : facet]] : []
    )
  )
}

/** An error that names the place. */
export const refuse = (field: string, problem: string): CatalogError =>
  new CatalogError('BAD_REQUEST', `${field} ${problem}`, { field })
