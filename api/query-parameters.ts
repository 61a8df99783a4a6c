/** The query of a request as a route reads it: known parameters, each once. */
import { CatalogError } from '../shared/errors.ts'

export type Query = Readonly<Record<string, string>>

/** Throws BAD_REQUEST for a parameter that the route does not have, or that is given twice. */
export function readQuery(query: unknown, allowed: readonly string[]): Query {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(typeof query === 'object' && query !== null ? query : {})) {
    if (!allowed.includes(name)) throw new CatalogError('BAD_REQUEST', `There is no parameter ${name.slice(0, 100)} here`, { field: name.slice(0, 100), allowed })
    if (typeof value !== 'string') throw new CatalogError('BAD_REQUEST', `${name} is given twice`, { field: name })
    found[name] = value
  }
  return found
}
