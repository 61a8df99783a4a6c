/**
 * Converts associations of entities (tags, terms, links, containers), people and terms from aspects to
 * GraphQL.
 */
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { isObject, listOf } from '../../shared/model/json-values.ts'
import { nameFromUrn } from '../../shared/urn/kinds.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import {
  customProperties,
  referenceTo,
  shownColumn,
  stampOf,
  textOf,
  unknownStamp,
  wholeNumberOf
} from './entity-shapes.ts'

type Aspect = JsonObject | null

/** The entries of a list whose `key` is the URN of an entity. */
const naming = (list: JsonValue | undefined, key: string) =>
  listOf(list)
    .filter(isObject)
    .flatMap((entry) => referenceTo(textOf(entry[key])) ?? [])

export const globalTags = (urn: Urn, aspect: Aspect) =>
  aspect && { tags: naming(aspect.tags, 'tag').map((tag) => ({ tag, associatedUrn: urn })) }

export const glossaryTerms = (urn: Urn, aspect: Aspect) =>
  aspect && { terms: naming(aspect.terms, 'urn').map((term) => ({ term, associatedUrn: urn })) }

export const attribution = (said: Aspect) =>
  said && {
    time: wholeNumberOf(said.time) ?? unknownStamp.time,
    actor: referenceTo(textOf(said.actor)) ?? referenceTo(unknownStamp.actor),
    source: referenceTo(textOf(said.source)),
    sourceDetail: isObject(said.sourceDetail)
      ? Object.entries(said.sourceDetail).map(([key, value]) => ({ key, value: textOf(value) }))
      : null
  }

export const institutionalMemory = (_urn: Urn, aspect: Aspect) =>
  aspect && {
    elements: listOf(aspect.elements)
      .filter(isObject)
      .map((element) => {
        const description = textOf(element.description) ?? ''
        return {
          url: textOf(element.url) ?? '',
          label: description,
          description,
          created: stampOf(element.createStamp) ?? unknownStamp
        }
      })
  }

export const container = (_urn: Urn, aspect: Aspect) => referenceTo(textOf(aspect?.container))

export const inputFields = (urn: Urn, aspect: Aspect) =>
  aspect && {
    fields: listOf(aspect.fields)
      .filter(isObject)
      .map(({ schemaFieldUrn, schemaField }) => ({
        schemaFieldUrn: textOf(schemaFieldUrn),
        schemaField: isObject(schemaField) ? shownColumn(urn)(schemaField) : null
      }))
  }

export const runProperties = (urn: Urn, aspect: Aspect) =>
  aspect && {
    name: textOf(aspect.name) ?? nameFromUrn(urn),
    created: stampOf(aspect.created) ?? unknownStamp,
    externalUrl: textOf(aspect.externalUrl),
    customProperties: customProperties(urn, aspect)
  }

const unknownPlatform = toUrn('urn:li:dataPlatform:unknown')

/**
 * The platform in the aspect dataPlatformInstance. It must never be null in the schema, because documents of
 * DataHub's clients ask several types for it.
 */
export const instancePlatform = (_urn: Urn, aspect: Aspect) =>
  referenceTo(textOf(aspect?.platform)) ?? { urn: unknownPlatform }

export const userProperties = (_urn: Urn, aspect: Aspect) =>
  aspect && {
    active: aspect.active === true,
    displayName: textOf(aspect.displayName),
    email: textOf(aspect.email),
    title: textOf(aspect.title),
    fullName: textOf(aspect.fullName)
  }

export const groupProperties = (_urn: Urn, aspect: Aspect) =>
  aspect && {
    displayName: textOf(aspect.displayName),
    email: textOf(aspect.email),
    description: textOf(aspect.description)
  }

export const termProperties = (urn: Urn, aspect: Aspect) =>
  aspect && {
    name: textOf(aspect.name) ?? nameFromUrn(urn),
    description: textOf(aspect.definition),
    definition: textOf(aspect.definition) ?? '',
    termSource: textOf(aspect.termSource) ?? '',
    sourceRef: textOf(aspect.sourceRef),
    sourceUrl: textOf(aspect.sourceUrl),
    customProperties: customProperties(urn, aspect)
  }

export const nodeProperties = (urn: Urn, aspect: Aspect) =>
  aspect && {
    name: textOf(aspect.name) ?? nameFromUrn(urn),
    description: textOf(aspect.definition),
    customProperties: customProperties(urn, aspect)
  }

export const notebookInfo = (urn: Urn, aspect: Aspect) =>
  aspect && {
    title: textOf(aspect.title),
    description: textOf(aspect.description),
    externalUrl: textOf(aspect.externalUrl),
    customProperties: customProperties(urn, aspect)
  }

export const documentInfo = (_urn: Urn, aspect: Aspect) => aspect && { title: textOf(aspect.title) }
