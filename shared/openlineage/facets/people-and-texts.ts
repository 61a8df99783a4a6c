/** Reads the facets `ownership`, `documentation` and `tags`. */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { at, refuse, type EventParts } from '../parts.ts'

/**
 * Owners as URNs: `team:data` is a group, `user:ann` and a bare name are persons. `field` is the place of the
 * facet.
 */
export const ownersOf = (facet: JsonObject, field: string, parts: EventParts): Urn[] =>
  parts.objects(facet.owners, `${field}.owners`).flatMap(({ each, place }) => {
    const name = typeof each.name === 'string' ? each.name.trim() : ''
    if (name === '') parts.drop(refuse(`${place}.name`, 'must be a text that is not empty'))
    return name === '' ? [] : (parts.take(() => at(`${place}.name`, () => ownerUrn(name))) ?? [])
  })

/** Throws INVALID_CHARACTER, LIMIT_EXCEEDED. */
export function ownerUrn(name: string): Urn {
  if (/^urn:li:(corpuser|corpGroup):/.test(name)) return toUrn(name)
  const [, kind = '', rest] = /^([a-z]+):\s*(\S.*)$/i.exec(name) ?? []
  const isGroup = /^(team|group|org|organization)$/i.test(kind)
  const isPerson = /^(user|person|owner)$/i.test(kind)
  const id = rest !== undefined && (isGroup || isPerson) ? rest : name
  return toUrn(`urn:li:${isGroup ? 'corpGroup' : 'corpuser'}:${plain(id)}`)
}

/** The description; null if the facet has no text. */
export const descriptionOf = (facet: JsonObject): string | null =>
  typeof facet.description === 'string' && facet.description !== '' ? facet.description : null

/** Tags of the whole asset. Tags of columns (with a `field`) are only in the stored event. */
export const tagsOf = (facet: JsonObject, field: string, parts: EventParts): Urn[] =>
  parts.objects(facet.tags, `${field}.tags`).flatMap(({ each, place }) => {
    if (typeof each.field === 'string') return []
    const key = typeof each.key === 'string' ? each.key.trim() : ''
    const value = valueOfTag(key, each.value)
    if (key === '') parts.drop(refuse(`${place}.key`, 'must be a text that is not empty'))
    return key === ''
      ? []
      : (parts.take(() => at(place, () => tagUrn(value === '' ? key : `${key}:${value}`))) ?? [])
  })

/** Empty where it says no more than the key: Airflow sends the name of a tag as its key and its value. */
function valueOfTag(key: string, sent: JsonValue | undefined): string {
  const value = typeof sent === 'string' ? sent.trim() : ''
  return value.toLowerCase() === 'true' || value === key ? '' : value
}

/** Throws INVALID_CHARACTER, LIMIT_EXCEEDED. */
export const tagUrn = (name: string): Urn => toUrn(`urn:li:tag:${plain(name)}`)

const plain = (text: string): string =>
  text.replaceAll(/[(),]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
