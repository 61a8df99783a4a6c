/**
 * The list of modelled aspects, and the facts about any aspect by its name.
 *
 * An aspect that is not listed is stored and returned as it was sent, on any entity: clients have aspects of
 * their own, and refusing one would fail a whole ingestion.
 */
import { CatalogError } from '../errors.ts'
import { aspectClasses, derivedAspectName, derivedClass, timeseriesAspects } from './aspect-classes.ts'
import { typesOfAspect } from './aspect-places.ts'
import type { AspectModel } from './aspects/aspect-model.ts'
import { chartInfo, dashboardInfo, inputFields } from './aspects/chart-and-dashboard.ts'
import { ownership, status } from './aspects/common.ts'
import { dataFlowInfo, dataJobInfo, dataJobInputOutput } from './aspects/data-job.ts'
import { dataProcessInstanceInput, dataProcessInstanceOutput } from './aspects/data-process-instance.ts'
import { datasetProperties } from './aspects/dataset-properties.ts'
import { domainProperties } from './aspects/domain-properties.ts'
import { domains } from './aspects/domains.ts'
import { otherLineage } from './aspects/lineage-lists.ts'
import {
  mlFeatureProperties,
  mlFeatureTableProperties,
  mlModelGroupProperties,
  mlModelProperties,
  mlModelTrainingData,
  mlPrimaryKeyProperties
} from './aspects/ml.ts'
import { schemaMetadata } from './aspects/schema-metadata.ts'
import { upstreamLineage } from './aspects/upstream-lineage.ts'
import type { JsonObject, JsonValue } from './changes.ts'
import { entityTypeInfo, entityTypes, isKnownEntityType } from './entity-types.ts'
import { checkJson } from './json-checks.ts'
import { isObject } from './json-values.ts'
import { withoutNulls } from './null-fields.ts'
import { emptyDocument, missingFields, withRequiredFields } from './required-fields.ts'
import { shapeFault } from './shape.ts'

const models: readonly AspectModel[] = [
  upstreamLineage,
  dataJobInputOutput,
  dataJobInfo,
  dataFlowInfo,
  chartInfo,
  dashboardInfo,
  inputFields,
  domainProperties,
  domains,
  datasetProperties,
  schemaMetadata,
  status,
  ownership,
  mlPrimaryKeyProperties,
  mlFeatureProperties,
  mlFeatureTableProperties,
  mlModelProperties,
  mlModelTrainingData,
  mlModelGroupProperties,
  dataProcessInstanceInput,
  dataProcessInstanceOutput,
  ...otherLineage
]

const byName = new Map(models.map((model) => [model.name, model]))
const keyClasses = new Map(entityTypes.map((info) => [info.keyAspect, info.keyClass]))

/** Whether DataHub has this aspect: a null in it then means that the field is absent. */
const isDataHubs = (aspectName: string): boolean =>
  aspectClasses.has(aspectName) || keyClasses.has(aspectName)

/** As in DataHub, the values of a property are strings by default. */
const propertyDefinition = (): JsonObject => ({
  qualifiedName: '',
  valueType: 'urn:li:dataType:datahub.string',
  entityTypes: []
})

/**
 * Checks a value and returns it prepared: with defaults, without nulls, otherwise as sent. In DataHub's
 * aspects a null means that the field is absent; a client's own aspects keep their nulls. Preparing a
 * prepared value changes nothing. `field` names the value in errors. Throws VALIDATION_FAILED, INVALID_URN,
 * INVALID_CHARACTER, LIMIT_EXCEEDED and BAD_REQUEST, with the path in `details.field`.
 */
export function prepareAspect(
  entityType: string,
  aspectName: string,
  value: unknown,
  field = 'aspect'
): JsonObject {
  const json = checkJson(value, field)
  if (!isObject(json)) throw shapeFault(field, 'record type is not backed by an object')
  checkAspectPlace(entityType, aspectName, `${field}Name`)
  if (timeseriesAspects.has(aspectName) && !Number.isSafeInteger(json.timestampMillis)) {
    throw named(
      aspectName,
      shapeFault(`${field}.timestampMillis`, 'field is required but not found and has no default value')
    )
  }
  const model = byName.get(aspectName)
  if (!model) return isDataHubs(aspectName) ? withoutNulls(json) : json
  try {
    const prepared = model.shape(json, field)
    // Safe: every model is a record, and a record is prepared to an object.
    return withoutNulls(isObject(prepared) ? prepared : json)
  } catch (error) {
    throw error instanceof CatalogError && error.code === 'VALIDATION_FAILED'
      ? named(aspectName, error)
      : error
  }
}

