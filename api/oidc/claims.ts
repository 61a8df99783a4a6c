/** Reads the claims of an identity provider: who the person is, and which groups the person belongs to. */
import type { Identity } from '../../shared/catalog/access/admit-person.ts'
import { isObject } from '../../shared/model/json-values.ts'

/** Which claims are read; see OIDC_USER_CLAIM and OIDC_GROUPS_CLAIM. */
export type ClaimNames = { user: string; groups: string }

type Claims = { readonly [name: string]: unknown }

/** What the claims say of a person whose issuer and subject have been checked. */
export function identityOf(
  checked: { issuer: string; subject: string; issuedAtMs: number },
  claims: Claims,
  names: ClaimNames
): Identity {
  const name = [claims[names.user], claims.email].find(isText) ?? checked.subject
  return { ...checked, name, groups: groupsIn(claims, names.groups) ?? [] }
}

/** The groups; null where the claim is absent. A single text is one group. */
export function groupsIn(claims: Claims, name: string): string[] | null {
  const found = claims[name] ?? valueAt(claims, name.split('.'))
  if (isText(found)) return [found]
  return Array.isArray(found) ? found.filter(isText) : null
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Own properties only: a claim named `constructor` is absent. */
function valueAt(claims: unknown, path: readonly string[]): unknown {
  let value = claims
  for (const part of path) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
  return value
}
