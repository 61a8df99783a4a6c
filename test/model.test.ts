/** Aspects, patches and proposals: accepted ones are prepared and complete, and refusals name the place. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CatalogError } from '../shared/errors.ts'
import { limits } from '../shared/limits.ts'
import {
  aspectClassOf,
  aspectNameOfClass,
  aspectTemplate,
  isTimeseries,
  modelledAspects,
  prepareAspect,
  requiresEntity
} from '../shared/model/aspect-registry.ts'
import type { JsonObject, JsonValue } from '../shared/model/changes.ts'
import { parseEdge } from '../shared/model/edges.ts'
import { dataHubClasses, dataHubEntities, dataHubVersion } from '../shared/model/datahub-model.ts'
import {
  entityTypeInfo,
  entityTypeOfGraphql,
  entityTypes,
  graphqlTypeOf,
  isAsset
} from '../shared/model/entity-types.ts'
import { equalJson } from '../shared/model/equal-json.ts'
import { parseJsonText } from '../shared/model/json-checks.ts'
import { isObject } from '../shared/model/json-values.ts'
import { lineageFields, lineageFieldsOf } from '../shared/model/lineage-fields.ts'
import { parseProposal, parseSnapshot } from '../shared/model/proposal.ts'
import { packageRoot } from '../shared/platform/paths.ts'
import { kindShapeOf } from '../shared/urn/kind-shapes.ts'
import { keyOfUrn } from '../shared/urn/kinds.ts'
import { entityTypeOf, toUrn } from '../shared/urn/urn.ts'
import { fc } from './support/fast-check.ts'
import { skipUnless } from './support/skip.ts'

const orders = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'
const customers = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.customers,PROD)'
const ordersKeyText = JSON.stringify(keyOfUrn(toUrn(orders)))
const ordersId = `urn:li:schemaField:(${orders},id)`
const customersId = `urn:li:schemaField:(${customers},id)`
const flow = 'urn:li:dataFlow:(airflow,nightly,prod)'
const job = `urn:li:dataJob:(${flow},load)`
const chart = 'urn:li:chart:(looker,c1)'
const unset = { time: 0, actor: 'urn:li:corpuser:unknown' }
const unsetStamps = { created: unset, lastModified: unset }
/** The type of a column, which is filled in if it is absent. */
const typed: JsonObject = { type: {}, nativeDataType: '' }
const column: JsonObject = {
  upstreamType: 'FIELD_SET',
  upstreams: [customersId],
  downstreamType: 'FIELD',
  downstreams: [ordersId]
}
const nested = (levels: number): JsonValue => (levels === 0 ? 1 : [nested(levels - 1)])

t.test('entity types', async (t) => {
  t.test('every type that has a name in GraphQL is found by that name', async (t) => {
    for (const { name, graphqlType } of entityTypes) {
      t.equal(graphqlTypeOf(name), graphqlType)
      t.equal(entityTypeOfGraphql(graphqlType), graphqlType === 'OTHER' ? null : name)
    }
    t.equal(graphqlTypeOf('moonPhase'), 'OTHER')
    t.equal(entityTypeOfGraphql('OTHER'), null)
    t.equal(entityTypeOfGraphql('constructor'), null)
    t.equal(graphqlTypeOf('constructor'), 'OTHER')
  })

  t.test('key aspects have the classes that clients ask for', async (t) => {
    t.match(entityTypeInfo('mlPrimaryKey'), {
      graphqlType: 'MLPRIMARY_KEY',
      keyAspect: 'mlPrimaryKeyKey',
      keyClass: 'com.linkedin.metadata.key.MLPrimaryKeyKey',
      isAsset: true,
      hasLineage: true
    })
    t.match(entityTypeInfo('corpuser'), {
      keyAspect: 'corpUserKey',
      keyClass: 'com.linkedin.metadata.key.CorpUserKey',
      isAsset: false
    })
    t.match(entityTypeInfo('dataset'), {
      keyAspect: 'datasetKey',
      keyClass: 'com.linkedin.metadata.key.DatasetKey'
    })
    t.match(entityTypeInfo('moonPhase'), {
      keyAspect: 'moonPhaseKey',
      graphqlType: 'OTHER',
      isAsset: true,
      hasLineage: false
    })
    t.match(entityTypeInfo('dataProduct'), { keyClass: 'com.linkedin.dataproduct.DataProductKey' })
    t.match(entityTypeInfo('aiAgent'), {
      keyAspect: 'aiAgentKey',
      keyClass: 'com.linkedin.metadata.key.AIAgentKey',
      isAsset: true,
      hasLineage: true
    })
    t.notOk(isAsset('domain'))
  })

  t.test('the parts of a URN have the names that the key aspect of its type gives them', async (t) => {
    for (const { name, keyFields } of dataHubEntities)
      t.same(kindShapeOf(name)?.keyFields ?? ['id'], keyFields, name)
  })

  t.test('the model is that of the acryl-datahub that is pinned', async (t) => {
    const requirements = readFileSync(join(packageRoot, 'test', 'interop', 'requirements.txt'), 'utf8')
    t.match(requirements, `acryl-datahub==${dataHubVersion}\n`, 'npm run generate-model')
  })
})

