/**
 * The aspects that DataHub's clients patch by map-keyed paths: what may be added at which path, and each
 * aspect as a map.
 */
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { isObject, listOf } from '../../shared/model/json-values.ts'
import { fc } from './fast-check.ts'

/**
 * A list of an aspect. `add` gives the path below the aspect and the value for a key; `keyOf` gives the same
 * path for an entry that was read.
 */
export type PatchList = {
  keys: readonly string[]
  add: (
    key: string,
    number: number
  ) => { path: string; value: JsonValue; arrayPrimaryKeys?: { [name: string]: string[] } }
  read: (aspect: JsonObject) => [path: string, value: JsonValue][]
}

export type PatchCase = {
  name: string
  entityUrn: (id: string) => string
  aspectName: string
  before?: JsonObject
  lists: readonly PatchList[]
}

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
const job = (name: string): string => `urn:li:dataJob:(urn:li:dataFlow:(airflow,flow,prod),${name})`
const chart = (name: string): string => `urn:li:chart:(looker,${name})`
const dashboard = (name: string): string => `urn:li:dashboard:(looker,${name})`
const column = (name: string, path: string): string => `urn:li:schemaField:(${dataset(name)},${path})`
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
const field = (value: JsonValue, name: string): JsonValue => (isObject(value) ? (value[name] ?? null) : null)
const text = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))
const names = ['a', 'b/c', 'd~e']

/** Entries without any content of their own. */
const bare = (listName: string, keys: readonly string[]): PatchList => ({
  keys,
  add: (key) => ({ path: `/${listName}/${escaped(key)}`, value: key }),
  read: (aspect) => listOf(aspect[listName]).map((entry) => [`/${listName}/${escaped(text(entry))}`, entry])
})

/** Records keyed by one of their fields; `valueOf` makes one, whose content is compared. */
const records = (
  listName: string,
  keyName: string,
  keys: readonly string[],
  valueOf: (number: number) => JsonObject,
  given = false
): PatchList => ({
  keys,
  add: (key, number) => ({
    path: `/${listName}/${escaped(key)}`,
    value: { [keyName]: key, ...valueOf(number) },
    ...(given ? { arrayPrimaryKeys: { [listName]: [keyName] } } : {})
  }),
  read: (aspect) =>
    listOf(aspect[listName]).map((entry) => [`/${listName}/${escaped(text(field(entry, keyName)))}`, entry])
})

const edges = (listName: string, keys: readonly string[]): PatchList =>
  records(listName, 'destinationUrn', keys, (number) =>
    number % 3 === 0 ? {} : { properties: { n: String(number) } }
  )

const customProperties: PatchList = {
  keys: ['plain', 'with/slash', 'with~tilde'],
  add: (key, number) => ({ path: `/customProperties/${escaped(key)}`, value: String(number) }),
  read: ({ customProperties = {} }) =>
    isObject(customProperties)
      ? Object.entries(customProperties).map(([key, value]) => [`/customProperties/${escaped(key)}`, value])
      : []
}

const queries = ['NONE', 'urn:li:query:q/1']

/**
 * Keys are `<operation>\t<downstream>\t<query>\t<upstream>`. Records with several downstreams are not in the
 * map, because no path names them.
 */
const columns = (downstreams: readonly string[]): PatchList => ({
  keys: ['NONE', 'SQL'].flatMap((operation) =>
    downstreams.flatMap((down) =>
      queries.flatMap((query) =>
        names.slice(0, 2).map((up) => [operation, down, query, column('source', up)].join('\t'))
      )
    )
  ),
  add: (key) => ({
    path: `/fineGrainedLineages/${key.split('\t').map(escaped).join('/')}`,
    value: { confidenceScore: 1 }
  }),
  read: ({ fineGrainedLineages }) =>
    listOf(fineGrainedLineages)
      .filter(isObject)
      .filter((record) => listOf(record.downstreams).length === 1)
      .flatMap((record) =>
        listOf(record.upstreams).map((up): [string, JsonValue] => [
          `/fineGrainedLineages/${[record.transformOperation ?? 'NONE', listOf(record.downstreams)[0] ?? '', record.query ?? 'NONE', up].map((part) => escaped(text(part))).join('/')}`,
          { confidenceScore: record.confidenceScore ?? null }
        ])
      )
})

