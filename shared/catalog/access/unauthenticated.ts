/**
 * The error for a token that is not accepted. The text is the same for every reason, so that it reveals
 * nothing about tokens.
 */
import { CatalogError } from '../../errors.ts'

export const unauthenticated = (): CatalogError =>
  new CatalogError(
    'UNAUTHENTICATED',
    'Unauthorized to perform this action. Send a valid token: Authorization: Bearer <token>'
  )
