/** Asks whether a text can be a name in the catalog, where a refusal is an answer and not an error. */
import { CatalogError } from '../errors.ts'

/** Null if `make` throws a CatalogError. */
export function unlessRefused<Value>(make: () => Value): Value | null {
  try {
    return make()
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}