t.test('aspects', async (t) => {
  t.test('defaults are written out and nulls of optional fields left out', async (t) => {
    const cases: [entityType: string, aspectName: string, sent: JsonObject, prepared: JsonObject][] = [
      [
        'dataset',
        'upstreamLineage',
        {
          upstreams: [{ dataset: customers, type: 'VIEW', query: null, created: null }],
          fineGrainedLineages: null
        },
        { upstreams: [{ dataset: customers, type: 'VIEW', auditStamp: unset }] }
      ],
      [
        'dataset',
        'upstreamLineage',
        {
          upstreams: [
            {
              dataset: customers,
              type: 'COPY',
              auditStamp: { time: 7, actor: 'urn:li:corpuser:me', message: null }
            }
          ],
          fineGrainedLineages: [column]
        },
        {
          upstreams: [
            { dataset: customers, type: 'COPY', auditStamp: { time: 7, actor: 'urn:li:corpuser:me' } }
          ],
          fineGrainedLineages: [{ ...column, confidenceScore: 1 }]
        }
      ],
      [
        'dataset',
        'upstreamLineage',
        {
          upstreams: [],
          fineGrainedLineages: [
            {
              upstreamType: 'NONE',
              downstreamType: 'FIELD_SET',
              downstreams: [ordersId, customersId],
              confidenceScore: 0
            }
          ]
        },
        {
          upstreams: [],
          fineGrainedLineages: [
            {
              upstreamType: 'NONE',
              downstreamType: 'FIELD_SET',
              downstreams: [ordersId, customersId],
              confidenceScore: 0
            }
          ]
        }
      ],
      [
        'dataJob',
        'dataJobInputOutput',
        {
          inputDatasets: [orders],
          outputDatasets: [],
          inputDatajobEdges: [{ destinationUrn: job, sourceUrn: null }]
        },
        { inputDatasets: [orders], outputDatasets: [], inputDatajobEdges: [{ destinationUrn: job }] }
      ],
      [
        'dataJob',
        'dataJobInfo',
        { name: 'load', type: { string: 'AIRFLOW' } },
        { name: 'load', type: { string: 'AIRFLOW' }, customProperties: {} }
      ],
      [
        'dataFlow',
        'dataFlowInfo',
        { name: 'nightly', customProperties: { a: 'b' } },
        { name: 'nightly', customProperties: { a: 'b' } }
      ],
      [
        'chart',
        'chartInfo',
        { title: 'c', description: '', inputs: [orders, { string: chart }] },
        {
          title: 'c',
          description: '',
          inputs: [{ string: orders }, { string: chart }],
          customProperties: {},
          lastModified: unsetStamps
        }
      ],
      [
        'dashboard',
        'dashboardInfo',
        { title: 'd', description: '', lastModified: { created: { time: 1 } } },
        {
          title: 'd',
          description: '',
          lastModified: { created: { time: 1, actor: unset.actor }, lastModified: unset },
          customProperties: {},
          charts: [],
          datasets: [],
          dashboards: []
        }
      ],
      [
        'chart',
        'inputFields',
        { fields: [{ schemaFieldUrn: ordersId, schemaField: { fieldPath: 'id' } }] },
        {
          fields: [
            {
              schemaFieldUrn: ordersId,
              schemaField: { fieldPath: 'id', nullable: false, recursive: false, isPartOfKey: false }
            }
          ]
        }
      ],
      [
        'domain',
        'domainProperties',
        { name: ' Finance ', description: null },
        { name: 'Finance', customProperties: {} }
      ],
      ['dataset', 'domains', { domains: ['urn:li:domain:a'] }, { domains: ['urn:li:domain:a'] }],
      [
        'dataset',
        'domains',
        { domains: [], domainAssociations: [{ domain: 'urn:li:domain:a' }] },
        { domains: [], domainAssociations: [{ domain: 'urn:li:domain:a' }] }
      ],
      [
        'dataset',
        'domains',
        { domainAssociations: [{ domain: 'urn:li:domain:a' }, { domain: 'urn:li:domain:a', context: 'x' }] },
        { domainAssociations: [{ domain: 'urn:li:domain:a' }, { domain: 'urn:li:domain:a', context: 'x' }] }
      ],
      ['dataset', 'domains', { domains: [] }, { domains: [] }],
      [
        'dataset',
        'datasetProperties',
        { description: 'x', colour: 'red', deep: { a: null, list: [null] } },
        { description: 'x', colour: 'red', deep: { list: [null] }, customProperties: {}, tags: [] }
      ],
      [
        'dataset',
        'schemaMetadata',
        {
          fields: [{ fieldPath: 'a', nullable: true, ...typed }],
          platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } }
        },
        {
          fields: [{ fieldPath: 'a', nullable: true, ...typed, recursive: false, isPartOfKey: false }],
          platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
          created: unset,
          lastModified: unset
        }
      ],
      ['corpuser', 'status', {}, { removed: false }],
      ['mlPrimaryKey', 'mlPrimaryKeyProperties', { sources: [] }, { sources: [] }],
      [
        'mlFeature',
        'mlFeatureProperties',
        { sources: [orders], dataType: 'TEXT' },
        { sources: [orders], dataType: 'TEXT' }
      ],
      [
        'dataset',
        'datasetProperties',
        {
          description: { string: 'x' },
          tags: { array: ['a'] },
          customProperties: { string: 'kept' },
          created: { 'com.linkedin.pegasus2avro.common.TimeStamp': { time: 1 } }
        },
        { description: 'x', tags: ['a'], customProperties: { string: 'kept' }, created: { time: 1 } }
      ],
      [
        'dataset',
        'upstreamLineage',
        {
          upstreams: [],
          fineGrainedLineages: {
            array: [{ ...column, confidenceScore: { float: 0.5 }, query: { string: 'urn:li:query:q' } }]
          }
        },
        { upstreams: [], fineGrainedLineages: [{ ...column, confidenceScore: 0.5, query: 'urn:li:query:q' }] }
      ],
      ['dataset', 'moonPhase', { phase: null, list: [2, 1] }, { phase: null, list: [2, 1] }]
    ]
    for (const [entityType, aspectName, sent, prepared] of cases) {
      const result = prepareAspect(entityType, aspectName, sent)
      t.strictSame(result, prepared, `${aspectName} ${JSON.stringify(sent).slice(0, 60)}`)
      t.strictSame(prepareAspect(entityType, aspectName, result), result, 'preparing again changes nothing')
    }
  })

  t.test('a value that does not fit is refused with its place', async (t) => {
    const upstreams = [0, 1, 2].map(() => ({ dataset: customers, type: 'COPY' }))
    const properties = { name: 'x' }
    const cases: [
      entityType: string,
      aspectName: string,
      sent: unknown,
      code: string,
      field: string | undefined
    ][] = [
      ['dataset', 'upstreamLineage', 'text', 'VALIDATION_FAILED', 'aspect'],
      ['dataset', 'upstreamLineage', [], 'VALIDATION_FAILED', 'aspect'],
      ['dataset', 'upstreamLineage', {}, 'VALIDATION_FAILED', 'aspect.upstreams'],
      ['dataset', 'upstreamLineage', { upstreams: null }, 'VALIDATION_FAILED', 'aspect.upstreams'],
      ['dataset', 'upstreamLineage', { upstreams: {} }, 'VALIDATION_FAILED', 'aspect.upstreams'],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [...upstreams, { type: 'COPY' }] },
        'VALIDATION_FAILED',
        'aspect.upstreams[3].dataset'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [...upstreams, null] },
        'VALIDATION_FAILED',
        'aspect.upstreams[3]'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [{ dataset: customers }] },
        'VALIDATION_FAILED',
        'aspect.upstreams[0].type'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [{ dataset: customers, type: 'MOVED' }] },
        'VALIDATION_FAILED',
        'aspect.upstreams[0].type'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [{ dataset: chart, type: 'COPY' }] },
        'VALIDATION_FAILED',
        'aspect.upstreams[0].dataset'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [{ dataset: 'orders', type: 'COPY' }] },
        'INVALID_URN',
        'aspect.upstreams[0].dataset'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [{ dataset: `${orders}\u0000`, type: 'COPY' }] },
        'INVALID_CHARACTER',
        'aspect.upstreams[0].dataset'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [], fineGrainedLineages: [{ ...column, confidenceScore: 1.5 }] },
        'VALIDATION_FAILED',
        'aspect.fineGrainedLineages[0].confidenceScore'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [], fineGrainedLineages: [{ ...column, confidenceScore: Infinity }] },
        'BAD_REQUEST',
        'aspect.fineGrainedLineages[0].confidenceScore'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [], fineGrainedLineages: [{ ...column, upstreamType: 'FIELD' }] },
        'VALIDATION_FAILED',
        'aspect.fineGrainedLineages[0].upstreamType'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [], fineGrainedLineages: [{ ...column, upstreams: ['id'] }] },
        'INVALID_URN',
        'aspect.fineGrainedLineages[0].upstreams[0]'
      ],
      [
        'dataset',
        'upstreamLineage',
        { upstreams: [], fineGrainedLineages: Array(limits.columnRecordsMaxCount + 1).fill(column) },
        'LIMIT_EXCEEDED',
        'aspect.fineGrainedLineages'
      ],
      [
        'dataset',
        'upstreamLineage',
        {
          upstreams: [],
          fineGrainedLineages: [
            { ...column, upstreams: Array(limits.columnsPerRecordMaxCount + 1).fill(customersId) }
          ]
        },
        'LIMIT_EXCEEDED',
        'aspect.fineGrainedLineages[0].upstreams'
      ],
      ['chart', 'upstreamLineage', { upstreams: [] }, 'VALIDATION_FAILED', 'aspectName'],
      ['dataset', 'chartKey', {}, 'VALIDATION_FAILED', 'aspectName'],
      ['domain', 'domains', { domains: [] }, 'VALIDATION_FAILED', 'aspectName'],
      ['dataset', 'domains', {}, 'VALIDATION_FAILED', 'aspect.domains'],
      [
        'dataset',
        'domains',
        { domains: ['urn:li:domain:a', 'urn:li:domain:b'] },
        'VALIDATION_FAILED',
        'aspect.domains'
      ],
      ['dataset', 'domains', { domains: [orders] }, 'VALIDATION_FAILED', 'aspect.domains[0]'],
      [
        'dataset',
        'domains',
        { domainAssociations: [{ domain: 'urn:li:domain:a' }, { domain: 'urn:li:domain:b' }] },
        'VALIDATION_FAILED',
        'aspect.domainAssociations'
      ],
      ['domain', 'domainProperties', { description: 'x' }, 'VALIDATION_FAILED', 'aspect.name'],
      ['domain', 'domainProperties', { name: '  ' }, 'VALIDATION_FAILED', 'aspect.name'],
      ['domain', 'domainProperties', { name: 'x'.repeat(256) }, 'LIMIT_EXCEEDED', 'aspect.name'],
      ['domain', 'domainProperties', { name: 'a\nb' }, 'INVALID_CHARACTER', 'aspect.name'],
      [
        'domain',
        'domainProperties',
        { ...properties, description: 'x'.repeat(65_537) },
        'LIMIT_EXCEEDED',
        'aspect.description'
      ],
      [
        'domain',
        'domainProperties',
        { ...properties, parentDomain: orders },
        'VALIDATION_FAILED',
        'aspect.parentDomain'
      ],
      [
        'domain',
        'domainProperties',
        { ...properties, customProperties: { a: 1 } },
        'VALIDATION_FAILED',
        'aspect.customProperties.a'
      ],
      [
        'dataset',
        'schemaMetadata',
        { fields: [{ fieldPath: 'a' }, { fieldPath: 'a' }] },
        'VALIDATION_FAILED',
        'aspect.fields[1].fieldPath'
      ],
      [
        'dataset',
        'schemaMetadata',
        { fields: [{ fieldPath: '' }] },
        'VALIDATION_FAILED',
        'aspect.fields[0].fieldPath'
      ],
      ['mlPrimaryKey', 'mlPrimaryKeyProperties', { description: 'x' }, 'VALIDATION_FAILED', 'aspect.sources'],
      ['chart', 'chartInfo', { title: 'x' }, 'VALIDATION_FAILED', 'aspect.description'],
      [
        'chart',
        'chartInfo',
        { title: 'x', description: '', inputs: [{ dataset: orders }] },
        'VALIDATION_FAILED',
        'aspect.inputs[0].string'
      ],
      ['dataset', 'status', { removed: 'yes' }, 'VALIDATION_FAILED', 'aspect.removed'],
      ['dataset', 'status', { removed: { string: 'yes' } }, 'VALIDATION_FAILED', 'aspect.removed'],
      ['dataset', 'operation', { operationType: 'INSERT' }, 'VALIDATION_FAILED', 'aspect.timestampMillis'],
      ['dataset', 'moonPhase', { a: 'b\u0000' }, 'INVALID_CHARACTER', 'aspect.a'],
      ['dataset', 'moonPhase', { 'b\ud800': 1 }, 'INVALID_CHARACTER', 'aspect'],
      ['dataset', 'moonPhase', { a: [{ b: '\udc01' }] }, 'INVALID_CHARACTER', 'aspect.a[0].b'],
      ['dataset', 'moonPhase', { a: nested(64) }, 'LIMIT_EXCEEDED', undefined],
      ['dataset', 'moonPhase', JSON.parse('{"__proto__": {"x": 1}}'), 'BAD_REQUEST', 'aspect'],
      ['dataset', 'moonPhase', { a: { constructor: { prototype: {} } } }, 'BAD_REQUEST', 'aspect.a'],
      ['dataset', 'moonPhase', { a: 'x'.repeat(limits.aspectMaxBytes) }, 'LIMIT_EXCEEDED', 'aspect']
    ]
    for (const [entityType, aspectName, sent, code, field] of cases) {
      const error = t.throws(
        () => prepareAspect(entityType, aspectName, sent),
        CatalogError,
        `${aspectName} ${field}`
      )
      t.match(error, { code, details: field === undefined ? {} : { field } }, `${code} at ${field}`)
    }
    t.throws(
      () => prepareAspect('dataset', 'upstreamLineage', { upstreams: [...upstreams, { type: 'COPY' }] }),
      {
        message:
          'Failed to validate record with class com.linkedin.dataset.UpstreamLineage: ERROR :: /upstreams/3/dataset :: field is required but not found and has no default value'
      }
    )
  })

  t.test('a value at a limit is accepted', async (t) => {
    const many = { upstreams: [], fineGrainedLineages: Array(limits.columnRecordsMaxCount).fill(column) }
    t.doesNotThrow(() => prepareAspect('dataset', 'upstreamLineage', many))
    t.doesNotThrow(() => prepareAspect('dataset', 'moonPhase', { a: nested(63) }))
    t.doesNotThrow(() =>
      prepareAspect('domain', 'domainProperties', { name: '🙂'.repeat(255), description: 'x'.repeat(65_536) })
    )
    t.doesNotThrow(() =>
      prepareAspect('dataset', 'moonPhase', {
        a: 'x'.repeat(limits.aspectMaxBytes - Buffer.byteLength('{"a":""}'))
      })
    )
  })

  t.test('every lineage aspect is modelled, and its template is valid', async (t) => {
    for (const { aspectName } of lineageFields) t.ok(modelledAspects.includes(aspectName), aspectName)
    const types: { [aspectName: string]: string } = {
      upstreamLineage: 'dataset',
      dataJobInputOutput: 'dataJob',
      inputFields: 'chart',
      domains: 'dataset',
      chartInfo: 'chart',
      dashboardInfo: 'dashboard',
      dataJobInfo: 'dataJob',
      dataFlowInfo: 'dataFlow',
      datasetProperties: 'dataset'
    }
    for (const [aspectName, entityType] of Object.entries(types))
      t.strictSame(
        prepareAspect(entityType, aspectName, aspectTemplate(aspectName)),
        aspectTemplate(aspectName),
        aspectName
      )
    t.strictSame(aspectTemplate('constructor'), {})
    t.same(
      [
        'upstreamLineage',
        'dataJobInputOutput',
        'inputFields',
        'domains',
        'chartInfo',
        'domainProperties',
        'moonPhase'
      ].map(requiresEntity),
      [true, true, true, true, false, false, false]
    )
  })

  t.test('runs are in lineage as in DataHub, and only lists of edges state it', async (t) => {
    const run = 'urn:li:dataProcessInstance:run-1'
    for (const [entityType, aspectName, value] of [
      ['mlModel', 'mlModelProperties', { downstreamJobs: [run] }],
      ['mlModelGroup', 'mlModelGroupProperties', { downstreamJobs: [run] }],
      [
        'dataProcessInstance',
        'dataProcessInstanceInput',
        { inputs: [orders], inputEdges: [{ destinationUrn: run }] }
      ],
      [
        'dataProcessInstance',
        'dataProcessInstanceOutput',
        { outputs: [orders], outputEdges: [{ destinationUrn: run }] }
      ]
    ] as const)
      t.strictSame(prepareAspect(entityType, aspectName, value), value, aspectName)
    t.same(
      ['dataProcessInstanceInput', 'dataProcessInstanceOutput']
        .flatMap(lineageFieldsOf)
        .map(({ listName }) => listName),
      ['inputEdges', 'outputEdges']
    )
  })

  t.test('an aspect is allowed on the entity types on which DataHub has it', async (t) => {
    const upstreams = { upstreams: [{ dataset: customers, type: 'COPY' }] }
    for (const entityType of ['dataset', 'aiAgent', 'semanticModel'])
      t.ok(prepareAspect(entityType, 'upstreamLineage', upstreams), entityType)
    for (const entityType of ['metric', 'aiAgent', 'moonPhase'])
      t.ok(prepareAspect(entityType, 'domains', { domains: ['urn:li:domain:a'] }), entityType)
    for (const entityType of ['dataset', 'glossaryTerm'])
      t.ok(prepareAspect(entityType, 'schemaMetadata', { fields: [] }), entityType)
    for (const entityType of ['chart', 'moonPhase'])
      t.throws(
        () => prepareAspect(entityType, 'upstreamLineage', upstreams),
        { code: 'VALIDATION_FAILED' },
        entityType
      )
    for (const entityType of ['tag', 'service', 'schemaField'])
      t.throws(
        () => prepareAspect(entityType, 'domains', { domains: ['urn:li:domain:a'] }),
        { code: 'VALIDATION_FAILED' },
        entityType
      )
  })

  t.test('names and classes lead to each other', async (t) => {
    for (const name of [
      ...modelledAspects,
      ...Object.values(dataHubClasses).flatMap((classes) => Object.keys(classes))
    ]) {
      t.equal(aspectNameOfClass(aspectClassOf(name)), name)
      t.equal(
        aspectNameOfClass(aspectClassOf(name).replace('com.linkedin.', 'com.linkedin.pegasus2avro.')),
        name
      )
    }
    t.equal(aspectClassOf('upstreamLineage'), 'com.linkedin.dataset.UpstreamLineage')
    t.equal(aspectClassOf('roleProperties'), 'com.linkedin.role.RoleProperties')
    t.equal(aspectClassOf('dataHubIngestionSourceKey'), 'com.linkedin.metadata.key.DataHubIngestionSourceKey')
    t.equal(aspectNameOfClass('com.linkedin.ml.metadata.MLModelFactorPrompts'), 'mlModelFactorPrompts')
    t.equal(aspectNameOfClass('com.linkedin.common.MoonPhase'), 'moonPhase')
  })

  t.test('time-series events are distinguished from documents', async (t) => {
    t.ok(isTimeseries('datasetProfile'))
    t.ok(isTimeseries('moonPhase', { timestampMillis: 1 }))
    t.notOk(isTimeseries('moonPhase', { timestampMillis: 'x' }))
    t.notOk(isTimeseries('upstreamLineage', { timestampMillis: 1 }))
  })
})

