/** Domains, one at a time: create, rename, describe, move and delete, each in one transaction. */
import { randomUUID } from 'node:crypto'
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { prepareAspect } from '../../model/aspect-registry.ts'
import type { Change } from '../../model/changes.ts'
import { ownershipTypeOf } from '../../model/ownership-types.ts'
import { checkLine, checkLines } from '../../model/text-checks.ts'
import { domainUrn, urnOfType } from '../../urn/kinds.ts'
import { parseUrn, type Urn } from '../../urn/urn.ts'
import { applyCall } from './apply-call.ts'
import { mutationContext, refuseAbsent, type Call } from './call.ts'

export type OwnerInput = {
  ownerUrn: string
  ownerEntityType: 'CORP_USER' | 'CORP_GROUP'
  type?: string | null
  ownershipTypeUrn?: string | null
}

export type CreateDomainInput = {
  /** The last part of the URN; random if absent. Spaces are kept. */
  id?: string | null
  name: string
  description?: string | null
  parentDomain?: string | null
  owners?: readonly OwnerInput[] | null
}

/**
 * Creates a domain and returns its URN. Throws BAD_REQUEST (no name, or the id is taken), MISSING_REFERENCE
 * (the parent), LIMIT_EXCEEDED, INVALID_CHARACTER, INVALID_URN, CONFLICT (a sibling has the name) and
 * FORBIDDEN (outside of the token's domain).
 */
export async function createDomain(db: Db, input: CreateDomainInput, call: Call): Promise<Urn> {
  const change = domainChange(input, 'input')
  const changes: Change[] = [change]
  if (input.owners && input.owners.length > 0) changes.push(ownershipChange(change.domainUrn, input.owners))
  const record = { line: 0, changes, fields: changes.map(() => 'input') }
  await applyCall(db, [record], mutationContext(call, 'createDomain'))
  return change.domainUrn
}

/**
 * Checks the input and returns the change that creates the domain. Throws BAD_REQUEST, LIMIT_EXCEEDED,
 * INVALID_CHARACTER, INVALID_URN.
 */
function domainChange(input: CreateDomainInput, field: string): Extract<Change, { kind: 'createDomain' }> {
  const name = checkLine(input.name, { field: `${field}.name`, limit: 'domainNameMaxChars' })
  const id = input.id?.trim() ?? ''
  return {
    kind: 'createDomain',
    domainUrn: domainUrn(id === '' ? randomUUID() : id, `${field}.id`),
    name,
    ...(input.description
      ? {
          description: checkLines(input.description, {
            field: `${field}.description`,
            limit: 'descriptionMaxChars'
          })
        }
      : {}),
    ...(input.parentDomain
      ? { parentDomain: urnOfType(input.parentDomain, 'domain', `${field}.parentDomain`) }
      : {})
  }
}

/** Throws BAD_REQUEST, MISSING_REFERENCE, CONFLICT, LIMIT_EXCEEDED, INVALID_CHARACTER, INVALID_URN, UNSUPPORTED, FORBIDDEN. */
export async function renameDomain(db: Db, input: { urn: string; name: string }, call: Call): Promise<true> {
  const urn = describableDomain(input.urn, 'input.urn')
  const name = checkLine(input.name, { field: 'input.name', limit: 'domainNameMaxChars' })
  return changeDomain(db, { kind: 'renameDomain', domainUrn: urn, name }, 'updateName', call)
}

/** Throws MISSING_REFERENCE, LIMIT_EXCEEDED, INVALID_CHARACTER, INVALID_URN, UNSUPPORTED, FORBIDDEN. */
export async function describeDomain(
  db: Db,
  input: { resourceUrn: string; description: string; subResource?: string | null },
  call: Call
): Promise<true> {
  if (input.subResource)
    throw new CatalogError('UNSUPPORTED', 'Only whole entities are described here, not parts of them', {
      field: 'input.subResource'
    })
  const urn = describableDomain(input.resourceUrn, 'input.resourceUrn')
  const description = checkLines(input.description, {
    field: 'input.description',
    limit: 'descriptionMaxChars'
  })
  return changeDomain(db, { kind: 'describeDomain', domainUrn: urn, description }, 'updateDescription', call)
}

/**
 * Moves a domain; `parentDomain` null moves it to the top level. Throws MISSING_REFERENCE, CONFLICT,
 * LIMIT_EXCEEDED, INVALID_URN, FORBIDDEN.
 */
export async function moveDomain(
  db: Db,
  input: { resourceUrn: string; parentDomain?: string | null },
  call: Call
): Promise<true> {
  const urn = urnOfType(input.resourceUrn, 'domain', 'input.resourceUrn')
  const parentDomain = input.parentDomain
    ? urnOfType(input.parentDomain, 'domain', 'input.parentDomain')
    : null
  const record = {
    line: 0,
    changes: [{ kind: 'moveDomain', domainUrn: urn, parentDomain } satisfies Change],
    fields: ['input']
  }
  await refuseAbsent(applyCall(db, [record], mutationContext(call, 'moveDomain')), (absent) =>
    absent.details.urn === parentDomain
      ? `Parent entity does not exist. (${parentDomain})`
      : `Failed to move ${urn}. ${absent.details.urn ?? urn} does not exist.`
  )
  return true
}

/** Throws MISSING_REFERENCE, CONFLICT (it has child domains), INVALID_URN, FORBIDDEN. */
export async function deleteDomain(db: Db, urn: string, call: Call): Promise<true> {
  const domain = urnOfType(urn, 'domain', 'urn')
  const record = {
    line: 0,
    changes: [{ kind: 'deleteDomain', domainUrn: domain } satisfies Change],
    fields: ['urn']
  }
  await refuseAbsent(
    applyCall(db, [record], mutationContext(call, 'deleteDomain')),
    () => `Failed to delete ${domain}. ${domain} does not exist.`
  )
  return true
}

async function changeDomain(
  db: Db,
  change: Extract<Change, { kind: 'renameDomain' | 'describeDomain' }>,
  operation: string,
  call: Call
): Promise<true> {
  await refuseAbsent(
    applyCall(db, [{ line: 0, changes: [change], fields: ['input'] }], mutationContext(call, operation)),
    () => `Failed to update ${change.domainUrn}. ${change.domainUrn} does not exist.`
  )
  return true
}

/** Producers name and describe assets with proposals; this call is for domains only. */
function describableDomain(text: string, field: string): Urn {
  const { urn, entityType } = parseUrn(text, field, 'domain')
  if (entityType !== 'domain')
    throw new CatalogError(
      'UNSUPPORTED',
      `Only domains can be renamed and described here; write the aspects of a ${entityType} instead`,
      { field, urn }
    )
  return urn
}

function ownershipChange(urn: Urn, owners: readonly OwnerInput[]): Change {
  const value = {
    owners: owners.map((owner, index) => {
      const ownerUrn = urnOfType(
        owner.ownerUrn,
        owner.ownerEntityType === 'CORP_GROUP' ? 'corpGroup' : 'corpuser',
        `input.owners[${index}].ownerUrn`
      )
      return {
        owner: ownerUrn,
        type: ownershipTypeOf(owner.type ?? 'NONE'),
        ...(owner.ownershipTypeUrn ? { typeUrn: owner.ownershipTypeUrn } : {})
      }
    })
  }
  return {
    kind: 'upsertAspect',
    changeType: 'UPSERT',
    entityUrn: urn,
    aspectName: 'ownership',
    value: prepareAspect('domain', 'ownership', value)
  }
}
