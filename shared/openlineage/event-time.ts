/** Reads the time of an event in the forms that producers write. */
import type { JsonValue } from '../model/changes.ts'
import { CatalogError } from '../errors.ts'

const pattern =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9})\d*)?\s*(Z|[+-]\d\d:?\d\d|[+-]\d\d)?$/i

/**
 * Milliseconds since 1970. A time without a zone is in UTC; digits after the millisecond are cut off. Throws
 * BAD_REQUEST naming the field.
 */
export function parseEventTime(sent: JsonValue | undefined, field: string): number {
  const match = typeof sent === 'string' ? pattern.exec(sent.trim()) : null
  if (match) {
    const [, date, minutes, seconds = ':00', fraction = '', zone = 'Z'] = match
    const timeMs = Date.parse(
      `${date}T${minutes}${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zoneOf(zone)}`
    )
    // Date.parse takes 30 February for a day in March.
    if (timeMs >= 0 && isDate(date)) return timeMs
  }
  throw new CatalogError('BAD_REQUEST', `${field} must be a time such as 2026-01-31T12:00:00.000Z`, { field })
}

function zoneOf(zone: string): string {
  if (zone.toUpperCase() === 'Z') return 'Z'
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}

const isDate = (date = ''): boolean => new Date(`${date}T00:00Z`).toISOString().startsWith(date)
