/**
 * The fields that results can be filtered by: where the values of each are, and which conditions it allows.
 */
import { typesOfAspect } from '../../model/aspect-places.ts'
import { graphqlTypeOf } from '../../model/entity-types.ts'
import type { JsonValue } from '../../model/changes.ts'
import { isObject } from '../../model/json-values.ts'
import type { LineageDirection } from '../../model/walk.ts'
import { unlessRefused } from '../../openlineage/unless-refused.ts'
import { namesPlatform, nameFromUrn, platformOf } from '../../urn/kinds.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { descriptionsOf, namesOf, textAspectNames, type Documents } from '../entities/entity-texts.ts'
import type { EntityClass } from './lineage-reader.ts'

/**
 * The facts that a result shares with others. Most filters look at nothing else, and are evaluated once for
 * all results with these facts.
 */
export type CommonFacts = Pick<
  EntityClass,
  'entityType' | 'platformUrn' | 'origin' | 'isRemoved' | 'domainId'
> & {
  /** Hops from the start of a walk; null if there was no walk. */
  degree: DegreeValue | null
}

/** One result with its own facts. `documents` are those that the filters in use need. */
export type Candidate = {
  common: CommonFacts
  urn: Urn
  documents: Documents
  /** Tells whether the result has edges in a direction; null if no filter needs it. */
  hasEdges: ((direction: LineageDirection) => boolean) | null
}

const textConditions = ['EQUAL', 'IEQUAL', 'IN', 'CONTAIN', 'START_WITH', 'END_WITH', 'EXISTS'] as const
const domainConditions = [
  'EQUAL',
  'IN',
  'EXISTS',
  'DESCENDANTS_INCL',
  'ANCESTORS_INCL',
  'RELATED_INCL'
] as const
const exactConditions = ['EQUAL', 'IN'] as const

export type FilterCondition = (typeof textConditions)[number] | (typeof domainConditions)[number]

export type FilterField = {
  conditions: readonly FilterCondition[]
  /** The values that a filter may name, if there are few. */
  allowed?: readonly string[]
  /** The key of the field in search documents; absent unless it has all values of the field. */
  key?: string
} & (
  | {
      commonValuesOf: (facts: CommonFacts) => readonly string[]
      /** Where the values are if the shared facts have none. */
      own?: OwnValues
    }
  | {
      /** Aspects whose documents contain the values. */
      aspectNames: readonly string[]
      ownValuesOf: (candidate: Candidate) => readonly string[]
      /** The directions in which the filter looks at edges. */
      edges?: readonly LineageDirection[]
    }
)

/** Values in aspects, of entities of some types. */
export type OwnValues = {
  entityTypes: ReadonlySet<string>
  aspectNames: readonly string[]
  valuesOf: (documents: Documents) => readonly string[]
}

export type DegreeValue = '1' | '2' | '3+'
export const degreeValues: readonly DegreeValue[] = ['1', '2', '3+']
export const degreeValueOf = (degree: number): DegreeValue => (degree === 1 ? '1' : degree === 2 ? '2' : '3+')

const listed = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : [])
const strings = (values: readonly (JsonValue | undefined)[]): string[] =>
  values.filter((value) => typeof value === 'string')
const present = (value: string | null): string[] => (value === null ? [] : [value])

/** The values under a key of each entry of a list in one aspect. */
export const valuesInList = (
  documents: Documents,
  aspectName: string,
  listName: string,
  key: string
): string[] =>
  strings(
    listed(documents.get(aspectName)?.[listName]).map((entry) => (isObject(entry) ? entry[key] : entry))
  )

/** A field whose values are in a list in one aspect, each under a key. */
const fromList = (aspectName: string, listName: string, key: string): FilterField => ({
  key: aspectName,
  conditions: textConditions,
  aspectNames: [aspectName],
  ownValuesOf: ({ documents }) => valuesInList(documents, aspectName, listName, key)
})

/** A field whose value is in one aspect. */
const fromAspect = (aspectName: string, key: string): FilterField => ({
  key: aspectName,
  conditions: textConditions,
  aspectNames: [aspectName],
  ownValuesOf: ({ documents }) => strings([documents.get(aspectName)?.[key]])
})

const customPropertyAspects = textAspectNames.filter((name) => !name.startsWith('editable'))

const entityType: FilterField = {
  key: 'type',
  conditions: exactConditions,
  commonValuesOf: ({ entityType: name }) => [graphqlTypeOf(name), name]
}
/** Clients name a platform by its URN or by its name. */
const platformNames = (urn: Urn): string[] => [urn, nameFromUrn(urn)]

const platform: FilterField = {
  key: 'platform',
  conditions: textConditions,
  commonValuesOf: ({ platformUrn }) => (platformUrn === null ? [] : platformNames(platformUrn)),
  own: {
    entityTypes: new Set(typesOfAspect('dataPlatformInstance').filter((name) => !namesPlatform(name))),
    aspectNames: ['dataPlatformInstance', 'dataProcessInstanceRelationships'],
    valuesOf: (documents) => {
      const platformUrn = urnIn(documents.get('dataPlatformInstance')?.platform) ?? platformOfRun(documents)
      return platformUrn === null ? [] : platformNames(platformUrn)
    }
  }
}

