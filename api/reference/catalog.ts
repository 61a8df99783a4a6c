/**
 * The reference of our own routes except loads: GraphQL, lineage, domains, names, sessions, the service.
 * docs/api.md explains them.
 */
import { limits } from '../../shared/limits.ts'
import {
  anyObject,
  flag,
  integer,
  listOf,
  object,
  oneOf,
  ref,
  text,
  type Description,
  type Descriptions,
  type Schema
} from './description.ts'

const graphql: Description = {
  tag: 'graphql',
  summary: 'Answers a GraphQL request',
  more: 'Errors are inside the answer, with status 200, as DataHub’s clients require. With `Accept: application/graphql-response+json` statuses are those of GraphQL over HTTP.',
  ignoresUnknownParameters: true,
  body: object(
    {
      query: text('The document.'),
      variables: { type: ['object', 'null'], additionalProperties: true },
      operationName: { type: ['string', 'null'] }
    },
    { optional: ['variables', 'operationName'], additionalProperties: true }
  ),
  answers: {
    200: {
      is: 'Data, and errors.',
      json: object(
        {
          data: { type: ['object', 'null'], additionalProperties: true },
          errors: listOf(anyObject('`message`, `path`, and our code in `extensions.reason`.')),
          extensions: anyObject('Facts about the answer, such as whether a walk was complete.')
        },
        { optional: ['data', 'errors', 'extensions'] }
      )
    }
  }
}

const readinessFields: Record<string, Schema> = {
  status: oneOf(['ready', 'degraded', 'unavailable'], 'In one word.'),
  database: oneOf(['up', 'down'], 'Postgres.'),
  schema: text('current, or what is wrong with the schema.'),
  queue: oneOf(['up', 'down'], 'Redis, or the queue in Postgres.'),
  isStopping: { type: 'boolean' }
}

const readinessWith = (summary: string, fields: Record<string, Schema>): Description => ({
  tag: 'service',
  summary,
  ignoresUnknownParameters: true,
  answers: {
    200: {
      is: 'It can. `degraded`: the queue does not answer, and loads are accepted all the same.',
      json: object(fields)
    },
    503: { is: 'It cannot; the same body.' }
  }
})

const readiness = readinessWith('Says whether the service can be used', readinessFields)

const liveWorker = object({
  id: text('Of the worker, new at each start; its log has it as workerId.'),
  version: text('Of its program.'),
  startedAt: text('When it started.')
})

const domainRules = { is: 'The rules.', json: ref('DomainRules') }