t.test('proposals', async (t) => {
  const properties = { description: 'x' }
  const prepared = { ...properties, customProperties: {}, tags: [] }
  const proposal = (fields: JsonObject): JsonObject => ({
    entityType: 'dataset',
    entityUrn: orders,
    changeType: 'UPSERT',
    aspectName: 'datasetProperties',
    aspect: { json: properties },
    ...fields
  })
  const upsert = {
    kind: 'upsertAspect',
    changeType: 'UPSERT',
    entityUrn: orders,
    aspectName: 'datasetProperties',
    value: prepared
  }

  t.test('every envelope of an aspect is read', async (t) => {
    const envelopes: JsonValue[] = [
      { json: properties },
      { json: properties, contentType: 'application/json' },
      { value: JSON.stringify(properties), contentType: 'application/json' },
      { value: JSON.stringify(properties) },
      { value: '{"description":"\\u0078"}', contentType: 'application/json' },
      { value: properties, contentType: 'application/json' },
      properties
    ]
    for (const aspect of envelopes)
      t.strictSame(parseProposal(proposal({ aspect })), { changes: [upsert] }, JSON.stringify(aspect))
    const accents = parseProposal(
      proposal({
        aspect: {
          value: JSON.stringify({ description: 'Größe' }).replace('ö', '\\u00f6').replace('ß', '\\u00df'),
          contentType: 'application/json'
        }
      })
    )
    t.match(accents, { changes: [{ value: { description: 'Größe' } }] })
  })

  t.test('fields beside the aspect are read or ignored', async (t) => {
    t.strictSame(
      parseProposal(
        proposal({
          colour: 'red',
          auditHeader: null,
          systemMetadata: null,
          headers: null,
          entityKeyAspect: null
        })
      ),
      { changes: [upsert] }
    )
    const systemMetadata = { lastObserved: 1, runId: 'r' }
    for (const sent of [systemMetadata, JSON.stringify(systemMetadata)])
      t.strictSame(parseProposal(proposal({ systemMetadata: sent })), {
        changes: [{ ...upsert, headers: { systemMetadata } }]
      })
    t.strictSame(parseProposal(proposal({ headers: { 'if-version-match': '-1', other: 'x' } })), {
      changes: [{ ...upsert, headers: { ifVersionMatch: -1 } }]
    })
    const { entityUrn: _, ...keyed } = proposal({
      entityKeyAspect: { value: ordersKeyText, contentType: 'application/json' }
    })
    t.strictSame(parseProposal(keyed), { changes: [upsert] })
  })

  t.test('each change type becomes its change', async (t) => {
    t.match(parseProposal(proposal({ changeType: 'CREATE' })), {
      changes: [{ kind: 'upsertAspect', changeType: 'CREATE' }]
    })
    t.strictSame(parseProposal(proposal({ changeType: 'DELETE', aspect: null })), {
      changes: [{ kind: 'deleteAspect', entityUrn: orders, aspectName: 'datasetProperties' }]
    })
    t.strictSame(parseProposal(proposal({ changeType: 'DELETE', aspectName: 'datasetKey', aspect: null })), {
      changes: [{ kind: 'deleteEntity', entityUrn: orders, hard: true }]
    })
    t.strictSame(
      parseProposal({
        entityType: 'domain',
        entityUrn: 'urn:li:domain:a',
        changeType: 'DELETE',
        aspectName: 'domainKey'
      }),
      { changes: [{ kind: 'deleteDomain', domainUrn: 'urn:li:domain:a' }] }
    )
    t.match(parseProposal(proposal({ aspectName: 'datasetKey', aspect: { json: { name: 'other' } } })), {
      changes: [{ value: keyOfUrn(toUrn(orders)) }]
    })
    const patch = [{ op: 'add', path: '/description', value: 'y' }]
    const asPatch = { kind: 'patchAspect', entityUrn: orders, aspectName: 'datasetProperties' }
    for (const aspect of [
      patch,
      { json: patch },
      { value: JSON.stringify(patch), contentType: 'application/json-patch+json' },
      { json: { patch } }
    ]) {
      t.strictSame(parseProposal(proposal({ changeType: 'PATCH', aspect })), {
        changes: [{ ...asPatch, patch: { patch } }]
      })
    }
    const generic = { patch, arrayPrimaryKeys: { tags: ['x'] }, forceGenericPatch: true }
    t.strictSame(
      parseProposal(
        proposal({
          changeType: 'PATCH',
          aspect: { value: JSON.stringify(generic), contentType: 'application/json-patch+json' }
        })
      ),
      { changes: [{ ...asPatch, patch: generic }] }
    )
  })

  t.test('a malformed proposal is refused with its place', async (t) => {
    const text = (value: string): JsonObject => ({ aspect: { value, contentType: 'application/json' } })
    const patching = (aspect: JsonValue): JsonObject => ({ changeType: 'PATCH', aspect })
    const cases: [fields: JsonObject, code: string, field: string][] = [
      [{ entityType: null }, 'BAD_REQUEST', 'entityType'],
      [{ entityType: 'chart' }, 'BAD_REQUEST', 'entityType'],
      [{ entityUrn: null }, 'BAD_REQUEST', 'entityUrn'],
      [{ entityUrn: 'orders' }, 'INVALID_URN', 'entityUrn'],
      [
        { entityUrn: null, entityKeyAspect: { json: { name: 'x' } } },
        'BAD_REQUEST',
        'entityKeyAspect.platform'
      ],
      [{ changeType: null }, 'VALIDATION_FAILED', 'changeType'],
      [{ changeType: 'upsert' }, 'VALIDATION_FAILED', 'changeType'],
      [{ changeType: 'RESTATE' }, 'VALIDATION_FAILED', 'changeType'],
      [{ aspectName: null }, 'BAD_REQUEST', 'aspectName'],
      [{ aspectName: 'a b' }, 'BAD_REQUEST', 'aspectName'],
      [{ aspectName: 'x'.repeat(256) }, 'BAD_REQUEST', 'aspectName'],
      [{ aspect: null }, 'BAD_REQUEST', 'aspect'],
      [text('{"a":'), 'BAD_REQUEST', 'aspect'],
      [text('{"confidenceScore": NaN}'), 'BAD_REQUEST', 'aspect'],
      [text('[1]'), 'VALIDATION_FAILED', 'aspect'],
      [text('{"__proto__": 1}'), 'BAD_REQUEST', 'aspect'],
      [text('{"a": {"constructor": {"prototype": 1}}}'), 'BAD_REQUEST', 'aspect.a'],
      [text(`{"a": ${'['.repeat(64)}${']'.repeat(64)}}`), 'LIMIT_EXCEEDED', 'aspect'],
      [text('{"a": "\\ud800"}'), 'INVALID_CHARACTER', 'aspect.a'],
      [text('{"a": 1e400}'), 'BAD_REQUEST', 'aspect.a'],
      [{ aspect: { value: '{}', contentType: 'application/avro' } }, 'BAD_REQUEST', 'aspect.contentType'],
      [{ aspect: { value: '[]', contentType: 'application/json-patch+json' } }, 'BAD_REQUEST', 'changeType'],
      [{ systemMetadata: '{' }, 'BAD_REQUEST', 'systemMetadata'],
      [{ systemMetadata: [] }, 'BAD_REQUEST', 'systemMetadata'],
      [{ headers: { 'If-Version-Match': 'soon' } }, 'BAD_REQUEST', 'headers.If-Version-Match'],
      [{ headers: { 'If-Version-Match': '--2' } }, 'BAD_REQUEST', 'headers.If-Version-Match'],
      [patching({ json: {} }), 'BAD_REQUEST', 'aspect'],
      [patching([{ op: 'merge', path: '/a' }]), 'BAD_REQUEST', 'aspect[0].op'],
      [patching([{ op: 'add', value: 1 }]), 'BAD_REQUEST', 'aspect[0].path'],
      [patching([{ op: 'add', path: '/a' }]), 'BAD_REQUEST', 'aspect[0].value'],
      [patching([{ op: 'copy', path: '/a' }]), 'BAD_REQUEST', 'aspect[0].from'],
      [patching({ patch: [], arrayPrimaryKeys: { a: 'x' } }), 'BAD_REQUEST', 'aspect.arrayPrimaryKeys.a'],
      [{ ...patching([]), aspectName: 'chartInfo' }, 'VALIDATION_FAILED', 'aspectName'],
      [{ ...patching([]), aspectName: 'datasetKey' }, 'VALIDATION_FAILED', 'changeType'],
      [{ ...patching([]), aspectName: 'datasetProfile' }, 'VALIDATION_FAILED', 'changeType'],
      [
        { ...patching([{ op: 'add', path: '/upstreams/orders', value: {} }]), aspectName: 'upstreamLineage' },
        'INVALID_URN',
        '/upstreams/orders'
      ],
      [
        { changeType: 'CREATE', aspectName: 'datasetProfile', aspect: { json: { timestampMillis: 1 } } },
        'VALIDATION_FAILED',
        'changeType'
      ]
    ]
    for (const [fields, code, field] of cases) {
      t.match(
        t.throws(() => parseProposal(proposal(fields))),
        { code, details: { field } },
        JSON.stringify(fields).slice(0, 100)
      )
    }
    for (const value of [null, [], 'x', 7, undefined])
      t.throws(() => parseProposal(value), { code: 'BAD_REQUEST' })
    t.match(
      t.throws(() => parseProposal(proposal({ changeType: 'x' }))),
      { details: { allowed: ['UPSERT', 'CREATE', 'CREATE_ENTITY', 'UPDATE', 'PATCH', 'DELETE'] } }
    )
  })

  t.test('content that a patch puts into a lineage aspect is prepared like an upsert', async (t) => {
    const patching = (entityUrn: string, aspectName: string, operation: JsonObject): JsonObject => ({
      entityType: entityTypeOf(toUrn(entityUrn)),
      entityUrn,
      changeType: 'PATCH',
      aspectName,
      aspect: { json: [operation] }
    })
    const upstream = `/upstreams/${customers}`
    const columns = `/fineGrainedLineages/NONE/${ordersId}/NONE/${customersId}`
    const cases: [entityUrn: string, aspectName: string, sent: JsonObject, prepared: JsonValue][] = [
      [
        orders,
        'upstreamLineage',
        { op: 'add', path: upstream, value: {} },
        { type: 'TRANSFORMED', dataset: customers, auditStamp: unset }
      ],
      [
        orders,
        'upstreamLineage',
        {
          op: 'add',
          path: upstream,
          value: { dataset: orders, type: 'VIEW', auditStamp: { time: 3 }, query: null }
        },
        { dataset: customers, type: 'VIEW', auditStamp: { time: 3, actor: unset.actor } }
      ],
      [
        orders,
        'upstreamLineage',
        { op: 'add', path: '/upstreams', value: [{ dataset: customers, type: 'COPY' }] },
        [{ dataset: customers, type: 'COPY', auditStamp: unset }]
      ],
      [
        orders,
        'upstreamLineage',
        { op: 'add', path: columns, value: { confidenceScore: 0.5 } },
        { confidenceScore: 0.5 }
      ],
      [
        job,
        'dataJobInputOutput',
        { op: 'add', path: `/inputDatasetEdges/${orders}`, value: { destinationUrn: orders, created: null } },
        { destinationUrn: orders }
      ],
      [job, 'dataJobInputOutput', { op: 'add', path: `/inputDatasets/${orders}`, value: {} }, orders],
      [chart, 'chartInfo', { op: 'add', path: '/inputs', value: [orders] }, [{ string: orders }]],
      [chart, 'chartInfo', { op: 'add', path: '/title', value: 'x' }, 'x'],
      [chart, 'chartInfo', { op: 'add', path: '/lastModified/lastModified/time', value: 7 }, 7],
      [chart, 'chartInfo', { op: 'add', path: '/colour/shade', value: 7 }, 7]
    ]
    for (const [entityUrn, aspectName, sent, prepared] of cases) {
      t.strictSame(parseProposal(patching(entityUrn, aspectName, sent)), {
        changes: [
          { kind: 'patchAspect', entityUrn, aspectName, patch: { patch: [{ ...sent, value: prepared }] } }
        ]
      })
    }
    const refused: [entityUrn: string, aspectName: string, sent: JsonObject, code: string][] = [
      [
        orders,
        'upstreamLineage',
        { op: 'add', path: upstream, value: { type: 'MOVED' } },
        'VALIDATION_FAILED'
      ],
      [
        orders,
        'upstreamLineage',
        { op: 'add', path: `${upstream}/type`, value: 'MOVED' },
        'VALIDATION_FAILED'
      ],
      [orders, 'upstreamLineage', { op: 'add', path: `/upstreams/${chart}`, value: {} }, 'VALIDATION_FAILED'],
      [
        orders,
        'upstreamLineage',
        { op: 'replace', path: '/upstreams', value: [{ dataset: customers }] },
        'VALIDATION_FAILED'
      ],
      [
        orders,
        'upstreamLineage',
        { op: 'add', path: columns, value: { confidenceScore: 2 } },
        'VALIDATION_FAILED'
      ],
      [
        orders,
        'upstreamLineage',
        { op: 'add', path: '/fineGrainedLineages/NONE/x/NONE/y', value: {} },
        'INVALID_URN'
      ],
      [chart, 'chartInfo', { op: 'add', path: '/title', value: 7 }, 'VALIDATION_FAILED'],
      [chart, 'chartInfo', { op: 'remove', path: '/title' }, 'VALIDATION_FAILED'],
      [chart, 'chartInfo', { op: 'add', path: '/customProperties/a', value: 7 }, 'VALIDATION_FAILED']
    ]
    for (const [entityUrn, aspectName, sent, code] of refused) {
      t.match(
        t.throws(() => parseProposal(patching(entityUrn, aspectName, sent))),
        { code, details: { field: sent.path } },
        `${aspectName} ${JSON.stringify(sent)}`
      )
    }
  })

  t.test('a legacy snapshot becomes one change for each aspect', async (t) => {
    const snapshot = (aspects: JsonValue): JsonObject => ({
      proposedSnapshot: {
        'com.linkedin.pegasus2avro.metadata.snapshot.DatasetSnapshot': { urn: orders, aspects }
      },
      systemMetadata: { runId: 'r' }
    })
    const { changes } = parseSnapshot(
      snapshot([
        { 'com.linkedin.pegasus2avro.dataset.DatasetProperties': properties },
        { 'com.linkedin.pegasus2avro.common.Status': { removed: false } },
        { 'com.linkedin.pegasus2avro.dataset.ViewProperties': { a: null } }
      ])
    )
    const headers = { systemMetadata: { runId: 'r' } }
    t.strictSame(changes, [
      { ...upsert, headers },
      { ...upsert, aspectName: 'status', value: { removed: false }, headers },
      { ...upsert, aspectName: 'viewProperties', value: {}, headers }
    ])
    t.match(parseSnapshot(snapshot([])), {
      changes: [{ aspectName: 'datasetKey', value: keyOfUrn(toUrn(orders)) }]
    })
    t.throws(() => parseSnapshot(snapshot([{}])), {
      code: 'BAD_REQUEST',
      details: { field: 'proposedSnapshot.aspects[0]' }
    })
    t.throws(() => parseSnapshot(snapshot({})), { code: 'BAD_REQUEST' })
    t.throws(() => parseSnapshot({ proposedSnapshot: {} }), { code: 'BAD_REQUEST' })
    t.throws(() => parseSnapshot({ proposedSnapshot: { a: { urn: 'x', aspects: [] } } }), {
      code: 'INVALID_URN',
      details: { field: 'proposedSnapshot.urn' }
    })
  })

  t.test('any JSON becomes changes or is refused', async (t) => {
    const envelope = fc.oneof(
      fc.jsonValue(),
      fc.record({ value: fc.json() }),
      fc.record({ json: fc.jsonValue() })
    )
    const any = fc.record(
      {
        entityType: fc.constantFrom('dataset', 'domain', 'chart'),
        entityUrn: fc.constantFrom(orders, 'urn:li:domain:a', chart),
        changeType: fc.constantFrom('UPSERT', 'PATCH', 'DELETE', 'CREATE'),
        aspectName: fc.constantFrom(
          'upstreamLineage',
          'domains',
          'domainProperties',
          'chartInfo',
          'inputFields',
          'schemaMetadata',
          'moonPhase'
        ),
        aspect: envelope,
        systemMetadata: envelope,
        headers: fc.jsonValue()
      },
      { requiredKeys: ['entityUrn'] }
    )
    fc.assert(
      fc.property(any, (value) => {
        try {
          return parseProposal(value).changes.length === 1
        } catch (error) {
          return error instanceof CatalogError && error.status < 500
        }
      }),
      { numRuns: 3000 }
    )
    t.pass()
  })
})

