/** Roles: what people may do, by the groups that the identity provider reports for them. */
import { limits } from '../limits.ts'
import { urnOfType } from '../urn/kinds.ts'
import type { Urn } from '../urn/urn.ts'
import type { Scope } from './changes.ts'
import { isObject } from './json-values.ts'

/**
 * What a role allows. `domainUrns` limits changes to those domains, their descendants, and the assets in them; null
 * for no limit.
 */
export type Rights = { scopes: readonly Scope[]; domainUrns: readonly Urn[] | null }

/** The members of each role. A member is a group, `sub:` with the subject of one person, or `*` for everyone who can sign in. */
export type Roles = {
  admin: readonly string[]
  editor: readonly string[]
  /** All matching entries count, up to tokenDomainsMaxCount of them. */
  owner: readonly { domainUrn: Urn; members: readonly string[] }[]
  reader: readonly string[]
}

const roleNames = ['admin', 'editor', 'owner', 'reader'] as const

/** Parses the JSON of OIDC_ROLES. Throws an Error that says what is expected. */
export function parseRoles(text: string): Roles {
  const sent = parseJson(text)
  if (!isObject(sent)) throw new Error('a JSON object with the roles admin, editor, owner and reader')
  const unknown = Object.keys(sent).find((name) => !roleNames.some((known) => known === name))
  if (unknown !== undefined)
    throw new Error(`roles with known names: ${unknown} is not one of ${roleNames.join(', ')}`)
  const owner = sent.owner ?? {}
  if (!isObject(owner)) throw new Error('roles whose owner is an object: members by the URN of a domain')
  return {
    admin: membersOf(sent.admin ?? [], 'admin'),
    editor: membersOf(sent.editor ?? [], 'editor'),
    owner: Object.entries(owner).map(([domain, members]) => ({
      domainUrn: urnOfType(domain, 'domain', 'owner'),
      members: membersOf(members, `owner.${domain}`)
    })),
    reader: membersOf(sent.reader ?? [], 'reader')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('JSON')
  }
}

function membersOf(sent: unknown, place: string): string[] {
  const members: unknown[] = Array.isArray(sent) ? sent : [null]
  return members.map((member) => {
    if (typeof member !== 'string' || member === '')
      throw new Error(`roles whose members are lists of texts; ${place} is not`)
    return member
  })
}

/** The most extensive rights that the roles give to a person; null for a person without a role. */
export function rightsFor(
  roles: Roles,
  person: { subject: string; groups: readonly string[] }
): Rights | null {
  const isAmong = (members: readonly string[]): boolean =>
    members.some(
      (member) =>
        member === '*' ||
        (member.startsWith('sub:') ? member.slice(4) === person.subject : person.groups.includes(member))
    )
  if (isAmong(roles.admin)) return { scopes: ['admin'], domainUrns: null }
  if (isAmong(roles.editor)) return { scopes: ['write'], domainUrns: null }
  const owned = roles.owner.filter(({ members }) => isAmong(members)).map(({ domainUrn }) => domainUrn)
  if (owned.length > 0)
    return { scopes: ['write'], domainUrns: [...new Set(owned)].slice(0, limits.tokenDomainsMaxCount) }
  return isAmong(roles.reader) ? { scopes: ['read'], domainUrns: null } : null
}
