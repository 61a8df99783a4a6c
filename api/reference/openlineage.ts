/** The reference of the routes of OpenLineage's and Marquez' clients. docs/openlineage.md and docs/guides/from-marquez.md explain them. */
import { limits } from '../../shared/limits.ts'
import {
  anyObject,
  integer,
  listOf,
  object,
  oneOf,
  text,
  type Description,
  type Descriptions,
  type Schema
} from './description.ts'

const event = anyObject('A run, job or dataset event of OpenLineage.')
const one: Description = {
  tag: 'openlineage',
  summary: 'Takes an event',
  more: 'Its content is committed before the answer. The body may be compressed with gzip.',
  ignoresUnknownParameters: true,
  body: event,
  answers: { 201: { is: 'Committed.' } }
}
const several: Description = {
  tag: 'openlineage',
  summary: 'Takes several events',
  ignoresUnknownParameters: true,
  body: listOf(event, { maxItems: limits.openLineageBatchMaxCount }),
  answers: {
    200: {
      is: 'What is wrong with one event does not touch the others.',
      json: object({
        status: oneOf(['success', 'partial_success'], 'Whether all were taken.'),
        summary: object({
          received: integer('Events.'),
          successful: integer('Events that were taken.'),
          failed: integer('Events that were refused.'),
          retriable: integer('Of these, those to send again.'),
          non_retriable: integer('Of these, those that are wrong.')
        }),
        failed_events: listOf(
          object({ index: integer('From 0.'), reason: text('For a person.'), retriable: { type: 'boolean' } })
        )
      })
    }
  }
}

const page: { [name: string]: Schema } = {
  limit: integer('Entries in a page.', { maximum: limits.openLineagePageMaxCount, default: 100 }),
  offset: integer('Entries to skip.', { default: 0 })
}
const walk: { [name: string]: Schema } = {
  nodeId: text('Such as dataset:postgres://db:5432:shop.public.orders.'),
  depth: integer('Hops.', { maximum: limits.walkMaxHops, default: 20 }),
  direction: oneOf(['upstream', 'downstream', 'both'], 'Which way.')
}
const marquez = (
  summary: string,
  json: Schema,
  more: Pick<Description, 'query' | 'params' | 'required'> = {}
): Description => ({ tag: 'marquez', summary, ...more, answers: { 200: { is: 'As Marquez has it.', json } } })
const graph = object(
  { graph: listOf(anyObject('`id`, `type`, `data`, `inEdges`, `outEdges`.')) },
  { additionalProperties: true }
)
const total = { totalCount: integer('In all pages.') }
const named: { [name: string]: Schema } = {
  namespace: text('Percent-encoded.'),
  name: text('Percent-encoded.')
}
const noQuery = { ignoresUnknownParameters: true } as const

export const openLineageDescriptions: Descriptions = {
  'POST /api/v1/lineage': one,
  'POST /openapi/openlineage/api/v1/lineage': { ...one, summary: 'Takes an event, under DataHub’s path' },
  'POST /api/v1/lineage/batch': several,
  'POST /openapi/openlineage/api/v1/lineage/batch': {
    ...several,
    summary: 'Takes several events, under DataHub’s path'
  },
  'GET /openlineage/resolve': {
    tag: 'openlineage',
    summary: 'Returns the URN of the name of a dataset',
    query: { namespace: text('Such as postgres://db:5432.'), name: text('Such as shop.public.orders.') },
    required: ['namespace', 'name'],
    answers: {
      200: {
        is: 'The dataset, and by which rule.',
        json: object(
          {
            urn: text('The URN of the dataset now.'),
            namedUrn: text('The URN made from the name, which may be an alias.')
          },
          { additionalProperties: true }
        )
      }
    }
  },

  'GET /api/v1/lineage': marquez('Reads the lineage of a dataset or job', graph, {
    query: walk,
    required: ['nodeId']
  }),
  'GET /api/v1/column-lineage': marquez('Reads the lineage of columns', graph, {
    query: {
      ...walk,
      withDownstream: { type: 'boolean', description: 'As direction=both; give one of the two.' }
    },
    required: ['nodeId']
  }),
  'GET /api/v1/namespaces': marquez(
    'Lists namespaces',
    object({ namespaces: listOf(anyObject('A namespace.')) }),
    { query: page }
  ),
  'GET /api/v1/namespaces/:namespace': {
    ...marquez('Reads a namespace', anyObject('The namespace.'), {
      params: { namespace: text('Percent-encoded.') }
    }),
    ...noQuery
  },
  'GET /api/v1/namespaces/:namespace/datasets': marquez(
    'Lists the datasets of a namespace',
    object({ datasets: listOf(anyObject('A dataset.')), ...total }),
    { query: page, params: { namespace: text('Percent-encoded.') } }
  ),
  'GET /api/v1/namespaces/:namespace/datasets/:name': {
    ...marquez('Reads a dataset', anyObject('The dataset.'), { params: named }),
    ...noQuery
  },
  'GET /api/v1/namespaces/:namespace/jobs': marquez(
    'Lists the jobs of a namespace',
    object({ jobs: listOf(anyObject('A job.')), ...total }),
    { query: page, params: { namespace: text('Percent-encoded.') } }
  ),
  'GET /api/v1/namespaces/:namespace/jobs/:name': {
    ...marquez('Reads a job', anyObject('The job.'), { params: named }),
    ...noQuery
  },
  'GET /api/v1/events/lineage': marquez(
    'Lists events as they came',
    object({
      events: listOf(event),
      ...total,
      truncatedBy: { type: ['string', 'null'], description: 'The limit that cut the page off.' }
    }),
    {
      query: {
        before: text('ISO 8601.'),
        after: text('ISO 8601.'),
        sortDirection: oneOf(['asc', 'desc'], 'By the time of the event.', { default: 'desc' }),
        ...page
      }
    }
  ),
  'GET /api/v1/search': marquez(
    'Finds datasets and jobs by their name',
    object({ results: listOf(anyObject('A dataset or job.')), ...total }),
    {
      query: {
        q: text('Words.'),
        filter: oneOf(['dataset', 'job'], 'Only these.'),
        sort: oneOf(['name', 'updated_at'], 'The order within the page.'),
        limit: integer('Results.', { maximum: limits.openLineagePageMaxCount, default: 10 })
      },
      required: ['q']
    }
  )
}
