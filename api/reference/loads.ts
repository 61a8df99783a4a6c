/** The reference of the routes of loads. docs/loading.md explains them. */
import { recordFormats } from '../../shared/formats/load-formats.ts'
import { limits } from '../../shared/limits.ts'
import { loadStates } from '../../shared/model/load-moves.ts'
import {
  flag,
  integer,
  listOf,
  object,
  oneOf,
  ref,
  text,
  type Answer,
  type Descriptions,
  type Schema
} from './description.ts'

const id = text('The id of a load.', { format: 'uuid' })
const wait: Schema = {
  type: 'number',
  minimum: 0,
  maximum: limits.loadWaitMaxSeconds,
  default: 0,
  description: 'Seconds to wait for the end of the load.'
}
const location = { location: text('The path of the load.') }
const ended: Answer = { is: 'The load, which has ended.', json: ref('Load'), headers: location }
const running: Answer = { is: 'The load, which is not done yet.', json: ref('Load'), headers: location }

export const loadDescriptions: Descriptions = {
  'POST /loads': {
    tag: 'loads',
    summary: 'Submits records in bulk',
    more: 'The body is stored as it arrives, and workers apply it. The answer says that it is stored, and what became of it with `wait`. An interrupted upload changes nothing.',
    query: {
      format: oneOf(recordFormats, 'Default: by Content-Type, else by the body.'),
      source: text('The name under which edges are stated.', { maxLength: limits.sourceNameMaxChars }),
      mode: oneOf(
        ['merge', 'snapshot'],
        'A snapshot removes what its source stated before and does not state now.'
      ),
      force: flag('A snapshot may remove any share of what its source states.'),
      atomic: flag('All records are applied, or none.'),
      dryRun: flag('Nothing is applied; `report` of the load says what would change.'),
      missingReferences: oneOf(['reject', 'create'], 'What to do about references to absent entities.'),
      owners: flag('Of a dbt project: also load owners.'),
      domains: oneOf(['no', 'unset', 'all'], 'Of a dbt project: also put assets into domains.'),
      namespace: text('Of a dbt project: the namespace of its database, such as postgres://host:5432.'),
      wait
    },
    headers: {
      'idempotency-key': text('Requests with the same key are one load.', {
        maxLength: limits.idempotencyKeyMaxChars
      }),
      'content-encoding': oneOf(['gzip', 'zstd', 'identity'], 'The body may be compressed.'),
      'x-missing-references': oneOf(['reject', 'create'], 'As the parameter, which wins.')
    },
    bodies: {
      'application/x-ndjson': text('One record per line.'),
      'text/csv': text('With a header row.'),
      'application/json': text('A JSON list of change proposals or events, or a dbt manifest.')
    },
    answers: { 200: ended, 202: running }
  },
  'GET /loads': {
    tag: 'loads',
    summary: 'Lists loads, newest first',
    more: 'Those of the token; all of them with the scope admin.',
    query: {
      limit: integer('Loads in a page.', {
        minimum: 1,
        maximum: limits.pageMaxCount,
        default: limits.pageDefaultCount
      }),
      cursor: text('`nextCursor` of the page before.'),
      state: text(`Separated by commas: ${loadStates.join(', ')}.`),
      source: text('The source.'),
      mode: oneOf(['merge', 'snapshot', 'undo'], 'The mode.'),
      since: text('ISO 8601, or milliseconds since 1970.'),
      idPrefix: text('How the id begins.')
    },
    answers: {
      200: {
        is: 'A page.',
        json: object({
          loads: listOf(ref('Load')),
          nextCursor: { type: ['string', 'null'], description: 'Null on the last page.' }
        })
      }
    }
  },
  'GET /loads/:id': {
    tag: 'loads',
    summary: 'Reads a load',
    params: { id },
    query: { wait },
    answers: { 200: { is: 'The load.', json: ref('Load') } }
  },
  'GET /loads/:id/events': {
    tag: 'loads',
    summary: 'Follows a load',
    more: 'Server-sent events: `event: load` with the load as `data`, at once and after every change; a comment every 15 quiet seconds. The stream ends after the load does, and after ten minutes.',
    params: { id },
    query: {},
    headers: { 'last-event-id': text('The id of the last event that was seen.') },
    answers: {
      200: { is: 'The stream.', bodies: { 'text/event-stream': { type: 'string' } } },
      204: { is: 'The load has ended, and its last event was seen.' }
    }
  },
  'GET /loads/:id/rejects': {
    tag: 'loads',
    summary: 'Reads the rejected records of a load',
    params: { id },
    query: {
      after: integer('Begins after this line.', { default: 0 }),
      limit: integer('Rejects in a page.', { minimum: 1, maximum: limits.pageMaxCount, default: 1_000 }),
      format: oneOf(['ndjson', 'csv'], 'csv only for loads of CSV.', { default: 'ndjson' })
    },
    answers: {
      200: {
        is: 'In line order: a reject per line, or the rows with four columns in front.',
        bodies: { 'application/x-ndjson': ref('Reject'), 'text/csv': { type: 'string' } }
      }
    }
  },
  'POST /loads/:id/retry': {
    tag: 'loads',
    summary: 'Applies rejects again, or continues a failed load',
    params: { id },
    query: { wait, force: flag('A snapshot may remove any share of what its source states.') },
    answers: { 200: ended, 202: running }
  },
  'POST /loads/:id/undo': {
    tag: 'loads',
    summary: 'Takes back what a load changed',
    more: 'Except where something newer has changed it. This is a load of its own, whose `undoes` names the first.',
    params: { id },
    query: { wait, dryRun: flag('Only reports what the undo would change.') },
    answers: { 200: ended, 202: running }
  },
  'POST /loads/:id/cancel': {
    tag: 'loads',
    summary: 'Ends a load that has not ended',
    more: 'What is applied stays.',
    params: { id },
    query: {},
    answers: { 200: { is: 'The load.', json: ref('Load') } }
  }
}
