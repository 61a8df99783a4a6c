/** The shapes that several routes share, by their name in the reference. */
import { errorCodes } from '../../shared/errors.ts'
import { loadStates } from '../../shared/model/load-moves.ts'
import { integer, listOf, object, oneOf, ref, text, type Schema } from './description.ts'

const millis = (description: string): Schema => integer(`${description} Milliseconds since 1970.`)
const orNull = (type: string, description: string): Schema => ({ type: [type, 'null'], description })

export const shapes: { readonly [name: string]: Schema } = {
  Problem: object(
    {
      code: oneOf(Object.keys(errorCodes), 'What is wrong; docs/errors.md explains each.'),
      message: text('For a person.'),
      requestId: text('Finds the request in the log.'),
      field: text('The input at fault, such as `edges[37].upstreamUrn`.'),
      urn: text('The URN that is absent or wrong.'),
      limit: text('The limit that is exceeded; GET /api/limits has its value.'),
      maximum: { type: 'number' },
      actual: { type: 'number' },
      line: integer('The line of a load, from 1.'),
      allowed: listOf({ type: 'string' }, { description: 'The values that are allowed, if there are few.' }),
      candidates: listOf({ type: 'string' }, { description: 'URNs that may have been meant.' }),
      retryAfterSeconds: { type: 'number' }
    },
    {
      optional: [
        'field',
        'urn',
        'limit',
        'maximum',
        'actual',
        'line',
        'allowed',
        'candidates',
        'retryAfterSeconds'
      ],
      additionalProperties: true
    }
  ),
  Load: object(
    {
      id: text('Names the load.', { format: 'uuid' }),
      state: oneOf(loadStates, 'Ended are done, failed, aborted and cancelled.'),
      format: text('ndjson, csv, mcp, openlineage, dbt or edges.'),
      mode: oneOf(['merge', 'snapshot', 'undo'], 'What it does to what its source stated before.'),
      source: text('Under which its edges are stated.'),
      actor: text('Who sent it.'),
      atomic: { type: 'boolean' },
      dryRun: { type: 'boolean' },
      counts: object({
        received: integer('Records.'),
        applied: integer('Records that changed something.'),
        unchanged: integer('Records that the catalog agreed with.'),
        rejected: integer('Records that were refused.')
      }),
      snapshot: object(
        {
          sweep: text('The progress of removing statements that the snapshot does not make.'),
          stated: orNull('integer', 'Statements of its source before it.'),
          toRemove: orNull('integer', 'Those of them that the snapshot does not make.'),
          kept: orNull('integer', 'Those of them that the snapshot makes again.'),
          removed: integer('Removed so far.')
        },
        { description: 'Only of a snapshot.' }
      ),
      error: orNull('string', 'Why it failed.'),
      createdAt: millis('When the upload began.'),
      finishedAt: { ...orNull('integer', 'When it ended. Milliseconds since 1970.') },
      idempotencyKey: text('As it was sent.'),
      report: { type: 'object', additionalProperties: true, description: 'What a dry run found.' },
      undoes: text('The load that this one takes back.'),
      undoneBy: text('The load that takes this one back.')
    },
    { optional: ['snapshot', 'idempotencyKey', 'report', 'undoes', 'undoneBy'] }
  ),
  Reject: object({
    line: integer('In the body of the load, from 1.'),
    code: text('What is wrong.'),
    message: text('For a person.'),
    field: orNull('string', 'The field at fault.'),
    record: text('As it was sent, up to 64 KiB.')
  }),
  Session: object({
    actor: text('Who is signed in.'),
    scopes: listOf({ type: 'string', enum: ['read', 'write', 'admin'] }),
    domainUrns: {
      anyOf: [listOf({ type: 'string' }), { type: 'null' }],
      description: 'The domains that the token is limited to; null for no limit.'
    },
    domainUrn: orNull('string', 'The first of them, for clients that know only one.'),
    csrfToken: text('To be sent in x-csrf-token with every request of the session but GET and HEAD.'),
    expiresAt: millis('When the session ends if nothing more comes.')
  }),
  DomainRule: object(
    {
      domainUrn: text('Where the asset goes.'),
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
    changedBy: orNull('string', 'Who set them.')
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
        'Beside the URN its aspects by name, each as `{"value": {…}, "systemMetadata": {…}, "headers": {…}}`.'
    }
  )
}