const several: JsonObject = {
  upstreamType: 'FIELD_SET',
  downstreamType: 'FIELD_SET',
  upstreams: [column('kept', 'x')],
  downstreams: [column('kept', 'y'), column('kept', 'z')],
  confidenceScore: 0.5
}
const stamp: JsonObject = { time: 1, actor: 'urn:li:corpuser:someone' }

const owners: PatchList = {
  keys: ['urn:li:corpuser:a', 'urn:li:corpGroup:b'].flatMap((owner) =>
    ['DATAOWNER', 'TECHNICAL_OWNER'].map((type) => `${owner}\t${type}`)
  ),
  add(key, number) {
    const [owner = '', type = ''] = key.split('\t')
    return {
      path: `/owners/${owner}/${type}`,
      value: { owner, type, source: { type: 'MANUAL', url: String(number) } }
    }
  },
  read: ({ owners: list }) =>
    listOf(list).map((entry) => [
      `/owners/${text(field(entry, 'owner'))}/${text(field(entry, 'type'))}`,
      entry
    ])
}

const fieldTags: PatchList = {
  keys: names.flatMap((path) => ['urn:li:tag:one', 'urn:li:tag:two'].map((tag) => `${path}\t${tag}`)),
  add(key, number) {
    const [path = '', tag = ''] = key.split('\t')
    return {
      path: `/editableSchemaFieldInfo/${escaped(path)}/globalTags/tags/${tag}`,
      value: { tag, context: String(number) }
    }
  },
  read: ({ editableSchemaFieldInfo }) =>
    listOf(editableSchemaFieldInfo).flatMap((info) =>
      listOf(field(field(info, 'globalTags'), 'tags')).map((entry): [string, JsonValue] => [
        `/editableSchemaFieldInfo/${escaped(text(field(info, 'fieldPath')))}/globalTags/tags/${text(field(entry, 'tag'))}`,
        entry
      ])
    )
}

const ofDataset = (id: string): string => dataset(`patched/${id}`)

