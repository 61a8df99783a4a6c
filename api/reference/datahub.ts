/** The reference of the routes of DataHub's clients. docs/rest.md explains them. */
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
  type Answer,
  type Description,
  type Descriptions,
  type Schema
} from './description.ts'
import { warnings } from './shapes.ts'

type Parts = Partial<Omit<Description, 'tag' | 'summary'>>

/** DataHub's clients send parameters that mean nothing here, so unknown ones are ignored. */
const datahub = (summary: string, answers: Description['answers'], parts: Parts = {}): Description => ({
  tag: 'datahub',
  summary,
  ignoresUnknownParameters: true,
  ...parts,
  answers
})
const found = (json: Schema, is = 'The result.'): Description['answers'] => ({ 200: { is, json } })

const urn = text('Percent-encoded or raw.')
const aspects = text('Names in the form List(a,b). Default: all aspects.')
const missingReferences = {
  'x-missing-references': oneOf(['reject', 'create'], 'What to do about references to absent entities.')
}
const value = (json: Schema): Schema => object({ value: json }, { optional: ['value'] })

const result = object(
  { value: { description: 'The result of the action.' }, warnings },
  { optional: ['value', 'warnings'] }
)

/** One route for each root: the parameter `action` selects the call. */
const actions = (
  summary: string,
  names: { readonly [action: string]: string },
  body: Schema = anyObject('The fields of the action; unknown fields are ignored.'),
  more: Parts = {}
): Description =>
  datahub(summary, found(result, 'Done and committed.'), {
    more: `Actions:\n\n${Object.entries(names)
      .map(([name, does]) => `- \`${name}\`: ${does}`)
      .join('\n')}`,
    query: { action: oneOf(Object.keys(names), 'The action.') },
    required: ['action'],
    body,
    ...more
  })

const entityName = text('An entity type in any case, such as dataset.')
const aspectName = text('The name of an aspect, in any case.')
const systemMetadata = flag('Returns the system metadata of each aspect too.')
const slices = {
  sliceId: integer('The number of this slice, from 0, if several clients share a scroll.'),
  sliceMax: integer('The number of slices.', { minimum: 1 })
}
const scrolled = {
  count: integer('Entries in a page.', { maximum: limits.pageMaxCount }),
  scrollId: text('`scrollId` of the previous page.'),
  includeSoftDelete: flag('Includes soft-deleted entities.'),
  ...slices
}
const entities: Schema = listOf(ref('Entity'))
const byType: Schema = { type: 'object', additionalProperties: entities }
const written = (json: Schema): Description['answers'] => ({
  200: { is: 'Committed: the values as written.', json },
  202: { is: 'Queued as a load.', json }
})
const queues = (byDefault: boolean): Schema => ({
  type: 'boolean',
  default: byDefault,
  description: 'Queues the write. The header traceparent of the answer identifies it.'
})
const absent: Answer = {
  is: 'The entity or aspect does not exist.',
  json: ref('Problem'),
  headers: { 'not-found-reason': text('ENTITY or ASPECT.') }
}
const relationships: Schema = object(
  {
    results: listOf(anyObject('`relationshipType`, `source`, `destination`, `via`.')),
    scrollId: text('The id with which to request the next page; absent on the last page.')
  },
  { optional: ['scrollId'] }
)
const direction = oneOf(
  ['OUTGOING', 'INCOMING'],
  'The end at which the entity is: OUTGOING if it is the source.',
  { default: 'OUTGOING' }
)
const types = text('Types of relationships, separated by commas or repeated. Default: all.')
const onPath = { path: '/openapi/v3/entity/{entityName}/{urn}', params: { entityName, urn } }
const onAspect = {
  path: '/openapi/v3/entity/{entityName}/{urn}/{aspectName}',
  params: { entityName, urn, aspectName }
}
const orAspect = 'If `/{aspectName}` follows the URN, the call concerns only that aspect.'

export const datahubDescriptions: Descriptions = {
  'GET /config': datahub(
    'Returns the facts that DataHub’s clients read first',
    found(anyObject('Facts about the server.'))
  ),
  'POST /aspects': actions(
    'Writes change proposals, or reads events',
    {
      ingestProposal: 'writes the proposal in `proposal`',
      ingestProposalBatch: `writes up to ${limits.proposalsPerBatchMaxCount} proposals in \`proposals\`, all or none`,
      getTimeseriesAspectValues: 'reads events of `urn` and `aspect`, newest first',
      getCount: 'counts the entities that have `aspect`'
    },
    object(
      {
        proposal: ref('Proposal'),
        proposals: listOf(ref('Proposal'), { maxItems: limits.proposalsPerBatchMaxCount }),
        async: oneOf(['true', 'false'], 'Queues the proposals as a load.', { default: 'false' })
      },
      { optional: ['proposal', 'proposals', 'async'], additionalProperties: true }
    ),
    { headers: missingReferences }
  ),
  'GET /aspects/*': datahub(
    'Reads an aspect',
    found(
      object({
        version: integer('The requested version.'),
        aspect: anyObject('The aspect, under the name of its class.')
      })
    ),
    {
      path: '/aspects/{urn}',
      params: { urn },
      query: {
        aspect: text('The name of the aspect.'),
        version: integer('The version: 0 is the newest, 1 the oldest.', { default: 0 })
      },
      required: ['aspect']
    }
  ),
  'POST /entities': actions(
    'Writes snapshots, deletes, lists and finds entities',
    {
      ingest: 'writes the legacy snapshot in `entity`',
      batchIngest: 'writes the legacy snapshots in `entities`, all or none',
      delete: 'permanently deletes `urn`, or its `aspectName`',
      deleteReferences: 'removes `urn` from the aspects of other entities; with `dryRun` it only counts them',
      exists: 'says whether `urn` exists',
      search: 'finds entities of the type `entity` by the words of `input`',
      filter: 'finds entities of the type `entity` by `filter`',
      listUrns: 'lists URNs of the type `entity`'
    },
    undefined,
    { headers: missingReferences }
  ),
  'GET /entities/*': datahub('Reads an entity as a snapshot', found(value(anyObject('The snapshot.'))), {
    path: '/entities/{urn}',
    params: { urn },
    query: { aspects }
  }),
  'GET /entitiesV2/*': datahub(
    'Reads the aspects of an entity',
    found(anyObject('`entityName`, `urn`, `aspects`.')),
    {
      path: '/entitiesV2/{urn}',
      params: { urn },
      query: { aspects }
    }
  ),
  'GET /entitiesV2': datahub(
    'Reads the aspects of several entities',
    found(object({ results: anyObject('The entities by URN.') }, { additionalProperties: true })),
    {
      query: {
        ids: text(`URNs, up to ${limits.entitiesPerReadMaxCount}, in the form List(urn,urn).`),
        aspects
      },
      required: ['ids']
    }
  ),
  'POST /operations': actions('Says that there is nothing to repair', {
    restoreIndices: 'answers that there is nothing to restore'
  }),
  'POST /runs': actions('Refuses calls about runs with UNSUPPORTED', {
    list: 'is refused',
    describe: 'is refused',
    rollback: 'is refused; undo a load instead'
  }),
  'GET /relationships': datahub(
    'Reads the relationships of an entity',
    found(
      object({
        start: integer('Where the page begins.'),
        count: integer('The number of entries on the page.'),
        total: integer('Entries in all pages together.'),
        relationships: listOf(
          object({
            type: text('The type of the relationship.'),
            entity: text('The entity at the other end.')
          })
        )
      })
    ),
    {
      query: {
        urn: text('The entity.'),
        direction: oneOf(
          ['INCOMING', 'OUTGOING'],
          'The end at which the entity is: OUTGOING if it is the source.'
        ),
        types: text('Types of relationships in the form List(A,B). Default: all.'),
        start: integer('Entries to skip.'),
        count: integer('Entries in a page.', { default: 200 })
      },
      required: ['urn', 'direction']
    }
  ),
  'GET /openapi/relationships/v1': datahub(
    'Reads the relationships of an entity, as OpenAPI has them',
    found(
      object({
        start: integer('Where the page begins.'),
        count: integer('The number of entries on the page.'),
        total: integer('Entries in all pages together.'),
        entities: listOf(anyObject('`relationshipType`, `urn`, `via`.'))
      })
    ),
    {
      query: {
        urn: text('The entity.'),
        direction: oneOf(
          ['INCOMING', 'OUTGOING'],
          'The end at which the entity is: OUTGOING if it is the source.'
        ),
        relationshipTypes: listOf({ type: 'string' }, { description: 'Default: all.' }),
        start: integer('Entries to skip.'),
        count: integer('Entries in a page.', { default: 200 })
      },
      required: ['urn', 'direction']
    }
  ),
  'POST /openapi/v3/relationship/scroll': datahub('Scrolls relationships', found(relationships), {
    query: {
      relationshipTypes: types,
      sourceTypes: text('Entity types of sources, separated by commas.'),
      destinationTypes: text('Entity types of destinations, separated by commas.'),
      direction,
      ...scrolled
    },
    body: object(
      {
        sourceFilter: anyObject('A filter on the `urn` of sources.'),
        destinationFilter: anyObject('A filter on the `urn` of destinations.')
      },
      { optional: ['sourceFilter', 'destinationFilter'], additionalProperties: true }
    )
  }),
  'GET /openapi/v3/relationship/:type': datahub('Scrolls the relationships of a type', found(relationships), {
    params: { type: text('Such as DownstreamOf.') },
    query: scrolled
  }),
  'GET /openapi/v3/relationship/:entityName/*': datahub(
    'Scrolls the relationships of an entity',
    found(relationships),
    {
      path: '/openapi/v3/relationship/{entityName}/{urn}',
      params: { entityName, urn },
      query: { direction, relationshipType: types, relationshipTypes: types, ...scrolled }
    }
  ),
  'POST /openapi/v3/lineage/scroll': datahub(
    'Scrolls one hop of lineage',
    found(
      object(
        {
          results: listOf(anyObject('`upstream`, `downstream`, and the relationship that states the edge.')),
          scrollId: text('The id with which to request the next page; absent on the last page.')
        },
        { optional: ['scrollId'] }
      )
    ),
    {
      query: {
        direction: oneOf(['UPSTREAM', 'DOWNSTREAM'], 'Default: both.'),
        relationshipTypes: types,
        ...scrolled
      },
      body: object(
        { urns: listOf({ type: 'string' }, { description: 'Default: all lineage.' }) },
        { optional: ['urns'], additionalProperties: true }
      )
    }
  ),

  'POST /openapi/v3/entity/generic': datahub('Writes entities of several types', written(byType), {
    query: { async: queues(true), systemMetadata },
    headers: missingReferences,
    body: byType
  }),
  'PATCH /openapi/v3/entity/generic': datahub('Patches entities of several types', written(byType), {
    query: { async: queues(true), systemMetadata },
    headers: missingReferences,
    body: byType
  }),
  'POST /openapi/v3/entity/:entityName': datahub('Writes entities', written(entities), {
    params: { entityName },
    query: { async: queues(true), systemMetadata },
    headers: missingReferences,
    body: entities
  }),
  'PATCH /openapi/v3/entity/:entityName': datahub('Patches entities', written(entities), {
    params: { entityName },
    query: { async: queues(true), systemMetadata },
    headers: missingReferences,
    body: entities
  }),
  'POST /openapi/v3/entity/:entityName/*': datahub('Writes an aspect', written(ref('Entity')), {
    ...onAspect,
    query: {
      async: queues(false),
      createIfNotExists: {
        type: 'boolean',
        default: true,
        description: 'Whether the write is refused if the aspect exists.'
      },
      createIfEntityNotExists: flag('Whether the write is refused if the entity exists.'),
      systemMetadata
    },
    headers: missingReferences,
    body: object({ value: anyObject('The aspect.') }, { additionalProperties: true })
  }),
  'PATCH /openapi/v3/entity/:entityName/*': datahub('Patches an aspect', written(ref('Entity')), {
    ...onAspect,
    query: { async: queues(false), systemMetadata },
    headers: missingReferences,
    body: object(
      { patch: listOf(anyObject('An operation of JSON Patch.')) },
      { optional: ['patch'], additionalProperties: true }
    )
  }),
  'POST /openapi/v3/entity/generic/batchGet': datahub('Reads entities of several types', found(byType), {
    query: { systemMetadata },
    body: byType
  }),
  'POST /openapi/v3/entity/:entityName/batchGet': datahub('Reads entities', found(entities), {
    params: { entityName },
    query: { systemMetadata },
    body: listOf(ref('Entity'), { maxItems: limits.entitiesPerReadMaxCount })
  }),
  'GET /openapi/v3/entity/:entityName/*': datahub(
    'Reads an entity',
    { 200: { is: 'The entity, or the aspect.', json: anyObject('The entity, or the aspect.') }, 404: absent },
    {
      ...onPath,
      more: orAspect,
      query: {
        aspects: text('Names of aspects, separated by commas or repeated. Default: all.'),
        systemMetadata,
        version: integer('The version of the aspect; 0 is the newest.', { default: 0 })
      }
    }
  ),
  'HEAD /openapi/v3/entity/:entityName/*': datahub(
    'Says whether an entity exists',
    { 204: { is: 'The entity exists.' }, 404: { is: 'The entity does not exist.' } },
    {
      ...onPath,
      more: orAspect,
      query: { includeSoftDelete: flag('Whether a soft-deleted entity counts as existing.') }
    }
  ),
  'DELETE /openapi/v3/entity/:entityName/*': datahub(
    'Permanently deletes an entity',
    { 200: { is: 'Committed.' } },
    {
      ...onPath,
      more: orAspect,
      query: {
        aspects: text(
          'Names of aspects, separated by commas or repeated. Only these aspects are deleted, not the entity.'
        ),
        clear: flag('Deletes all aspects except the key aspect, but not the entity.')
      }
    }
  ),
  'GET /openapi/v3/entity/:entityName': datahub(
    'Scrolls the entities of a type',
    found(
      object(
        { entities, scrollId: text('The id with which to request the next page; absent on the last page.') },
        { optional: ['scrollId'] }
      )
    ),
    {
      params: { entityName },
      query: {
        query: text('Words to find; * finds everything.', { default: '*' }),
        aspects: text('Names of aspects, separated by commas or repeated.'),
        systemMetadata,
        ...scrolled
      }
    }
  ),
  'POST /openapi/v3/entity/scroll': datahub(
    'Scrolls the entities of several types',
    found(
      object(
        {
          entities,
          totalCount: integer('Entries in all pages together.'),
          scrollId: text('The id with which to request the next page; absent on the last page.'),
          facets: listOf(anyObject('A facet.'))
        },
        { optional: ['scrollId', 'facets'] }
      )
    ),
    {
      query: {
        query: text('Words to find; * finds everything.', { default: '*' }),
        systemMetadata,
        skipAggregation: { type: 'boolean', default: true, description: 'Omits the facets.' },
        ...scrolled
      },
      body: object(
        {
          entities: listOf({ type: 'string' }, { description: 'Entity types.' }),
          aspects: listOf(
            { type: 'string' },
            {
              description:
                'Names of aspects. An empty list means all; without a list the answer has only URNs.'
            }
          ),
          filter: anyObject(
            '`{and: [{criteria: […]}]}`: one item of `and` must match, with all of its criteria.'
          )
        },
        { optional: ['entities', 'aspects', 'filter'], additionalProperties: true }
      )
    }
  ),
  'GET /openapi/v1/registry/models/entity/specifications': datahub(
    'Lists entity types with their aspects',
    found(
      object({
        start: integer('Where the page begins.'),
        count: integer('The number of entries on the page.'),
        total: integer('Entries in all pages together.'),
        elements: listOf(anyObject('An entity type.'))
      })
    ),
    { query: { start: integer('Entries to skip.'), count: integer('Entries in a page.', { default: 20 }) } }
  ),
  'POST /openapi/v1/trace/write/:traceId': datahub(
    'Returns the result of a write',
    found(anyObject('The results by URN and aspect.')),
    {
      params: { traceId: text('From the header traceparent of the answer to the write.') },
      query: {
        onlyIncludeErrors: {
          type: 'boolean',
          default: true,
          description: 'Omits aspects without an error.'
        },
        detailed: flag('Also explains states that are not errors.')
      },
      body: {
        type: 'object',
        additionalProperties: listOf({ type: 'string' }),
        description: 'For each URN, the names of its aspects.'
      }
    }
  )
}