/** A run is on the platform of what it is a run of: a job, a flow, or a dataset. */
function platformOfRun(documents: Documents): Urn | null {
  const template = urnIn(documents.get('dataProcessInstanceRelationships')?.parentTemplate)
  return template && platformOf(template)
}

/** These aspects are stored as they were sent, so a text in them need not be a URN. */
const urnIn = (value: JsonValue | undefined): Urn | null =>
  typeof value === 'string' ? unlessRefused(() => toUrn(value)) : null

const environmentAspects = ['dataFlowInfo', 'dataJobInfo', 'containerProperties']
const origin: FilterField = {
  key: 'origin',
  conditions: textConditions,
  commonValuesOf: (facts) => present(facts.origin),
  own: {
    entityTypes: new Set(environmentAspects.flatMap(typesOfAspect)),
    aspectNames: environmentAspects,
    valuesOf: (documents) => strings(environmentAspects.map((name) => documents.get(name)?.env))
  }
}

/**
 * Fields by the names that DataHub's clients send. A Map, so that a text from a client finds only listed
 * names.
 */
export const entityFilterFields: ReadonlyMap<string, FilterField> = new Map<string, FilterField>([
  ['_entityType', entityType],
  ['entityType', entityType],
  ['platform', platform],
  ['platform.keyword', platform],
  ['origin', origin],
  ['env', origin],
  // Compared by id, through the tree: see lineage-filters.ts.
  [
    'domains',
    {
      conditions: domainConditions,
      commonValuesOf: ({ domainId }) => (domainId === null ? [] : [String(domainId)])
    }
  ],
  [
    'removed',
    {
      conditions: exactConditions,
      allowed: ['true', 'false'],
      commonValuesOf: ({ isRemoved }) => [String(isRemoved)]
    }
  ],
  ['urn', { conditions: textConditions, aspectNames: [], ownValuesOf: ({ urn }) => [urn] }],
  [
    'name',
    {
      conditions: textConditions,
      aspectNames: textAspectNames,
      ownValuesOf: ({ urn, documents }) => namesOf(urn, documents)
    }
  ],
  [
    'description',
    {
      conditions: textConditions,
      aspectNames: textAspectNames,
      ownValuesOf: ({ documents }) => descriptionsOf(documents)
    }
  ],
  [
    'customProperties',
    {
      key: 'customProperties',
      conditions: textConditions,
      aspectNames: customPropertyAspects,
      ownValuesOf: customPropertiesOf
    }
  ],
  ['tags', fromList('globalTags', 'tags', 'tag')],
  ['owners', fromList('ownership', 'owners', 'owner')],
  ['glossaryTerms', fromList('glossaryTerms', 'terms', 'urn')],
  ['typeNames', fromList('subTypes', 'typeNames', 'typeName')],
  ['container', fromAspect('container', 'container')],
  ['platformInstance', fromAspect('dataPlatformInstance', 'instance')],
  [
    'hasUpstreams',
    {
      conditions: exactConditions,
      allowed: ['true', 'false'],
      aspectNames: [],
      edges: ['UPSTREAM'],
      ownValuesOf: ({ hasEdges }) => [String(hasEdges?.('UPSTREAM'))]
    }
  ],
  [
    'hasLineage',
    {
      conditions: exactConditions,
      allowed: ['true', 'false'],
      aspectNames: [],
      edges: ['UPSTREAM', 'DOWNSTREAM'],
      ownValuesOf: ({ hasEdges }) => [
        String(hasEdges?.('UPSTREAM') === true || hasEdges?.('DOWNSTREAM') === true)
      ]
    }
  ],
  ['browsePathV2', { conditions: textConditions, aspectNames: ['browsePathsV2'], ownValuesOf: browsePathOf }]
])

/** The fields that filter the results of a walk. */
export const lineageFilterFields: ReadonlyMap<string, FilterField> = new Map<string, FilterField>([
  [
    'degree',
    { conditions: exactConditions, allowed: degreeValues, commonValuesOf: ({ degree }) => present(degree) }
  ],
  ...entityFilterFields
])

/** `key=value`, the form in which DataHub's clients send it. */
function customPropertiesOf({ documents }: Candidate): string[] {
  return [...documents.values()].flatMap((document) =>
    isObject(document.customProperties)
      ? Object.entries(document.customProperties).map(
          ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`
        )
      : []
  )
}

/** The ids of the path, each after a U+241F, the form in which DataHub stores it. */
function browsePathOf({ documents }: Candidate): string[] {
  const ids = strings(
    listed(documents.get('browsePathsV2')?.path).map((entry) => (isObject(entry) ? entry.id : undefined))
  )
  return ids.length === 0 ? [] : [ids.map((id) => `\u241f${id}`).join('')]
}
