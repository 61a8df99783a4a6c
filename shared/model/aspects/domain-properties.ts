/** domainProperties: name, description and parent of a domain; the rules of a name hold whichever door it comes through. */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { optional, record, required, shapeFault, urn } from '../shape.ts'
import type { Shape } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { auditStamp, customProperties } from './shared-records.ts'

/** A C0 or C1 control, or a mark that turns the direction of the text that follows. */
const isUnprintable = (code: number): boolean =>
  code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)

const firstUnprintable = (text: string): number => {
  for (let index = 0; index < text.length; index += 1) {
    if (isUnprintable(text.charCodeAt(index))) return index
  }
  return -1
}

/** Returns the name trimmed: 1 to 255 characters, none of them unprintable. Throws VALIDATION_FAILED, LIMIT_EXCEEDED, INVALID_CHARACTER. */
export const domainName: Shape = (value, place) => {
  if (typeof value !== 'string') throw shapeFault(place, 'value cannot be coerced to String')
  const name = value.trim()
  if (name === '') throw shapeFault(place, 'must not be empty')
  const actual = lengthOf(name, limits.domainNameMaxChars)
  if (actual > limits.domainNameMaxChars) {
    throw new CatalogError('LIMIT_EXCEEDED', `${place} has ${actual} characters; at most ${limits.domainNameMaxChars} are allowed`, { field: place, limit: 'domainNameMaxChars', maximum: limits.domainNameMaxChars, actual })
  }
  const index = firstUnprintable(name)
  if (index >= 0) throw new CatalogError('INVALID_CHARACTER', `${place} holds a control or direction character at ${index + 1}`, { field: place })
  return name
}

/** Throws VALIDATION_FAILED where it is no text, LIMIT_EXCEEDED over 65,536 characters. */
export const description: Shape = (value, place) => {
  if (typeof value !== 'string') throw shapeFault(place, 'value cannot be coerced to String')
  const actual = lengthOf(value, limits.descriptionMaxChars)
  if (actual > limits.descriptionMaxChars) {
    throw new CatalogError('LIMIT_EXCEEDED', `${place} has ${actual} characters; at most ${limits.descriptionMaxChars} are allowed`, { field: place, limit: 'descriptionMaxChars', maximum: limits.descriptionMaxChars, actual })
  }
  return value
}

/** Characters as people count them, not UTF-16 units; counted only where the units alone would be over. */
const lengthOf = (text: string, maximum: number): number => text.length <= maximum ? text.length : [...text].length

export const domainProperties: AspectModel = {
  name: 'domainProperties',
  className: 'com.linkedin.domain.DomainProperties',
  entityTypes: ['domain'],
  template: () => ({ customProperties: {} }),
  shape: record({
    customProperties,
    name: required(domainName),
    description: optional(description),
    created: optional(auditStamp),
    parentDomain: optional(urn('domain'))
  })
}
