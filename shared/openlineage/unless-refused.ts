/** Leaves out what cannot be a URN and is not needed: an owner that nobody can be costs its event nothing else. */
import { CatalogError } from '../errors.ts'

/** Null where `make` throws a CatalogError. */
export function unlessRefused<Value>(make: () => Value): Value | null {
  try {
    return make()
  } catch (error) {
    if (error instanceof CatalogError) return null
    throw error
  }
}
