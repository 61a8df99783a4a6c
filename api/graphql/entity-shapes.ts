/**
 * Converts aspects to the objects of GraphQL. A value that the aspect does not have is null; nothing is
 * invented.
 */
import { CatalogError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { isObject, listOf } from '../../shared/model/json-values.ts'
import { ownershipTypeOf } from '../../shared/model/ownership-types.ts'
import { nameFromUrn, originOf, schemaFieldParts } from '../../shared/urn/kinds.ts'
import { entityTypeOf, toUrn, type Urn } from '../../shared/urn/urn.ts'

type Aspect = JsonObject | null

export const unknownStamp = { time: 0, actor: 'urn:li:corpuser:unknown' }

const objectOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})
export const textOf = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' ? value : null
/** Every number of the schema is a whole one. */
export const wholeNumberOf = (value: JsonValue | undefined): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null
const stringsOf = (value: JsonValue | undefined): string[] =>
  listOf(value).filter((entry) => typeof entry === 'string')

/** The entity of a URN; null if the text is not one, which is possible in an aspect. */
export function referenceTo(text: string | null): { urn: Urn } | null {
  try {
    return text === null ? null : { urn: toUrn(text) }
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}

/** The entities in lists of URNs or of edges, each once. */
const referencesIn = (...lists: (JsonValue | undefined)[]): { urn: Urn }[] =>
  [
    ...new Set(
      lists.flatMap((list) =>
        listOf(list).flatMap((entry) => textOf(isObject(entry) ? entry.destinationUrn : entry) ?? [])
      )
    )
  ].flatMap((urn) => referenceTo(urn) ?? [])

export const stampOf = (value: JsonValue | undefined) =>
  isObject(value) ? { time: wholeNumberOf(value.time) ?? 0, actor: textOf(value.actor) } : null

export const customProperties = (urn: Urn, aspect: JsonObject) =>
  Object.entries(objectOf(aspect.customProperties)).map(([key, value]) => ({
    key,
    value: textOf(value),
    associatedUrn: urn
  }))

/** The fields that most properties aspects share. */
const commonProperties = (urn: Urn, aspect: JsonObject) => ({
  name: textOf(aspect.name) ?? nameFromUrn(urn),
  qualifiedName: textOf(aspect.qualifiedName),
  description: textOf(aspect.description),
  externalUrl: textOf(aspect.externalUrl),
  customProperties: customProperties(urn, aspect)
})

export const namedProperties = (urn: Urn, aspect: Aspect) => aspect && commonProperties(urn, aspect)

export const datasetProperties = (urn: Urn, aspect: Aspect) =>
  aspect && {
    ...commonProperties(urn, aspect),
    origin: originOf(urn),
    created: wholeNumberOf(objectOf(aspect.created).time),
    lastModified: stampOf(aspect.lastModified) ?? { time: 0, actor: null }
  }

export const dataFlowProperties = (urn: Urn, aspect: Aspect) =>
  aspect && { ...commonProperties(urn, aspect), project: textOf(aspect.project) }

/** For a chart or dashboard: the name is its title, and the stamps are in one record. */
export const titledProperties = (urn: Urn, aspect: Aspect) =>
  aspect && {
    ...commonProperties(urn, aspect),
    name: textOf(aspect.title) ?? nameFromUrn(urn),
    access: textOf(aspect.access),
    created: stampOf(objectOf(aspect.lastModified).created) ?? unknownStamp,
    lastModified: stampOf(objectOf(aspect.lastModified).lastModified) ?? unknownStamp
  }

export const modelProperties = (urn: Urn, aspect: Aspect) =>
  aspect && {
    ...commonProperties(urn, aspect),
    name: textOf(aspect.name),
    mlFeatures: stringsOf(aspect.mlFeatures),
    groups: referencesIn(aspect.groups)
  }

export const featureProperties = (_urn: Urn, aspect: Aspect) =>
  aspect && {
    description: textOf(aspect.description),
    dataType: textOf(aspect.dataType),
    version: isObject(aspect.version) ? { versionTag: textOf(aspect.version.versionTag) } : null,
    sources: referencesIn(aspect.sources)
  }

export const featureTableProperties = (urn: Urn, aspect: Aspect) =>
  aspect && {
    description: textOf(aspect.description),
    mlFeatures: referencesIn(aspect.mlFeatures),
    mlPrimaryKeys: referencesIn(aspect.mlPrimaryKeys),
    customProperties: customProperties(urn, aspect)
  }

export const editableProperties = (_urn: Urn, aspect: Aspect) =>
  aspect && { description: textOf(aspect.description) }

export const schemaMetadata = (urn: Urn, aspect: Aspect) =>
  aspect && {
    name: textOf(aspect.schemaName) ?? '',
    version: wholeNumberOf(aspect.version) ?? 0,
    fields: listOf(aspect.fields).filter(isObject).map(shownColumn(urn))
  }

export const shownColumn = (urn: Urn) => (field: JsonObject) => ({
  fieldPath: textOf(field.fieldPath) ?? '',
  label: textOf(field.label),
  nullable: field.nullable === true,
  description: textOf(field.description),
  nativeDataType: textOf(field.nativeDataType),
  isPartOfKey: field.isPartOfKey === true,
  tags: { tags: named(field.globalTags, 'tags', 'tag').map((tag) => ({ tag, associatedUrn: urn })) },
  glossaryTerms: {
    terms: named(field.glossaryTerms, 'terms', 'urn').map((term) => ({ term, associatedUrn: urn }))
  }
})

const named = (aspect: JsonValue | undefined, listName: string, key: string) =>
  listOf(objectOf(aspect)[listName])
    .filter(isObject)
    .flatMap((entry) => referenceTo(textOf(entry[key])) ?? [])

export const status = (_urn: Urn, aspect: Aspect) => aspect && { removed: aspect.removed === true }

export const deprecation = (_urn: Urn, aspect: Aspect) =>
  aspect && {
    deprecated: aspect.deprecated === true,
    note: textOf(aspect.note),
    decommissionTime: wholeNumberOf(aspect.decommissionTime),
    actor: textOf(aspect.actor)
  }

export const subTypes = (_urn: Urn, aspect: Aspect) => aspect && { typeNames: stringsOf(aspect.typeNames) }

export const tagProperties = (urn: Urn, aspect: Aspect) =>
  aspect && {
    name: textOf(aspect.name) ?? nameFromUrn(urn),
    description: textOf(aspect.description),
    colorHex: textOf(aspect.colorHex)
  }

export const platformProperties = (_urn: Urn, aspect: Aspect) =>
  aspect && {
    displayName: textOf(aspect.displayName),
    datasetNameDelimiter: textOf(aspect.datasetNameDelimiter),
    logoUrl: textOf(aspect.logoUrl)
  }

export const domainProperties = (urn: Urn, aspect: Aspect) => {
  if (!aspect) return null
  const actor = textOf(objectOf(aspect.created).actor)
  return {
    name: textOf(aspect.name) ?? nameFromUrn(urn),
    description: textOf(aspect.description),
    createdOn: isObject(aspect.created)
      ? { time: wholeNumberOf(aspect.created.time) ?? 0, actor: referenceTo(actor) }
      : null,
    customProperties: customProperties(urn, aspect)
  }
}

export const ownership = (urn: Urn, aspect: Aspect) =>
  aspect && {
    owners: listOf(aspect.owners)
      .filter(isObject)
      .flatMap((entry) => {
        const owner = referenceTo(textOf(entry.owner))
        const type = ownershipTypeOf(textOf(entry.type))
        return owner === null ? [] : [{ owner, type, associatedUrn: urn }]
      }),
    lastModified: stampOf(aspect.lastModified)
  }

/** Column records by asset and path. Entries that are not columns are left out of the lists. */
export const columnRecords = (_urn: Urn, aspect: Aspect) =>
  aspect &&
  listOf(aspect.fineGrainedLineages)
    .filter(isObject)
    .map((record) => ({
      upstreams: columnsIn(record.upstreams),
      downstreams: columnsIn(record.downstreams),
      query: textOf(record.query),
      transformOperation: textOf(record.transformOperation)
    }))

const columnsIn = (value: JsonValue | undefined) =>
  stringsOf(value)
    .flatMap((text) => referenceTo(text) ?? [])
    .filter(({ urn }) => entityTypeOf(urn) === 'schemaField')
    .map(({ urn }) => {
      const { parentUrn, fieldPath } = schemaFieldParts(urn)
      return { urn: parentUrn, path: fieldPath }
    })

export const jobInputOutput = (urn: Urn, aspect: Aspect) =>
  aspect && {
    inputDatasets: referencesIn(aspect.inputDatasets, aspect.inputDatasetEdges),
    outputDatasets: referencesIn(aspect.outputDatasets, aspect.outputDatasetEdges),
    inputDatajobs: referencesIn(aspect.inputDatajobs, aspect.inputDatajobEdges),
    fineGrainedLineages: columnRecords(urn, aspect)
  }
