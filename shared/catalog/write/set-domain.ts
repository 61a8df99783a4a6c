/** Puts assets into a domain and removes them from it. An asset is in at most one domain. */
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { assetUrnOf } from '../../model/asset-urn.ts'
import type { Change, ChangeRecord } from '../../model/changes.ts'
import { checkCount } from '../../model/count-checks.ts'
import { urnOfType } from '../../urn/kinds.ts'
import { applyCall } from './apply-call.ts'
import { mutationContext, refuseAbsent, type Call } from './call.ts'

/**
 * Throws MISSING_REFERENCE (asset or domain), BAD_REQUEST (not an asset), INVALID_URN, LIMIT_EXCEEDED,
 * INVALID_CHARACTER, FORBIDDEN.
 */
export async function setDomain(
  db: Db,
  input: { entityUrn: string; domainUrn: string },
  call: Call
): Promise<true> {
  const domainUrn = urnOfType(input.domainUrn, 'domain', 'domainUrn')
  const entityUrn = assetUrnOf(input.entityUrn, 'entityUrn')
  await applyCall(
    db,
    [oneRecord([{ kind: 'setDomain', entityUrn, domainUrn }], [''])],
    mutationContext(call, 'setDomain')
  )
  return true
}

/** Returns true even if the asset was in no domain. Throws as setDomain does. */
export async function unsetDomain(db: Db, input: { entityUrn: string }, call: Call): Promise<true> {
  const entityUrn = assetUrnOf(input.entityUrn, 'entityUrn')
  await refuseAbsent(
    applyCall(
      db,
      [oneRecord([{ kind: 'unsetDomain', entityUrn }], [''])],
      mutationContext(call, 'unsetDomain')
    ),
    () => `Failed to remove Entity ${entityUrn} from its Domain. Entity does not exist.`
  )
  return true
}

export type BatchSetDomainInput = {
  domainUrn?: string | null
  resources: readonly { resourceUrn: string; subResource?: string | null }[]
}

/**
 * Changes all assets or none. `domainUrn` null removes the assets from their domains. Throws as setDomain
 * does, and UNSUPPORTED for parts of assets.
 */
export async function batchSetDomain(db: Db, input: BatchSetDomainInput, call: Call): Promise<true> {
  const count = input.resources.length
  checkCount(count, 'edgesPerCallMaxCount', {
    field: 'input.resources',
    what: `${count} resources in one call`,
    wayOut: 'Send more as a load (POST /loads)'
  })
  const domainUrn = input.domainUrn ? urnOfType(input.domainUrn, 'domain', 'input.domainUrn') : null
  const changes = input.resources.map(({ resourceUrn, subResource }, index): Change => {
    const field = `input.resources[${index}]`
    if (subResource)
      throw new CatalogError('UNSUPPORTED', 'A part of an asset cannot be in a domain', {
        field: `${field}.subResource`
      })
    const entityUrn = assetUrnOf(resourceUrn, `${field}.resourceUrn`)
    return domainUrn === null
      ? { kind: 'unsetDomain', entityUrn }
      : { kind: 'setDomain', entityUrn, domainUrn }
  })
  if (changes.length === 0) return true
  const record = oneRecord(
    changes,
    changes.map((_, index) => `input.resources[${index}]`)
  )
  await refuseAbsent(applyCall(db, [record], mutationContext(call, 'batchSetDomain')), (absent) =>
    absent.details.urn === domainUrn
      ? `Failed to validate Domain with urn ${domainUrn}. Urn does not exist.`
      : `Failed to validate resource with urn ${absent.details.urn}. Urn does not exist.`
  )
  return true
}

const oneRecord = (changes: Change[], fields: string[]): ChangeRecord => ({ line: 0, changes, fields })
