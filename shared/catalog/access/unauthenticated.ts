/** The error for a token that is not accepted: one text for every reason, so that it tells nothing about tokens. */
import { CatalogError } from '../../errors.ts'

export const unauthenticated = (): CatalogError =>
  new CatalogError(
    'UNAUTHENTICATED',
    'Unauthorized to perform this action. Send a valid token: Authorization: Bearer <token>'
  )
