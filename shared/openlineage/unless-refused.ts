/** Skips optional names that cannot be a URN: an impossible owner costs its event only that owner. */
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
