/**
 * The one list of aspects that are modelled, and what is known of any aspect by its name.
 *
 * An aspect that is not listed is kept and read back as sent, on any entity: clients bring aspects of their own, and a refusal would
 * fail a whole ingestion.
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
  mlModelGroupProperties,
  dataProcessInstanceInput,
  dataProcessInstanceOutput,
  ...otherLineage
]

const byName = new Map(models.map((model) => [model.name, model]))
const keyClasses = new Map(entityTypes.map((info) => [info.keyAspect, info.keyClass]))

/** Whether DataHub has the aspect: then a null in it stands for an absent field. */
const isDataHubs = (aspectName: string): boolean =>
  aspectClasses.has(aspectName) || keyClasses.has(aspectName)

/** As DataHub has it: the values of a property are texts until something else is said. */
const propertyDefinition = (): JsonObject => ({
  qualifiedName: '',
  valueType: 'urn:li:dataType:datahub.string',
  entityTypes: []
})

/**
 * Checks a value and returns it prepared: defaults written out, nulls left out, all else as sent. In what DataHub knows a
 * null stands for an absent field; only an aspect of a client's own keeps its nulls.
 * Preparing a prepared value changes nothing. `field` names the value in errors.
 * Throws VALIDATION_FAILED, INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED and BAD_REQUEST, with the place in `details.field`.
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
    // Every model is a record, and a record prepares to an object.
    return withoutNulls(isObject(prepared) ? prepared : json)
  } catch (error) {
    throw error instanceof CatalogError && error.code === 'VALIDATION_FAILED'
      ? named(aspectName, error)
      : error
  }
}

/**
 * The document that a patch leaves, with what DataHub's schema requires and may be empty.
 * `before` is what the patch met. Throws VALIDATION_FAILED if another required field is absent; one that was absent from what is stored may be.
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

/** Says which class did not fit, as DataHub does. */
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
  const isMisplaced = model !== undefined && !mayStandOn(model, entityType)
  // A key aspect says what the URN says, so another type's key on it is a contradiction.
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

function mayStandOn({ name, isKeptOn }: AspectModel, entityType: string): boolean {
  return (
    isKeptOn === 'anyType' ||
    typesOfAspect(name).includes(entityType) ||
    (isKeptOn === 'unknownTypes' && !isKnownEntityType(entityType))
  )
}

/** Full class name of an aspect, under which DataHub's clients read it. */
export const aspectClassOf = (aspectName: string): string =>
  aspectClasses.get(aspectName) ?? keyClasses.get(aspectName) ?? derivedClass(aspectName)

const byClass = new Map<string, string>(
  [...keyClasses, ...aspectClasses].map(([name, className]) => [className, name])
)

/** The aspect name of a class; `com.linkedin.pegasus2avro.` and `com.linkedin.` name the same classes. */
export const aspectNameOfClass = (className: string): string => {
  const plain = className.replace(/^com\.linkedin\.pegasus2avro\./, 'com.linkedin.')
  return byClass.get(plain) ?? derivedAspectName(plain)
}

/**
 * The document that a patch starts from where nothing is stored, made again each time: what the model says, or else what is required
 * and may be empty; `{}` where nothing is known.
 */
export function aspectTemplate(aspectName: string): JsonObject {
  if (aspectName === 'propertyDefinition') return propertyDefinition()
  return byName.get(aspectName)?.template?.() ?? emptyDocument(aspectName)
}

/** Whether the aspect is an event in time. An unknown aspect is one when its value has `timestampMillis`, as DataHub's all have. */
export const isTimeseries = (aspectName: string, value?: JsonValue): boolean => {
  if (timeseriesAspects.has(aspectName)) return true
  if (byName.has(aspectName) || isDataHubs(aspectName)) return false
  return isObject(value) && Number.isSafeInteger(value.timestampMillis)
}

/** Whether the entity must exist before the aspect is written; every other aspect creates its entity. */
export const requiresEntity = (aspectName: string): boolean => byName.get(aspectName)?.requiresEntity ?? false

/** Whether the name is that of a key aspect of a known entity type. */
export const isKeyAspect = (entityType: string, aspectName: string): boolean =>
  entityTypeInfo(entityType).keyAspect === aspectName

export const modelledAspects: readonly string[] = models.map((model) => model.name)

const aspectNames = [...byName.keys(), ...aspectClasses.keys(), ...keyClasses.keys()]
const namesInLowerCase = new Map(aspectNames.map((name) => [name.toLowerCase(), name]))

/** Whether the name, in whatever case, is that of an aspect that DataHub has. */
export const isKnownAspect = (aspectName: string): boolean => namesInLowerCase.has(aspectName.toLowerCase())

/** The aspect's name as it is written; one that is not known stays as it is. */
export const knownAspectName = (aspectName: string): string =>
  namesInLowerCase.get(aspectName.toLowerCase()) ?? aspectName