export const catalogDescriptions: Descriptions = {
  'POST /api/graphql': graphql,
  'POST /api/v2/graphql': { ...graphql, summary: 'The same under the path of DataHub’s frontend' },

  'GET /lineage/export': {
    tag: 'catalog',
    summary: 'Streams the assets that lineage reaches, as a file',
    more: 'Nearest first. An export that fails after its first row ends without the end of its body.',
    query: {
      urn: text('The start: an asset or a column, as a URN or a short reference.'),
      direction: oneOf(['UPSTREAM', 'DOWNSTREAM'], 'Which way.', { default: 'DOWNSTREAM' }),
      format: oneOf(['csv', 'ndjson', 'dot', 'mermaid'], 'The form of the file.', { default: 'csv' }),
      of: oneOf(['entities', 'edges', 'graph'], 'What it contains; graph is both, and not for csv.'),
      hops: integer('The maximum number of hops.', { minimum: 1 }),
      types: text('Entity types, separated by commas: DATASET,DASHBOARD.'),
      query: text('Keeps what has the text in its name, description or URN.'),
      degree: text('Degrees, separated by commas: 1,2,3+.'),
      platform: text('Platforms, separated by commas.'),
      domain: text('Keeps what is directly in this domain.'),
      columns: flag('Starts at all columns of an asset.'),
      startTimeMillis: integer('Only edges since then. Milliseconds since 1970.'),
      endTimeMillis: integer('Only edges until then. Milliseconds since 1970.'),
      filters: text('The JSON of `orFilters` in GraphQL.')
    },
    required: ['urn'],
    answers: {
      200: {
        is: 'The file.',
        bodies: {
          'text/csv': { type: 'string' },
          'application/x-ndjson': { type: 'string' },
          'text/vnd.graphviz': { type: 'string' },
          'text/vnd.mermaid': { type: 'string' }
        },
        headers: {
          'x-lineage-complete': text('Whether everything was reached.'),
          'x-lineage-total': text('How many entities follow.'),
          'x-lineage-truncated-by': text('The limit that was reached, if any.')
        }
      }
    }
  },
  'GET /domains/export': {
    tag: 'catalog',
    summary: 'Streams which asset is in which domain as a file',
    query: {
      format: oneOf(['csv', 'ndjson'], 'The form of the file; a load reads either.', { default: 'csv' }),
      domain: text('Only this domain.')
    },
    answers: {
      200: {
        is: 'The file.',
        bodies: { 'text/csv': { type: 'string' }, 'application/x-ndjson': { type: 'string' } }
      }
    }
  },
  'GET /resolve': {
    tag: 'catalog',
    summary: 'Says which entity a short reference means',
    query: { reference: text('Such as snowflake:db.schema.table, or table@PROD.') },
    required: ['reference'],
    answers: {
      200: {
        is: 'The one entity. If several match or none, the error lists candidates.',
        json: object({
          urn: text('Its URN.'),
          type: text('Its type, as in GraphQL.'),
          exists: { type: 'boolean', description: 'False for a placeholder.' }
        })
      }
    }
  },
  'GET /domain-rules': {
    tag: 'catalog',
    summary: 'Reads the domain rules',
    query: {},
    answers: { 200: domainRules }
  },
  'PUT /domain-rules': {
    tag: 'catalog',
    summary: 'Replaces the domain rules',
    ignoresUnknownParameters: true,
    body: object(
      {
        rules: listOf(ref('DomainRule'), { maxItems: limits.domainRulesMaxCount }),
        revision: text('Applied only if this is still the current revision; otherwise 409.')
      },
      { optional: ['revision'], additionalProperties: false }
    ),
    answers: { 200: domainRules }
  },
  'DELETE /domain-rules': {
    tag: 'catalog',
    summary: 'Removes all domain rules',
    ignoresUnknownParameters: true,
    answers: { 200: domainRules }
  },
  'POST /domain-rules/preview': {
    tag: 'catalog',
    summary: 'Says which assets domain rules would move',
    ignoresUnknownParameters: true,
    body: object(
      {
        rules: listOf(ref('DomainRule'), { description: 'Instead of those in force.' }),
        after: integer('`next` of the page before.'),
        count: integer('Assets in a page.')
      },
      { optional: ['rules', 'after', 'count'], additionalProperties: false }
    ),
    answers: {
      200: {
        is: 'A page. It may be empty and have a next one.',
        json: object({
          changes: listOf(
            object({
              entityUrn: text('The asset.'),
              domainUrn: text('Its domain.'),
              rule: integer('The rule that decides, from 0.')
            })
          ),
          looked: integer('How many assets were looked at.'),
          next: { type: ['integer', 'null'], description: 'Null on the last page.' }
        })
      }
    }
  },
  'POST /domain-rules/apply': {
    tag: 'catalog',
    summary: 'Applies the domain rules to assets that are in no domain',
    ignoresUnknownParameters: true,
    answers: {
      200: { is: 'Nothing would change.', json: object({ load: { type: 'null' } }) },
      202: { is: 'The load that does it.', json: object({ load: anyObject('The load.') }) }
    }
  },

  'GET /session/methods': {
    tag: 'session',
    summary: 'Says how a browser can sign in',
    query: {},
    answers: {
      200: {
        is: 'The ways there are.',
        json: object({
          token: { type: 'boolean', description: 'With an access token: always.' },
          identityProvider: { type: 'boolean', description: 'With an OpenID Connect provider, at /sign-in.' }
        })
      }
    }
  },
  'POST /session': {
    tag: 'session',
    summary: 'Signs a browser in',
    more: 'Sets the cookie `tributary_session`.',
    query: {},
    body: {
      oneOf: [
        object({ token: text('An access token.') }, { additionalProperties: false }),
        object(
          { code: text('The one-time code of a link that `tributary sign-in` prints.') },
          { additionalProperties: false }
        )
      ]
    },
    answers: {
      200: { is: 'The session.', json: ref('Session'), headers: { 'set-cookie': text('Its cookie.') } }
    }
  },
  'GET /session': {
    tag: 'session',
    summary: 'Reads the session',
    query: {},
    answers: { 200: { is: 'The session.', json: ref('Session') } }
  },
  'DELETE /session': {
    tag: 'session',
    summary: 'Signs out',
    query: {},
    answers: { 204: { is: 'The session is over.' } }
  },
  'DELETE /session/all': {
    tag: 'session',
    summary: 'Signs out everywhere',
    query: {},
    answers: {
      200: {
        is: 'All sessions of the actor are over.',
        json: object({ sessions: integer('How many there were.') })
      }
    }
  },

  'GET /health/live': {
    tag: 'service',
    summary: 'Says that the process answers',
    ignoresUnknownParameters: true,
    answers: { 200: { is: 'It does.', json: object({ status: { const: 'live' } }) } }
  },
  'GET /health/ready': readiness,
  'GET /health': { ...readiness, summary: 'The same as /health/ready' },
  'GET /health/detailed': readinessWith('The same, and which workers live', {
    ...readinessFields,
    workers: {
      anyOf: [listOf(liveWorker), { type: 'null' }],
      description: 'The workers that live, those that started first; null if Postgres does not answer.'
    }
  }),
  'GET /version': {
    tag: 'service',
    summary: 'Says which version runs',
    ignoresUnknownParameters: true,
    answers: {
      200: {
        is: 'The version.',
        json: object({ name: text('tributary'), version: text('Of the program.'), node: text('Of Node.js.') })
      }
    }
  },
  'GET /metrics': {
    tag: 'service',
    summary: 'Metrics for Prometheus',
    more: 'Needs the bearer token METRICS_TOKEN, or a caller on the same machine if there is none.',
    ignoresUnknownParameters: true,
    answers: { 200: { is: 'The metrics.', bodies: { 'text/plain': { type: 'string' } } } }
  },
  'GET /api/limits': {
    tag: 'service',
    summary: 'Reads every limit',
    ignoresUnknownParameters: true,
    answers: {
      200: { is: 'By name.', json: { type: 'object', additionalProperties: { type: 'number' } } }
    }
  },
  'GET /openapi.json': {
    tag: 'service',
    summary: 'This description',
    ignoresUnknownParameters: true,
    answers: { 200: { is: 'OpenAPI 3.1.', json: anyObject('OpenAPI 3.1.') } }
  }
}
