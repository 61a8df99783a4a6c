/** The fields that results can be filtered by: where each one's values are found, and how they may be compared. */
import { graphqlTypeOf } from '../model/entity-types.ts'
import type { JsonValue } from '../model/changes.ts'
import { isObject } from '../model/json-values.ts'
import { nameFromUrn, originOf, platformOf } from '../urn/kinds.ts'
import type { Urn } from '../urn/urn.ts'
import { descriptionsOf, namesOf, textAspectNames, type Documents } from './entity-texts.ts'

/** One result as the filters see it. `urn` and `documents` are there when a filter in use needs them. */
export type Candidate = {
  urn: Urn
  entityType: string
  isRemoved: boolean
  domainId: number | null
  /** Hops from the start of a walk; 0 where there was no walk. */
  degree: number
  documents: Documents
}

const textConditions = ['EQUAL', 'IEQUAL', 'IN', 'CONTAIN', 'START_WITH', 'END_WITH', 'EXISTS'] as const
const domainConditions = ['EQUAL', 'IN', 'EXISTS', 'DESCENDANTS_INCL', 'ANCESTORS_INCL', 'RELATED_INCL'] as const
const exactConditions = ['EQUAL', 'IN'] as const

export type FilterCondition = typeof textConditions[number] | typeof domainConditions[number]

export type FilterField = {
  conditions: readonly FilterCondition[]
  /** Where the set is small, the values a filter may name. */
  allowed?: readonly string[]
  needsUrn?: boolean
  aspectNames?: readonly string[]
  valuesOf: (candidate: Candidate) => readonly string[]
}

export type DegreeValue = '1' | '2' | '3+'
export const degreeValues: readonly DegreeValue[] = ['1', '2', '3+']
export const degreeValueOf = (degree: number): DegreeValue => degree === 1 ? '1' : degree === 2 ? '2' : '3+'

const listed = (value: JsonValue | undefined): JsonValue[] => Array.isArray(value) ? value : []
const strings = (values: readonly (JsonValue | undefined)[]): string[] => values.filter((value) => typeof value === 'string')
const namesOfPlatform = (platformUrn: Urn | null): string[] => platformUrn === null ? [] : [platformUrn, nameFromUrn(platformUrn)]
const present = (value: string | null): string[] => value === null ? [] : [value]

/** A field whose values stand in a list of one aspect, each below a key. */
const fromList = (aspectName: string, listName: string, key: string): FilterField => ({
  conditions: textConditions,
  aspectNames: [aspectName],
  valuesOf: ({ documents }) => strings(listed(documents.get(aspectName)?.[listName]).map((entry) => isObject(entry) ? entry[key] : entry))
})

/** A field whose value stands in one aspect. */
const fromAspect = (aspectName: string, key: string): FilterField => ({
  conditions: textConditions,
  aspectNames: [aspectName],
  valuesOf: ({ documents }) => strings([documents.get(aspectName)?.[key]])
})

const customPropertyAspects = textAspectNames.filter((name) => !name.startsWith('editable'))

const entityType: FilterField = { conditions: exactConditions, valuesOf: ({ entityType: name }) => [graphqlTypeOf(name), name] }
const platform: FilterField = {
  conditions: textConditions,
  needsUrn: true,
  // Clients name a platform by its URN or by its name.
  valuesOf: ({ urn }) => namesOfPlatform(platformOf(urn))
}
const origin: FilterField = { conditions: textConditions, needsUrn: true, valuesOf: ({ urn }) => present(originOf(urn)) }

/** By the names that DataHub's clients send. A Map, so that no text a client sends finds what is not listed. */
export const entityFilterFields: ReadonlyMap<string, FilterField> = new Map<string, FilterField>([
  ['_entityType', entityType],
  ['entityType', entityType],
  ['platform', platform],
  ['platform.keyword', platform],
  ['origin', origin],
  ['env', origin],
  // Compared by id, through the tree: see lineage-filters.ts.
  ['domains', { conditions: domainConditions, valuesOf: ({ domainId }) => domainId === null ? [] : [String(domainId)] }],
  ['removed', { conditions: exactConditions, allowed: ['true', 'false'], valuesOf: ({ isRemoved }) => [String(isRemoved)] }],
  ['urn', { conditions: textConditions, needsUrn: true, valuesOf: ({ urn }) => [urn] }],
  ['name', { conditions: textConditions, needsUrn: true, aspectNames: textAspectNames, valuesOf: ({ urn, documents }) => namesOf(urn, documents) }],
  ['description', { conditions: textConditions, aspectNames: textAspectNames, valuesOf: ({ documents }) => descriptionsOf(documents) }],
  ['customProperties', { conditions: textConditions, aspectNames: customPropertyAspects, valuesOf: customPropertiesOf }],
  ['tags', fromList('globalTags', 'tags', 'tag')],
  ['owners', fromList('ownership', 'owners', 'owner')],
  ['glossaryTerms', fromList('glossaryTerms', 'terms', 'urn')],
  ['typeNames', fromList('subTypes', 'typeNames', 'typeName')],
  ['container', fromAspect('container', 'container')],
  ['platformInstance', fromAspect('dataPlatformInstance', 'instance')]
])

/** The same for what a walk reached. */
export const lineageFilterFields: ReadonlyMap<string, FilterField> = new Map<string, FilterField>([
  ['degree', { conditions: exactConditions, allowed: degreeValues, valuesOf: ({ degree }) => [degreeValueOf(degree)] }],
  ...entityFilterFields
])

/** `key=value`, as DataHub's clients ask for it. */
function customPropertiesOf({ documents }: Candidate): string[] {
  return [...documents.values()].flatMap((document) => isObject(document.customProperties)
    ? Object.entries(document.customProperties).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    : [])
}
