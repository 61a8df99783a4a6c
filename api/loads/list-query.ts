/** Checks the filters of a list of loads: an unknown value is an error, never ignored. */
import { CatalogError } from '../../shared/errors.ts'
import type { LoadFilter } from '../../shared/catalog/loads/read-load.ts'
import { loadStates } from '../../shared/model/load-moves.ts'
import type { Query } from '../query-parameters.ts'

export const listParameters = ['limit', 'cursor', 'state', 'source', 'mode', 'since', 'idPrefix']

const modes = ['merge', 'snapshot', 'undo'] as const

/** Throws BAD_REQUEST; the error names the parameter and says what is allowed. */
export function readLoadFilter({ state, source, mode, since, idPrefix }: Query): LoadFilter {
  return {
    ...(state === undefined
      ? {}
      : { states: state.split(',').map((text) => oneOf('state', text, loadStates)) }),
    ...(source === undefined ? {} : { source }),
    ...(mode === undefined ? {} : { mode: oneOf('mode', mode, modes) }),
    ...(since === undefined ? {} : { since: readTime(since) }),
    ...(idPrefix === undefined ? {} : { ids: idsThatBegin(idPrefix) })
  }
}

function oneOf<Value extends string>(field: string, text: string, allowed: readonly Value[]): Value {
  const found = allowed.find((value) => value === text)
  if (found === undefined)
    throw new CatalogError('BAD_REQUEST', `${field} cannot be ${text.slice(0, 100)}`, { field, allowed })
  return found
}

/** ISO 8601, or milliseconds since 1970, the form in loads themselves. */
function readTime(text: string): Date {
  const time = /^\d{1,15}$/.test(text)
    ? new Date(Number(text))
    : /^\d{4}-\d\d-\d\d/.test(text)
      ? new Date(text)
      : new Date(Number.NaN)
  if (Number.isNaN(time.getTime()) || time.getUTCFullYear() > 9999)
    throw new CatalogError(
      'BAD_REQUEST',
      'since must be a time such as 2026-11-22T03:00:00Z, or milliseconds since 1970',
      { field: 'since' }
    )
  return time
}

const leastId = '00000000-0000-0000-0000-000000000000'

function idsThatBegin(prefix: string): { first: string; last: string } {
  const text = prefix.toLowerCase()
  const first = `${text}${leastId.slice(text.length)}`
  if (text === '' || !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(first))
    throw new CatalogError('BAD_REQUEST', 'idPrefix must be the beginning of the id of a load', {
      field: 'idPrefix'
    })
  return { first, last: `${text}${leastId.slice(text.length).replaceAll('0', 'f')}` }
}
