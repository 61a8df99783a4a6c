/** Gives a JSON Web Token of the identity provider the rights of its bearer's roles. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { Roles } from '../../model/roles.ts'
import type { TokenRecord } from '../../store/tokens.ts'
import { admitPerson, noRole, type Identity } from './admit-person.ts'

/**
 * Checks signature, issuer, audience and times. Throws UNAUTHENTICATED, or UNAVAILABLE if the provider's keys
 * cannot be fetched.
 */
export type VerifyJsonWebToken = (jwt: string) => Promise<Identity & { expiresAtMs: number }>

/**
 * The bearer as a token with the current rights. It expires with the JSON Web Token. Throws as
 * VerifyJsonWebToken does, and FORBIDDEN for a user without a role.
 */
export type AdmitBearer = (jwt: string) => Promise<TokenRecord>

export const createAdmitBearer =
  (db: Db, verify: VerifyJsonWebToken, roles: Roles): AdmitBearer =>
  async (jwt) => {
    const identity = await verify(jwt)
    const expiresAt = new Date(identity.expiresAtMs)
    const { person } = await inTransaction(db, (tx) =>
      admitPerson(tx, identity, roles, { usedBy: 'bearer', expiresAt })
    )
    if (!person) throw noRole()
    return { ...person, expiresAt }
  }
