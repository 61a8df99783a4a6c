/** Reads the facets `ownership`, `documentation` and `tags`. */
import type { JsonObject } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'

/** Owners by their URNs: `team:data` is a group, `user:ann` and a bare name are persons. */
export function ownersOf(facet: JsonObject): Urn[] {
  return listOf(facet.owners).flatMap((owner) =>
    isObject(owner) && typeof owner.name === 'string' && owner.name.trim() !== ''
      ? [ownerUrn(owner.name.trim())]
      : []
  )
}

/** Throws INVALID_CHARACTER, LIMIT_EXCEEDED. */
export function ownerUrn(name: string): Urn {
  if (/^urn:li:(corpuser|corpGroup):/.test(name)) return toUrn(name)
  const [, kind = '', rest] = /^([a-z]+):(.+)$/i.exec(name) ?? []
  const isGroup = /^(team|group|org|organization)$/i.test(kind)
  const isPerson = /^(user|person|owner)$/i.test(kind)
  const id = rest !== undefined && (isGroup || isPerson) ? rest : name
  return toUrn(`urn:li:${isGroup ? 'corpGroup' : 'corpuser'}:${plain(id)}`)
}

/** Null where it has no text. */
export const descriptionOf = (facet: JsonObject): string | null =>
  typeof facet.description === 'string' && facet.description !== '' ? facet.description : null

/** Tags of the whole asset; a tag of a column, which has a `field`, is left to the raw event. */
export function tagsOf(facet: JsonObject): Urn[] {
  return listOf(facet.tags).flatMap((tag) => {
    if (!isObject(tag) || typeof tag.key !== 'string' || tag.key === '' || typeof tag.field === 'string')
      return []
    const value = typeof tag.value === 'string' && tag.value !== 'true' ? tag.value : ''
    return [tagUrn(value === '' ? tag.key : `${tag.key}:${value}`)]
  })
}

/** Throws INVALID_CHARACTER, LIMIT_EXCEEDED. */
export const tagUrn = (name: string): Urn => toUrn(`urn:li:tag:${plain(name)}`)

const plain = (text: string): string =>
  text.replaceAll(/[(),]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
