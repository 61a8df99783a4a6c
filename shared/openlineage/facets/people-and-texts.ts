/** Reads the facets `ownership`, `documentation` and `tags`. */
import type { JsonObject } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { unlessRefused } from '../unless-refused.ts'

/**
 * Owners as URNs: `team:data` is a group, `user:ann` and a bare name are persons. A name that cannot be in a
 * URN is left out.
 */
export function ownersOf(facet: JsonObject): Urn[] {
  return listOf(facet.owners).flatMap((owner) => {
    const name = isObject(owner) && typeof owner.name === 'string' ? owner.name.trim() : ''
    return name === '' ? [] : (unlessRefused(() => ownerUrn(name)) ?? [])
  })
}

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

/**
 * Tags of the whole asset. Tags of columns (with a `field`), and tags that cannot be in a URN, are left out;
 * the stored event still has them.
 */
export function tagsOf(facet: JsonObject): Urn[] {
  return listOf(facet.tags).flatMap((tag) => {
    if (!isObject(tag) || typeof tag.key !== 'string' || typeof tag.field === 'string') return []
    const key = tag.key.trim()
    const value = typeof tag.value === 'string' && tag.value !== 'true' ? tag.value.trim() : ''
    return key === '' ? [] : (unlessRefused(() => tagUrn(value === '' ? key : `${key}:${value}`)) ?? [])
  })
}

/** Throws INVALID_CHARACTER, LIMIT_EXCEEDED. */
export const tagUrn = (name: string): Urn => toUrn(`urn:li:tag:${plain(name)}`)

const plain = (text: string): string =>
  text.replaceAll(/[(),]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
