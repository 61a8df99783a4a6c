/** Reads the claims of an identity provider: who the person is, and which groups the person belongs to. */
import type { Identity } from '../../shared/catalog/access/admit-person.ts'
import { isObject } from '../../shared/model/json-values.ts'

/** Which claims are read; see OIDC_USER_CLAIM and OIDC_GROUPS_CLAIM. */
export type ClaimNames = { user: string; groups: string }

type Claims = { readonly [name: string]: unknown }

/**
 * Characters of a name that is shown; a longer name is not used. A subject has at most 255 (OpenID Connect
 * Core, 2).
 */
const nameMaxChars = 200
const subjectMaxChars = 255

/**
 * The person that the claims describe; the issuer and subject have been checked. The first of `sources` that
 * has a claim decides it.
 */
export function identityOf(
  checked: { issuer: string; subject: string; issuedAtMs: number },
  sources: readonly Claims[],
  names: ClaimNames
): Identity {
  const named = [names.user, 'email'].flatMap((claim) => sources.map((claims) => own(claims, claim)))
  const groups = sources.map((claims) => groupsIn(claims, names.groups)).find((found) => found !== null)
  return {
    ...checked,
    name: named.find(isName) ?? [...checked.subject].slice(0, nameMaxChars).join(''),
    groups: groups ?? []
  }
}

/** The groups; null if the claim is absent. A single text is one group. */
export function groupsIn(claims: Claims, name: string): string[] | null {
  const found = own(claims, name) ?? valueAt(claims, name.split('.'))
  if (isText(found)) return [found]
  return Array.isArray(found) ? found.filter(isText) : null
}

/** Whether a claim can be a subject: it can be stored and shown. */
export const isSubject = (value: unknown): value is string => isPlain(value, subjectMaxChars)

const isName = (value: unknown): value is string => isPlain(value, nameMaxChars)

/** No controls, and no marks that reorder what follows. */
const isPlain = (value: unknown, maxChars: number): value is string =>
  isText(value) && [...value].length <= maxChars && !/\p{C}/u.test(value)

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Own properties only, so that a claim named `constructor` is absent. */
const own = (claims: Claims, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined

function valueAt(claims: unknown, path: readonly string[]): unknown {
  let value = claims
  for (const part of path) value = isObject(value) ? own(value, part) : undefined
  return value
}