t.test('edges', async (t) => {
  t.test('an edge of a pair that lineage knows is read', async (t) => {
    t.strictSame(parseEdge(orders, customers, 'x'), {
      upstreamUrn: orders,
      downstreamUrn: customers,
      isWithoutEffect: false
    })
    for (const [up, down] of [
      [orders, job],
      [job, orders],
      [orders, chart],
      [chart, 'urn:li:dashboard:(looker,d)'],
      [ordersId, customersId],
      [ordersId, `urn:li:schemaField:(${chart},id)`],
      [orders, 'urn:li:mlPrimaryKey:(a,b)'],
      [orders, orders]
    ] as const) {
      t.equal(parseEdge(up, down, 'x').isWithoutEffect, false)
    }
    t.equal(parseEdge(flow, job, 'x').isWithoutEffect, true)
    t.equal(parseEdge(job, flow, 'x').isWithoutEffect, true)
  })

  t.test('any other pair is refused, naming both types and the edge', async (t) => {
    const cases: [up: string, down: string, types: string[]][] = [
      ['urn:li:domain:a', orders, ['domain', 'dataset']],
      [ordersId, orders, ['schemaField', 'dataset']],
      ['urn:li:dataFlow:(airflow,other,prod)', job, ['dataFlow', 'dataJob']],
      [ordersId, 'urn:li:schemaField:(urn:li:container:x,id)', ['schemaField']],
      ['urn:li:moonPhase:full', orders, ['moonPhase', 'dataset']]
    ]
    for (const [up, down, types] of cases) {
      const error = t.throws(() => parseEdge(up, down, 'input.edgesToAdd[3]'))
      t.match(error, { code: 'BAD_REQUEST', details: { field: 'input.edgesToAdd[3]' } })
      for (const type of types) t.match(error, { message: type })
    }
    t.throws(() => parseEdge(orders, 'x', 'input.edgesToAdd[3]'), {
      code: 'INVALID_URN',
      details: { field: 'input.edgesToAdd[3].downstreamUrn' }
    })
    t.throws(() => parseEdge(undefined, orders, ''), {
      code: 'INVALID_URN',
      details: { field: 'upstreamUrn' }
    })
  })
})