/**
 * The document after a patch, with the fields that DataHub's schema requires and that may be empty. `before`
 * is the document before the patch. Throws VALIDATION_FAILED if any other required field is absent, unless it
 * was also absent before.
 */
export function completeAspect(
  aspectName: string,
  document: JsonObject,
  before: JsonObject | null
): JsonObject {
  const completed = withRequiredFields(aspectName, document)
  const missing = missingFields(aspectName, completed)
  const tolerated = before && missing.length > 0 ? missingFields(aspectName, before) : []
  const fault = missing.find((name) => !tolerated.includes(name))
  if (fault === undefined) return completed
  throw named(
    aspectName,
    shapeFault(`aspect.${fault}`, 'field is required but not found and has no default value')
  )
}

/** Names the class in the error, as DataHub does. */
const named = (aspectName: string, fault: CatalogError): CatalogError =>
  new CatalogError(
    fault.code,
    `Failed to validate record with class ${aspectClassOf(aspectName)}: ${fault.message}`,
    fault.details,
    { cause: fault }
  )

/** Refuses an aspect on an entity that cannot have it. Throws VALIDATION_FAILED. */
export function checkAspectPlace(entityType: string, aspectName: string, field = 'aspectName'): void {
  const model = byName.get(aspectName)
  const isMisplaced = model !== undefined && !isAllowedOn(model, entityType)
  // A key aspect repeats the URN, so the key of another type contradicts it.
  const isForeignKey =
    keyClasses.has(aspectName) &&
    isKnownEntityType(entityType) &&
    entityTypeInfo(entityType).keyAspect !== aspectName
  if (isMisplaced || isForeignKey) {
    throw new CatalogError('VALIDATION_FAILED', `Unknown aspect ${aspectName} for entity ${entityType}`, {
      field,
      ...(model ? { allowed: typesOfAspect(aspectName) } : {})
    })
  }
}

function isAllowedOn({ name, isKeptOn }: AspectModel, entityType: string): boolean {
  return (
    isKeptOn === 'anyType' ||
    typesOfAspect(name).includes(entityType) ||
    (isKeptOn === 'unknownTypes' && !isKnownEntityType(entityType))
  )
}

/** The full class name of an aspect, by which DataHub's clients know it. */
export const aspectClassOf = (aspectName: string): string =>
  aspectClasses.get(aspectName) ?? keyClasses.get(aspectName) ?? derivedClass(aspectName)

const byClass = new Map<string, string>(
  [...keyClasses, ...aspectClasses].map(([name, className]) => [className, name])
)

/**
 * The aspect name of a class; `com.linkedin.pegasus2avro.` and `com.linkedin.` are prefixes of the same
 * classes.
 */
export const aspectNameOfClass = (className: string): string => {
  const plain = className.replace(/^com\.linkedin\.pegasus2avro\./, 'com.linkedin.')
  return byClass.get(plain) ?? derivedAspectName(plain)
}

/**
 * The document that a patch starts from if none is stored, a new one each time: that of the model, otherwise
 * the required fields that may be empty; `{}` for an unknown aspect.
 */
export function aspectTemplate(aspectName: string): JsonObject {
  if (aspectName === 'propertyDefinition') return propertyDefinition()
  return byName.get(aspectName)?.template?.() ?? emptyDocument(aspectName)
}

/**
 * Whether the aspect consists of events. An unknown aspect does if its value has `timestampMillis`, as in all
 * such aspects of DataHub.
 */
export const isTimeseries = (aspectName: string, value?: JsonValue): boolean => {
  if (timeseriesAspects.has(aspectName)) return true
  if (byName.has(aspectName) || isDataHubs(aspectName)) return false
  return isObject(value) && Number.isSafeInteger(value.timestampMillis)
}

/** Whether the entity must exist before the aspect is written. All other aspects create their entity. */
export const requiresEntity = (aspectName: string): boolean => byName.get(aspectName)?.requiresEntity ?? false

/** Whether the name is that of a key aspect of a known entity type. */
export const isKeyAspect = (entityType: string, aspectName: string): boolean =>
  entityTypeInfo(entityType).keyAspect === aspectName

export const modelledAspects: readonly string[] = models.map((model) => model.name)

const aspectNames = [...byName.keys(), ...aspectClasses.keys(), ...keyClasses.keys()]
const namesInLowerCase = new Map(aspectNames.map((name) => [name.toLowerCase(), name]))

/** Whether DataHub has an aspect with this name, ignoring case. */
export const isKnownAspect = (aspectName: string): boolean => namesInLowerCase.has(aspectName.toLowerCase())

/** The name with the spelling of the known aspect; an unknown name is returned unchanged. */
export const knownAspectName = (aspectName: string): string =>
  namesInLowerCase.get(aspectName.toLowerCase()) ?? aspectName
