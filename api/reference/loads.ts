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
const running: Answer = { is: 'The load, which has not ended yet.', json: ref('Load'), headers: location }

export const loadDescriptions: Descriptions = {
  'POST /loads': {
    tag: 'loads',
    summary: 'Submits records in bulk',
    more: 'The body is stored as it arrives, and workers apply it. The answer confirms that the body is stored; with `wait` it also has the result. An interrupted upload changes nothing.',
    query: {
      format: oneOf(recordFormats, 'The format. Default: by Content-Type, otherwise by the body.'),
      source: text('The name under which edges are stated.', { maxLength: limits.sourceNameMaxChars }),
      mode: oneOf(
        ['merge', 'snapshot'],
        'A snapshot removes statements that its source made before and does not make now.'
      ),
      force: flag('A snapshot may remove any share of what its source states.'),
      atomic: flag('All records are applied, or none.'),
      dryRun: flag('Nothing is applied; `report` of the load says what would change.'),
      missingReferences: oneOf(['reject', 'create'], 'What to do about references to absent entities.'),
      owners: flag('For a dbt project: whether owners are loaded.'),
      domains: oneOf(['no', 'unset', 'all'], 'For a dbt project: whether assets are put into domains.'),
      namespace: text('For a dbt project: the namespace of its database, such as postgres://host:5432.'),
      dialect: text('For SQL files, which need it: such as postgres, snowflake or bigquery.'),
      platform: text('For SQL files: the platform of the tables. Default: that of the dialect.'),
      platformInstance: text('For SQL files: the platform instance of the tables.'),
      env: text('For SQL files: the environment of the tables. Default: PROD.'),
      database: text('For SQL files: the database of names without one.'),
      schema: text('For SQL files: the schema of names without one.'),
      wait
    },
    headers: {
      'idempotency-key': text('Requests with the same key are one load.', {
        maxLength: limits.idempotencyKeyMaxChars
      }),
      'content-encoding': oneOf(['gzip', 'zstd', 'identity'], 'The body may be compressed.'),
      'x-missing-references': oneOf(
        ['reject', 'create'],
        'As the parameter `missingReferences`, which takes precedence.'
      )
    },
    bodies: {
      'application/x-ndjson': text('One record per line.'),
      'text/csv': text('Rows, after a header row.'),
      'application/json': text('A JSON list of change proposals or events, or a dbt manifest.')
    },
    answers: { 200: ended, 202: running }
  },
  'GET /loads': {
    tag: 'loads',
    summary: 'Lists loads, newest first',
    more: 'Only the loads of the token; with the scope admin, all loads.',
    query: {
      limit: integer('Loads in a page.', {
        minimum: 1,
        maximum: limits.pageMaxCount,
        default: limits.pageDefaultCount
      }),
      cursor: text('`nextCursor` of the previous page.'),
      state: text(`States, separated by commas: ${loadStates.join(', ')}.`),
      source: text('The source.'),
      mode: oneOf(['merge', 'snapshot', 'undo'], 'The mode.'),
      since: text('ISO 8601, or milliseconds since 1970.'),
      idPrefix: text('The beginning of the id.')
    },
    answers: {
      200: {
        is: 'A page.',
        json: object({
          loads: listOf(ref('Load')),
          nextCursor: {
            type: ['string', 'null'],
            description: 'The value of `cursor` for the next page; null on the last page.'
          }
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
    more: 'Server-sent events: `event: load` with the load as `data`, at once and after every change; a comment after every 15 seconds without a change. The stream ends after the load does, and after ten minutes.',
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
      after: integer('The page begins after this line.', { default: 0 }),
      limit: integer('Rejects in a page.', { minimum: 1, maximum: limits.pageMaxCount, default: 1_000 }),
      format: oneOf(['ndjson', 'csv'], 'The format; csv is only available for loads of CSV.', {
        default: 'ndjson'
      })
    },
    answers: {
      200: {
        is: 'The rejects in line order: one per line, or as CSV rows with four columns in front.',
        bodies: { 'application/x-ndjson': ref('Reject'), 'text/csv': { type: 'string' } }
      }
    }
  },
  'POST /loads/:id/retry': {
    tag: 'loads',
    summary: 'Applies rejects again, or continues a failed load',
    params: { id },
    query: {
      wait,
      force: flag('A snapshot may remove any share of what its source states.'),
      missingReferences: oneOf(
        ['reject', 'create'],
        'What to do from now on about references to absent entities. Default: what the load was sent with.'
      )
    },
    answers: { 200: ended, 202: running }
  },
  'POST /loads/:id/undo': {
    tag: 'loads',
    summary: 'Undoes what a load changed',
    more: 'A value that something newer has changed stays. The undo is a load of its own, whose `undoes` names the load.',
    params: { id },
    query: { wait, dryRun: flag('Only reports what the undo would change.') },
    answers: { 200: ended, 202: running }
  },
  'POST /loads/:id/cancel': {
    tag: 'loads',
    summary: 'Ends a load that has not ended',
    more: 'Records that have been applied stay applied.',
    params: { id },
    query: {},
    answers: { 200: { is: 'The load.', json: ref('Load') } }
  }
}
