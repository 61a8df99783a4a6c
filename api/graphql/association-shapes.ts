/** What hangs on entities of many types - tags, terms, links, containers - and what is known of people and terms, from aspects to GraphQL. */
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { isObject, listOf } from '../../shared/model/json-values.ts'
import { nameFromUrn } from '../../shared/urn/kinds.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import { customProperties, stampOf, textOf, unknownStamp } from './entity-shapes.ts'

type Aspect = JsonObject | null

/** The entries of a list that name an entity. */
const naming = (list: JsonValue | undefined, key: string) => listOf(list).filter(isObject).flatMap((entry) => {
  const urn = textOf(entry[key])
  return urn === null ? [] : [toUrn(urn)]
})

export const globalTags = (urn: Urn, aspect: Aspect) => aspect && { tags: naming(aspect.tags, 'tag').map((tag) => ({ tag: { urn: tag }, associatedUrn: urn })) }

export const glossaryTerms = (urn: Urn, aspect: Aspect) => aspect && { terms: naming(aspect.terms, 'urn').map((term) => ({ term: { urn: term }, associatedUrn: urn })) }

export const institutionalMemory = (_urn: Urn, aspect: Aspect) => aspect && {
  elements: listOf(aspect.elements).filter(isObject).map((element) => {
    const description = textOf(element.description) ?? ''
    return { url: textOf(element.url) ?? '', label: description, description, created: stampOf(element.createStamp) ?? unknownStamp }
  })
}

export const container = (_urn: Urn, aspect: Aspect) => {
  const urn = textOf(aspect?.container)
  return urn === null ? null : { urn: toUrn(urn) }
}

/** The platform that the aspect dataPlatformInstance names. A document that asks several types for it needs it never to be null. */
export const instancePlatform = (_urn: Urn, aspect: Aspect) => ({ urn: toUrn(textOf(aspect?.platform) ?? 'urn:li:dataPlatform:unknown') })

export const userProperties = (_urn: Urn, aspect: Aspect) => aspect && {
  active: aspect.active === true,
  displayName: textOf(aspect.displayName),
  email: textOf(aspect.email),
  title: textOf(aspect.title),
  fullName: textOf(aspect.fullName)
}

export const groupProperties = (_urn: Urn, aspect: Aspect) => aspect && {
  displayName: textOf(aspect.displayName),
  email: textOf(aspect.email),
  description: textOf(aspect.description)
}

export const termProperties = (urn: Urn, aspect: Aspect) => aspect && {
  name: textOf(aspect.name) ?? nameFromUrn(urn),
  description: textOf(aspect.definition),
  definition: textOf(aspect.definition) ?? '',
  termSource: textOf(aspect.termSource) ?? '',
  sourceRef: textOf(aspect.sourceRef),
  sourceUrl: textOf(aspect.sourceUrl),
  customProperties: customProperties(urn, aspect)
}

export const nodeProperties = (urn: Urn, aspect: Aspect) => aspect && {
  name: textOf(aspect.name) ?? nameFromUrn(urn),
  description: textOf(aspect.definition),
  customProperties: customProperties(urn, aspect)
}

export const notebookInfo = (urn: Urn, aspect: Aspect) => aspect && {
  title: textOf(aspect.title),
  description: textOf(aspect.description),
  externalUrl: textOf(aspect.externalUrl),
  customProperties: customProperties(urn, aspect)
}

export const documentInfo = (_urn: Urn, aspect: Aspect) => aspect && { title: textOf(aspect.title) }