export const patchCases: readonly PatchCase[] = [
  {
    name: 'upstreams and column records',
    aspectName: 'upstreamLineage',
    entityUrn: ofDataset,
    lists: [
      records('upstreams', 'dataset', names.map(dataset), (number) => ({
        type: number % 2 === 0 ? 'COPY' : 'TRANSFORMED',
        auditStamp: { ...stamp, time: number }
      })),
      columns([column('down', 'x'), column('down', 'y/z')])
    ]
  },
  {
    name: 'upstreams beside a record with several downstreams',
    aspectName: 'upstreamLineage',
    entityUrn: ofDataset,
    before: { upstreams: [], fineGrainedLineages: [several] },
    lists: [
      records('upstreams', 'dataset', names.map(dataset), (number) => ({
        type: number % 2 === 0 ? 'COPY' : 'VIEW',
        auditStamp: stamp
      })),
      columns([column('down', 'x')])
    ]
  },
  {
    name: 'inputs and outputs of a job',
    aspectName: 'dataJobInputOutput',
    entityUrn: (id) => job(`patched ${id}`),
    lists: [
      bare('inputDatasets', names.map(dataset)),
      bare('outputDatasets', names.map(dataset)),
      bare('inputDatajobs', names.map(job)),
      edges('inputDatasetEdges', names.map(dataset)),
      edges('outputDatasetEdges', names.map(dataset)),
      edges('inputDatajobEdges', names.map(job)),
      bare(
        'inputDatasetFields',
        names.map((name) => column('in', name))
      ),
      bare(
        'outputDatasetFields',
        names.map((name) => column('out', name))
      ),
      columns([column('out', 'x')])
    ]
  },
  {
    name: 'a dashboard',
    aspectName: 'dashboardInfo',
    entityUrn: (id) => dashboard(`patched ${id}`),
    lists: [
      bare('charts', names.map(chart)),
      edges('chartEdges', names.map(chart)),
      bare('datasets', names.map(dataset)),
      edges('datasetEdges', names.map(dataset)),
      edges('dashboards', names.map(dashboard)),
      customProperties
    ]
  },
  {
    name: 'a chart',
    aspectName: 'chartInfo',
    entityUrn: (id) => chart(`patched ${id}`),
    lists: [edges('inputEdges', names.map(dataset)), customProperties]
  },
  {
    name: 'the domain',
    aspectName: 'domains',
    entityUrn: ofDataset,
    lists: [bare('domains', ['urn:li:domain:patched'])]
  },
  {
    name: 'tags and terms of columns',
    aspectName: 'editableSchemaMetadata',
    entityUrn: ofDataset,
    lists: [fieldTags]
  },
  {
    name: 'tags',
    aspectName: 'globalTags',
    entityUrn: ofDataset,
    lists: [
      records(
        'tags',
        'tag',
        names.map((name) => `urn:li:tag:${name}`),
        (number) => ({ context: String(number) })
      )
    ]
  },
  {
    name: 'terms',
    aspectName: 'glossaryTerms',
    entityUrn: ofDataset,
    lists: [
      records(
        'terms',
        'urn',
        names.map((name) => `urn:li:glossaryTerm:${name}`),
        (number) => ({ context: String(number) })
      )
    ]
  },
  { name: 'owners', aspectName: 'ownership', entityUrn: ofDataset, lists: [owners] },
  {
    name: 'structured properties',
    aspectName: 'structuredProperties',
    entityUrn: ofDataset,
    lists: [
      records(
        'properties',
        'propertyUrn',
        names.map((name) => `urn:li:structuredProperty:${name}`),
        (number) => ({ values: [{ string: String(number) }] })
      )
    ]
  },
  {
    name: 'properties of a dataset',
    aspectName: 'datasetProperties',
    entityUrn: ofDataset,
    lists: [customProperties, bare('tags', names)]
  },
  {
    name: 'properties of a job',
    aspectName: 'dataJobInfo',
    entityUrn: (id) => job(`patched ${id}`),
    before: { name: 'job', type: { string: 'SQL' }, customProperties: {} },
    lists: [customProperties]
  },
  {
    name: 'properties of a flow',
    aspectName: 'dataFlowInfo',
    entityUrn: (id) => `urn:li:dataFlow:(airflow,patched ${id},prod)`,
    before: { name: 'flow', customProperties: {} },
    lists: [customProperties]
  },
  {
    name: 'keys that the client gives',
    aspectName: 'institutionalMemory',
    entityUrn: ofDataset,
    lists: [
      records(
        'elements',
        'url',
        names,
        (number) => ({ description: String(number), createStamp: stamp }),
        true
      )
    ]
  },
  {
    name: 'siblings',
    aspectName: 'siblings',
    entityUrn: ofDataset,
    lists: [bare('siblings', names.map(dataset))]
  },
  {
    name: 'prompts of a form',
    aspectName: 'formInfo',
    entityUrn: (id) => `urn:li:form:patched-${id}`,
    lists: [
      records('prompts', 'id', names, (number) => ({ title: String(number), type: 'STRUCTURED_PROPERTY' }))
    ]
  },
  {
    name: 'entity types of a property',
    aspectName: 'propertyDefinition',
    entityUrn: (id) => `urn:li:structuredProperty:patched-${id}`,
    lists: [
      bare(
        'entityTypes',
        names.map((name) => `urn:li:entityType:${name}`)
      )
    ]
  }
]

/** One step: add (again, with another value) or remove a key of a list. */
export type PatchStep = { op: 'add' | 'remove'; list: PatchList; key: string; number: number }

export const stepsOf = ({ lists }: PatchCase): fc.Arbitrary<PatchStep> =>
  fc.constantFrom(...lists).chain((list) =>
    fc.record({
      op: fc.constantFrom('add', 'add', 'remove'),
      list: fc.constant(list),
      key: fc.constantFrom(...list.keys),
      number: fc.nat(9)
    })
  )

/** The map that the steps make from an empty one, by path. */
export function mapAfter(steps: readonly PatchStep[]): Map<string, JsonValue> {
  const map = new Map<string, JsonValue>()
  for (const { op, list, key, number } of steps) {
    const { path, value } = list.add(key, number)
    if (op === 'remove') map.delete(path)
    else map.set(path, value)
  }
  return map
}
