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
const droppedPart = object({
  field: text('The path of the part.'),
  reason: text('An explanation for people.')
})
const one: Description = {
  tag: 'openlineage',
  summary: 'Accepts an event',
  more: 'The event is committed before the answer is sent. The body may be compressed with gzip.',
  ignoresUnknownParameters: true,
  body: event,
  answers: {
    201: {
      is: 'Committed. Without a body if all of the event could be read.',
      json: object({
        droppedParts: object({
          count: integer('Parts of the event that could not be read and were left out.'),
          first: listOf(droppedPart, { maxItems: 20 })
        })
      })
    }
  }
}
const several: Description = {
  tag: 'openlineage',
  summary: 'Accepts several events',
  ignoresUnknownParameters: true,
  body: listOf(event, { maxItems: limits.openLineageBatchMaxCount }),
  answers: {
    200: {
      is: 'Each event is applied on its own: a faulty event does not affect the others.',
      json: object(
        {
          status: oneOf(['success', 'partial_success'], 'Whether all events were accepted.'),
          summary: object(
            {
              received: integer('The number of events.'),
              successful: integer('Events that were accepted.'),
              failed: integer('Events that were refused.'),
              retriable: integer('Refused events to send again.'),
              non_retriable: integer('Refused events that are faulty.'),
              dropped_parts: integer('Parts of accepted events that could not be read and were left out.')
            },
            { optional: ['dropped_parts'] }
          ),
          failed_events: listOf(
            object({
              index: integer('The index of the event, from 0.'),
              reason: text('An explanation for people.'),
              retriable: { type: 'boolean' }
            })
          ),
          dropped_parts: listOf(
            object({
              index: integer('The index of the event, from 0.'),
              field: text('The path of the part.'),
              reason: text('An explanation for people.')
            }),
            { maxItems: 100 }
          )
        },
        { optional: ['dropped_parts'] }
      )
    }
  }
}

const page: { [name: string]: Schema } = {
  limit: integer('Entries in a page.', { maximum: limits.openLineagePageMaxCount, default: 100 }),
  offset: integer('Entries to skip.', { default: 0 })
}
const walk: { [name: string]: Schema } = {
  nodeId: text('Such as dataset:postgres://db:5432:shop.public.orders.'),
  depth: integer('The number of hops.', { maximum: limits.walkMaxHops, default: 20 }),
  direction: oneOf(['upstream', 'downstream', 'both'], 'The direction to follow from the node.')
}
const marquez = (
  summary: string,
  json: Schema,
  more: Pick<Description, 'query' | 'params' | 'required'> = {}
): Description => ({
  tag: 'marquez',
  summary,
  ...more,
  answers: { 200: { is: 'The answer in the form of Marquez.', json } }
})
const graph = object(
  { graph: listOf(anyObject('`id`, `type`, `data`, `inEdges`, `outEdges`.')) },
  { additionalProperties: true }
)
const total = { totalCount: integer('Entries in all pages together.') }
const named: { [name: string]: Schema } = {
  namespace: text('Percent-encoded.'),
  name: text('Percent-encoded.')
}
const noQuery = { ignoresUnknownParameters: true } as const

export const openLineageDescriptions: Descriptions = {
  'POST /api/v1/lineage': one,
  'POST /openapi/openlineage/api/v1/lineage': { ...one, summary: 'Accepts an event, under DataHub’s path' },
  'POST /api/v1/lineage/batch': several,
  'POST /openapi/openlineage/api/v1/lineage/batch': {
    ...several,
    summary: 'Accepts several events, under DataHub’s path'
  },
  'GET /openlineage/resolve': {
    tag: 'openlineage',
    summary: 'Returns the URN of the name of a dataset',
    query: { namespace: text('Such as postgres://db:5432.'), name: text('Such as shop.public.orders.') },
    required: ['namespace', 'name'],
    answers: {
      200: {
        is: 'The dataset, and the rule that decided.',
        json: object(
          {
            urn: text('The current URN of the dataset.'),
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
      withDownstream: {
        type: 'boolean',
        description: 'Means direction=both; only one of the two parameters may be given.'
      }
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
    'Lists events as they were sent',
    object({
      events: listOf(event),
      ...total,
      truncatedBy: { type: ['string', 'null'], description: 'The limit that ended the page early.' }
    }),
    {
      query: {
        before: text('Only events before this time, in ISO 8601.'),
        after: text('Only events at this time or later, in ISO 8601.'),
        urn: text('Only events about this run, job or dataset.'),
        sortDirection: oneOf(['asc', 'desc'], 'The order, by the time of the event.', { default: 'desc' }),
        ...page
      }
    }
  ),
  'GET /api/v1/search': marquez(
    'Finds datasets and jobs by their name',
    object({ results: listOf(anyObject('A dataset or job.')), ...total }),
    {
      query: {
        q: text('Words to find.'),
        filter: oneOf(['dataset', 'job'], 'Finds only entities of this kind.'),
        sort: oneOf(['name', 'update_at', 'updated_at'], 'The order within the page.'),
        limit: integer('The most results.', { maximum: limits.openLineagePageMaxCount, default: 10 })
      },
      required: ['q']
    }
  )
}
