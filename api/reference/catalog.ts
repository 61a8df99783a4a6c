/**
 * The reference of our own routes except loads: GraphQL, lineage, domains, names, sessions, the service.
 * docs/api.md explains them.
 */
import { limits } from '../../shared/limits.ts'
import { timeWindowRule } from '../../shared/model/edge-stamps.ts'
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
  more: 'Errors are inside the answer, with status 200, as DataHub’s clients require. With `Accept: application/graphql-response+json` the answer has the status codes of GraphQL over HTTP.',
  ignoresUnknownParameters: true,
  body: object(
    {
      query: text('The GraphQL document.'),
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
  status: oneOf(['ready', 'degraded', 'unavailable'], 'The state in one word.'),
  database: oneOf(['up', 'down'], 'Whether Postgres answers.'),
  schema: text('current, or the problem with the schema.'),
  queue: oneOf(['up', 'down'], 'Whether the queue answers, in Redis or in Postgres.'),
  isStopping: { type: 'boolean' }
}

const readinessWith = (summary: string, fields: Record<string, Schema>): Description => ({
  tag: 'service',
  summary,
  ignoresUnknownParameters: true,
  answers: {
    200: {
      is: 'The service can be used. `degraded`: the queue does not answer, but loads are accepted.',
      json: object(fields)
    },
    503: { is: 'The service cannot be used; the body has the same fields.' }
  }
})

const readiness = readinessWith('Says whether the service can be used', readinessFields)

const liveWorker = object({
  id: text('The id of the worker, new at each start; its log calls it workerId.'),
  version: text('The version of its program.'),
  startedAt: text('When the worker started.')
})

const domainRules = { is: 'The rules.', json: ref('DomainRules') }

const sqlTable = object({
  name: text('The name in the SQL, made whole with the defaults.'),
  urn: { type: ['string', 'null'], description: 'The asset that it means.' },
  exists: { type: 'boolean', description: 'Whether the catalog has it.' }
})

export const catalogDescriptions: Descriptions = {
  'POST /api/graphql': graphql,
  'POST /api/v2/graphql': { ...graphql, summary: 'Answers GraphQL under the path of DataHub’s frontend' },

  'GET /lineage/export': {
    tag: 'catalog',
    summary: 'Streams the assets that lineage reaches, as a file',
    more: 'The nearest assets come first. If an export fails after its first row, the connection closes before the body is complete.',
    query: {
      urn: text('The start: an asset or a column, as a URN or a short reference.'),
      direction: oneOf(['UPSTREAM', 'DOWNSTREAM'], 'The direction to follow from the start.', {
        default: 'DOWNSTREAM'
      }),
      format: oneOf(['csv', 'ndjson', 'dot', 'mermaid'], 'The format of the file.', { default: 'csv' }),
      of: oneOf(
        ['entities', 'edges', 'graph'],
        'The contents of the file. graph contains both, and is not available as csv.'
      ),
      hops: integer('The maximum number of hops.', { minimum: 1 }),
      types: text('Entity types, separated by commas: DATASET,DASHBOARD.'),
      query: text('Keeps entities with this text in their name, description or URN.'),
      degree: text('Degrees, separated by commas: 1,2,3+.'),
      platform: text('Platforms, separated by commas.'),
      domain: text('Keeps entities that are directly in this domain.'),
      columns: flag('Starts at all columns of an asset.'),
      startTimeMillis: integer(`From this time on. Milliseconds since 1970. ${timeWindowRule}`),
      endTimeMillis: integer('Up to this time; now by default. Milliseconds since 1970.'),
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
          'x-lineage-total': text('The number of entities in the export.'),
          'x-lineage-truncated-by': text('The limit that was reached, if any.'),
          'x-lineage-start-time': text('The begin of the time that the export is limited to, if it is.'),
          'x-lineage-end-time': text('The end of that time.')
        }
      }
    }
  },
  'GET /domains/export': {
    tag: 'catalog',
    summary: 'Streams which asset is in which domain as a file',
    query: {
      format: oneOf(['csv', 'ndjson'], 'The format of the file; a load accepts both.', { default: 'csv' }),
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
        is: 'The entity. If several entities match, or none, the error lists candidates.',
        json: object({
          urn: text('The URN of the entity.'),
          type: text('Its type, as in GraphQL.'),
          exists: { type: 'boolean', description: 'False for a placeholder.' }
        })
      }
    }
  },
  'POST /rest/v1/sql/lineage': {
    tag: 'catalog',
    summary: 'Says which columns SQL reads and writes',
    more: 'Nothing is stored, and nothing is run. SQL that cannot be read is not an error: the statement says so in `problems`.',
    query: { indirect: flag('Also the columns that only filter, join, group or sort.') },
    body: object(
      {
        sql: text('One statement, or a script.'),
        dialect: text('Such as postgres, snowflake or bigquery. Default: generic.'),
        database: text('The database of names without one.'),
        schema: text('The schema of names without one.'),
        schemas: anyObject(
          'Columns of tables, which win over those of the catalog: `{"db.schema.table": {"column": "type"}}`.'
        ),
        platform: text('The platform of the tables. Default: that of the dialect.'),
        platformInstance: text('The platform instance of the tables.'),
        env: text('The environment of the tables. Default: PROD.'),
        indirect: { type: 'boolean' }
      },
      {
        optional: [
          'dialect',
          'database',
          'schema',
          'schemas',
          'platform',
          'platformInstance',
          'env',
          'indirect'
        ]
      }
    ),
    answers: {
      200: {
        is: 'The statements, in order.',
        json: object({
          statements: listOf(
            object(
              {
                kind: text('SELECT, INSERT, MERGE …, or UNKNOWN for one that could not be read.'),
                line: integer('The line on which it begins.'),
                inputs: listOf(sqlTable),
                outputs: listOf(sqlTable),
                columns: listOf(
                  object({
                    output: { type: ['string', 'null'] },
                    column: text('The column that is made.'),
                    upstreams: listOf(anyObject('`table`, `column`, `transformation`, `certainty`.')),
                    transformation: text('IDENTITY, TRANSFORMATION or AGGREGATION.'),
                    certainty: text('CERTAIN or BY_SCHEMA.')
                  })
                ),
                indirect: listOf(anyObject('`table`, `column`, `transformation`.')),
                problems: listOf(anyObject('`line`, `column`, `code`, `message`.'))
              },
              { optional: ['indirect'] }
            )
          )
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
        revision: text('The revision that was read. If it is no longer current, the answer is 409.')
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
        rules: listOf(ref('DomainRule'), { description: 'Rules to try instead of the current ones.' }),
        after: integer('`next` of the previous page.'),
        count: integer('Assets in a page.')
      },
      { optional: ['rules', 'after', 'count'], additionalProperties: false }
    ),
    answers: {
      200: {
        is: 'A page. An empty page may be followed by another.',
        json: object({
          changes: listOf(
            object({
              entityUrn: text('The asset.'),
              domainUrn: text('The domain that the rules choose for it.'),
              rule: integer('The index of the rule that decides, counted from 0.')
            })
          ),
          looked: integer('The number of assets that were examined.'),
          next: {
            type: ['integer', 'null'],
            description: 'The value of `after` for the next page; null on the last page.'
          }
        })
      }
    }
  },
  'POST /domain-rules/apply': {
    tag: 'catalog',
    summary: 'Applies the domain rules to assets that are in no domain',
    ignoresUnknownParameters: true,
    answers: {
      200: { is: 'No asset needs a domain, so there is no load.', json: object({ load: { type: 'null' } }) },
      202: { is: 'The load that applies them.', json: object({ load: anyObject('The load.') }) }
    }
  },

  'GET /session/methods': {
    tag: 'session',
    summary: 'Says how a browser can sign in',
    query: {},
    answers: {
      200: {
        is: 'The ways to sign in.',
        json: object({
          token: { type: 'boolean', description: 'Whether an access token works: always true.' },
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
      200: {
        is: 'The session.',
        json: ref('Session'),
        headers: { 'set-cookie': text('The cookie of the session.') }
      }
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
    answers: { 204: { is: 'The session has ended.' } }
  },
  'DELETE /session/all': {
    tag: 'session',
    summary: 'Signs out everywhere',
    query: {},
    answers: {
      200: {
        is: 'All sessions of the actor have ended.',
        json: object({ sessions: integer('The number of sessions that were ended.') })
      }
    }
  },

  'GET /health/live': {
    tag: 'service',
    summary: 'Says that the process answers',
    ignoresUnknownParameters: true,
    answers: { 200: { is: 'The process answers.', json: object({ status: { const: 'live' } }) } }
  },
  'GET /health/ready': readiness,
  'GET /health': { ...readiness, summary: 'Says whether the service can be used, as /health/ready does' },
  'GET /health/detailed': readinessWith('As /health/ready, with the workers that are alive', {
    ...readinessFields,
    workers: {
      anyOf: [listOf(liveWorker), { type: 'null' }],
      description:
        'The workers that are alive, beginning with those that started first; null if Postgres does not answer.'
    }
  }),
  'GET /problems/:code': {
    tag: 'service',
    summary: 'Explains an error code',
    more: 'The `type` of every error is the path of its code here.',
    ignoresUnknownParameters: true,
    params: { code: text('The code, such as `MISSING_REFERENCE`.') },
    answers: {
      200: { is: 'What the code means, for people.', bodies: { 'text/plain': { type: 'string' } } }
    }
  },
  'GET /version': {
    tag: 'service',
    summary: 'Says which version runs',
    ignoresUnknownParameters: true,
    answers: {
      200: {
        is: 'The version.',
        json: object({
          name: text('tributary'),
          version: text('The version of the program.'),
          node: text('The version of Node.js.')
        })
      }
    }
  },
  'GET /instance/proof': {
    tag: 'service',
    summary: 'Proves which server this is to the command line on its own machine',
    more: 'Only for callers on the same machine. 404 from a server that `tributary up` or `npm start` did not start.',
    query: {
      nonce: text('64 lower-case hexadecimal digits, chosen at random by the client for this request.')
    },
    required: ['nonce'],
    answers: {
      200: {
        is: 'The proof.',
        json: object({
          proof: text(
            'An HMAC over the nonce and the address of this connection, with the key of the server.'
          )
        })
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
      200: { is: 'The limits by name.', json: { type: 'object', additionalProperties: { type: 'number' } } }
    }
  },
  'GET /openapi.json': {
    tag: 'service',
    summary: 'This description',
    ignoresUnknownParameters: true,
    answers: { 200: { is: 'OpenAPI 3.1.', json: anyObject('OpenAPI 3.1.') } }
  }
}
