/** The shapes that several routes share, by their name in the reference. */
import { errorCodes } from '../../shared/errors.ts'
import { loadStates } from '../../shared/model/load-moves.ts'
import { integer, listOf, object, oneOf, ref, text, type Schema } from './description.ts'

const millis = (description: string): Schema => integer(`${description} Milliseconds since 1970.`)
const orNull = (type: string, description: string): Schema => ({ type: [type, 'null'], description })

/** What was written and nobody sees, or could not be used. */
export const warnings: Schema = object({
  count: integer('How many there are.'),
  messages: listOf({
    type: 'string',
    description: 'The first 20: what could not be used, or stays hidden because its entity is soft-deleted.'
  })
})

const errorProperties: { readonly [name: string]: Schema } = {
  code: oneOf(Object.keys(errorCodes), 'The error code; docs/errors.md explains each.'),
  message: text('An explanation for people.'),
  requestId: text('The id by which the log names the request.'),
  field: text('The input at fault, such as `edges[37].upstreamUrn`.'),
  urn: text('The URN that is absent or wrong.'),
  limit: text('The limit that is exceeded; GET /api/limits has its value.'),
  maximum: { type: 'number' },
  actual: { type: 'number' },
  line: integer('The line of a load, from 1.'),
  allowed: listOf({ type: 'string' }, { description: 'The values that are allowed, if there are few.' }),
  candidates: listOf({ type: 'string' }, { description: 'URNs that the caller may have meant.' }),
  total: { type: 'number' },
  retryAfterSeconds: { type: 'number' }
}
const optionalErrorProperties = Object.keys(errorProperties).filter(
  (name) => !['code', 'message', 'requestId'].includes(name)
)

export const shapes: { readonly [name: string]: Schema } = {
  Problem: object(
    {
      type: text('The path that explains the code, `/problems/` and the code.', { format: 'uri-reference' }),
      title: text('A summary of the code.'),
      status: integer('The status of the answer.'),
      detail: text('An explanation for people.'),
      ...errorProperties
    },
    {
      optional: optionalErrorProperties,
      additionalProperties: true,
      description: 'An error as RFC 9457 has it, with our own members beside it.'
    }
  ),
  RestLiError: object(
    {
      exceptionClass: text('For DataHub’s clients, always the same.'),
      status: integer('The status of the answer.'),
      ...errorProperties
    },
    {
      optional: optionalErrorProperties,
      additionalProperties: true,
      description: 'An error as DataHub’s RestLi routes answer it, with our own members beside it.'
    }
  ),
  OpenApiError: object(
    { error: text('The kind of the error, in DataHub’s words.'), ...errorProperties },
    {
      optional: optionalErrorProperties,
      additionalProperties: true,
      description: 'An error as DataHub’s OpenAPI routes answer it, with our own members beside it.'
    }
  ),
  Load: object(
    {
      id: text('The id of the load.', { format: 'uuid' }),
      state: oneOf(loadStates, 'The state. A load that is done, failed, aborted or cancelled has ended.'),
      format: text('The format: ndjson, csv, mcp, openlineage, dbt or edges.'),
      mode: oneOf(['merge', 'snapshot', 'undo'], 'How the load treats earlier statements of its source.'),
      source: text('The name under which its edges are stated.'),
      actor: text('The actor that sent the load.'),
      atomic: { type: 'boolean' },
      dryRun: { type: 'boolean' },
      counts: object({
        received: integer('Records in the body.'),
        applied: integer('Records that changed something.'),
        unchanged: integer('Records that stated what the catalog had already.'),
        rejected: integer('Records that were refused.')
      }),
      snapshot: object(
        {
          sweep: text('The progress of removing statements that the snapshot does not make.'),
          stated: orNull('integer', 'Statements that its source had before the load.'),
          toRemove: orNull(
            'integer',
            'Statements of these that are to be removed: the snapshot does not make them.'
          ),
          kept: orNull(
            'integer',
            'The other statements of these: the snapshot makes them again, or a reject or a newer change protects them.'
          ),
          removed: integer('Statements that have been removed.')
        },
        { description: 'Only for a snapshot.' }
      ),
      error: orNull('string', 'Why the load failed.'),
      createdAt: millis('When the upload began.'),
      finishedAt: { ...orNull('integer', 'When the load ended. Milliseconds since 1970.') },
      idempotencyKey: text('The key as it was sent.'),
      report: {
        type: 'object',
        additionalProperties: true,
        description: 'The changes that a dry run found.'
      },
      undoes: text('The load that this one undoes.'),
      undoneBy: text('The load that undoes this one.'),
      ignoredColumns: listOf({
        type: 'string',
        description: 'A column of a CSV that the load ignores: its name, or its place if it has none.'
      }),
      warnings
    },
    {
      optional: ['snapshot', 'idempotencyKey', 'report', 'undoes', 'undoneBy', 'ignoredColumns', 'warnings']
    }
  ),
  Reject: object({
    line: integer('The line in the body of the load, from 1.'),
    code: text('The error code.'),
    message: text('An explanation for people.'),
    field: orNull('string', 'The field at fault.'),
    record: text('The record as it was sent, up to 64 KiB.')
  }),
  Session: object({
    actor: text('The signed-in actor.'),
    scopes: listOf({ type: 'string', enum: ['read', 'write', 'admin'] }),
    domainUrns: {
      anyOf: [listOf({ type: 'string' }), { type: 'null' }],
      description: 'The domains that the token is limited to; null for no limit.'
    },
    domainUrn: orNull('string', 'The first of these domains, for clients that know only one.'),
    csrfToken: text(
      'The value of the header x-csrf-token, which every request of the session except GET and HEAD needs.'
    ),
    expiresAt: millis('When the session ends if there is no further request.')
  }),
  DomainRule: object(
    {
      domainUrn: text('The domain for matching assets.'),
      platform: text('A pattern: * stands for any characters, ? for one.'),
      namespace: text('A pattern.'),
      name: text('A pattern.')
    },
    { optional: ['platform', 'namespace', 'name'] }
  ),
  DomainRules: object({
    rules: listOf({
      allOf: [
        ref('DomainRule'),
        object({ exists: { type: 'boolean', description: 'Whether the domain exists.' } })
      ]
    }),
    revision: orNull('string', 'Changes with the rules; null if none were ever set.'),
    changedAt: { type: ['string', 'null'], format: 'date-time' },
    changedBy: orNull('string', 'The actor that set the rules.')
  }),
  Proposal: object(
    {
      entityType: text('Such as dataset.'),
      entityUrn: text('The entity.'),
      changeType: oneOf(
        ['UPSERT', 'UPDATE', 'CREATE', 'CREATE_ENTITY', 'PATCH', 'DELETE'],
        'What to do with the aspect.'
      ),
      aspectName: text('Such as upstreamLineage.'),
      aspect: {
        type: 'object',
        additionalProperties: true,
        description:
          'The aspect itself, `{"json": …}`, or `{"value": "<JSON>", "contentType": "application/json"}`.'
      },
      systemMetadata: { type: 'object', additionalProperties: true },
      headers: { type: 'object', additionalProperties: { type: 'string' } }
    },
    { optional: ['aspect', 'systemMetadata', 'headers'], additionalProperties: true }
  ),
  Entity: object(
    { urn: text('The entity.') },
    {
      additionalProperties: true,
      description:
        'The URN, and the aspects by name, each as `{"value": {…}, "systemMetadata": {…}, "headers": {…}}`.'
    }
  )
}
