/**
 * domainProperties: name, description and parent of a domain. The rules for a name are the same in every
 * interface.
 */
import { checkLine, checkLines } from '../text-checks.ts'
import { optional, record, required, shapeFault, urn } from '../shape.ts'
import type { Shape } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { auditStamp, customProperties } from './shared-records.ts'

/** Returns the name trimmed: 1 to 255 characters on one line. Throws VALIDATION_FAILED, LIMIT_EXCEEDED, INVALID_CHARACTER. */
const domainName: Shape = (value, place) => {
  if (typeof value !== 'string') throw shapeFault(place, 'value cannot be coerced to String')
  if (value.trim() === '') throw shapeFault(place, 'must not be empty')
  return checkLine(value, { field: place, limit: 'domainNameMaxChars' })
}

const description: Shape = (value, place) => {
  if (typeof value !== 'string') throw shapeFault(place, 'value cannot be coerced to String')
  return checkLines(value, { field: place, limit: 'descriptionMaxChars' })
}

export const domainProperties: AspectModel = {
  name: 'domainProperties',
  template: () => ({ customProperties: {} }),
  shape: record({
    customProperties,
    name: required(domainName),
    description: optional(description),
    created: optional(auditStamp),
    parentDomain: optional(urn('domain'))
  })
}