t.test('the reason why a text is not JSON never quotes the text', async (t) => {
  for (const text of ['{"password": secret\u0000}', '\ud800', '{"a":"b', 'x'.repeat(1000)]) {
    const error = t.throws(() => parseJsonText(text, 'aspect'))
    t.ok(
      error instanceof CatalogError &&
        !error.message.includes('secret') &&
        error.message.isWellFormed() &&
        error.message.length < 200,
      error instanceof Error ? error.message : ''
    )
  }
})

t.test('proposals of real connectors are prepared without a fault and without a loss', async (t) => {
  const folder = join(process.env.TRIBUTARY_TEST_DATA ?? join(packageRoot, '..', 'shared', 'data'), 'mcp')
  if (skipUnless(t, existsSync(folder), 'no folder of real data: set TRIBUTARY_TEST_DATA')) return
  for (const file of ['dbt.json', 'snowflake.json', 'tableau.json']) {
    const sent: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const lost: string[] = []
    for (const entry of Array.isArray(sent) ? sent : []) {
      const { changes } = entry.proposedSnapshot ? parseSnapshot(entry) : parseProposal(entry)
      for (const change of changes) {
        if (change.kind !== 'upsertAspect') continue
        const values = entry.proposedSnapshot
          ? (Object.values<{ aspects: JsonObject[] }>(entry.proposedSnapshot)[0]?.aspects.flatMap((aspect) =>
              Object.entries(aspect)
            ) ?? [])
          : [[aspectClassOf(change.aspectName), entry.aspect.json] as const]
        const [, value] =
          values.find(([className]) => aspectNameOfClass(className) === change.aspectName) ?? []
        if (value === undefined || !isWithin(value, change.value))
          lost.push(`${change.entityUrn} ${change.aspectName}`)
        t.equal(entityTypeOf(change.entityUrn), entityTypeOf(toUrn(change.entityUrn)))
      }
    }
    t.strictSame(lost, [], file)
  }
})

/** Whether everything that was sent is there unchanged; only defaults may be added. */
function isWithin(sent: JsonValue, prepared: JsonValue | undefined): boolean {
  if (Array.isArray(sent))
    return (
      Array.isArray(prepared) &&
      sent.length === prepared.length &&
      sent.every((entry, index) => isWithin(entry, prepared[index]))
    )
  if (isObject(sent))
    return (
      isObject(prepared) && Object.entries(sent).every(([name, value]) => isWithin(value, prepared[name]))
    )
  return equalJson(sent, prepared)
}
