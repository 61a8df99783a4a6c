/**
 * Puts the assets that a transaction has created into domains: by the domain rules, otherwise into the domain
 * that the caller gives.
 */
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../db/database.ts'
import { assetNameOf } from '../../model/asset-name.ts'
import { domainChooser, isRuledUrn, type DomainChooser } from '../../model/domain-rules.ts'
import { findEventNamespaces, readRulesRevision, readRulesRow } from '../../store/domain-rules.ts'
import { findEntities, type EntityRow } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import { readAssociationDrafts, assignIfUndecided } from './association-drafts.ts'
import type { Drafts } from './drafts.ts'
import { isPresentNow, rememberEntity, type UnitOfWork } from './unit-of-work.ts'

type ReadyRules = { domains: Urn[]; choose: DomainChooser; needsNamespaces: boolean }

/**
 * Keyed by revision. The rules of a revision never change, so an entry cannot be stale. There are several
 * entries because test processes use several databases.
 */
const ready = new LRUCache<string, ReadyRules>({ max: 4 })

/**
 * Call it after the records are folded and before anything is written: its changes belong to the same
 * transaction and are undone with it. Needs one or two small queries if assets were created, otherwise none.
 * A domain that a record of the transaction sets is kept. An asset for which the rules give no domain is put
 * into the domain in `otherwise`, if that exists.
 */
export async function applyDomainRules(
  tx: Tx,
  work: UnitOfWork,
  drafts: Drafts,
  otherwise: ReadonlyMap<Urn, Urn> = new Map()
): Promise<void> {
  const made = [...work.created].flatMap((id) => {
    const row = work.byId.get(id)
    return row && isRuledUrn(row.urn) && !drafts.associations.get(id)?.row ? [row] : []
  })
  if (made.length === 0) return
  const rules = await rulesInForce(tx)
  const chosen = rules ? await chooseDomains(tx, work, made, rules) : new Map<number, Urn>()
  await addOtherwise(tx, work, made, otherwise, chosen)
  const unread = [...chosen.keys()].filter((id) => !drafts.associations.has(id))
  for (const [id, draft] of await readAssociationDrafts(tx, work, unread)) drafts.associations.set(id, draft)
  for (const [id, domainUrn] of chosen) {
    const draft = drafts.associations.get(id)
    if (draft) assignIfUndecided(work, draft, domainUrn)
  }
}

async function rulesInForce(tx: Tx): Promise<ReadyRules | null> {
  const revision = await readRulesRevision(tx)
  if (revision === null) return null
  const known = ready.get(revision)
  if (known) return known
  const row = await readRulesRow(tx)
  if (!row || row.rules.length === 0) return null
  const { rules } = row
  const made = {
    domains: [...new Set(rules.map(({ domainUrn }) => domainUrn))],
    choose: domainChooser(rules),
    needsNamespaces: rules.some(({ namespace }) => namespace !== undefined)
  }
  ready.set(row.revision, made)
  return made
}

/** The domain that the rules choose for each asset. */
async function chooseDomains(
  tx: Tx,
  work: UnitOfWork,
  made: readonly EntityRow[],
  { domains, choose, needsNamespaces }: ReadyRules
): Promise<Map<number, Urn>> {
  const namespaces = needsNamespaces
    ? await findEventNamespaces(
        tx,
        made.map(({ urn }) => urn)
      )
    : new Map<Urn, string>()
  const unread = domains.filter((urn) => !work.entities.has(urn))
  for (const row of await findEntities(tx, unread)) rememberEntity(work, row)
  const existing = new Set(domains.filter((urn) => existsNow(work, urn)))
  const chosen = new Map<number, Urn>()
  for (const { id, urn } of made) {
    const name = assetNameOf(urn)
    const choice = choose({ ...name, namespace: namespaces.get(urn) ?? name.namespace }, (domainUrn) =>
      existing.has(domainUrn)
    )
    if (choice) chosen.set(id, choice.domainUrn)
  }
  return chosen
}

/** Adds the domains in `otherwise` to `chosen`, for assets that are not in it. */
async function addOtherwise(
  tx: Tx,
  work: UnitOfWork,
  made: readonly EntityRow[],
  otherwise: ReadonlyMap<Urn, Urn>,
  chosen: Map<number, Urn>
): Promise<void> {
  const left = made.flatMap(({ id, urn }) => {
    const domainUrn = chosen.has(id) ? undefined : otherwise.get(urn)
    return domainUrn === undefined ? [] : [{ id, domainUrn }]
  })
  const unread = new Set(left.flatMap(({ domainUrn }) => (work.entities.has(domainUrn) ? [] : [domainUrn])))
  for (const row of await findEntities(tx, [...unread])) rememberEntity(work, row)
  for (const { id, domainUrn } of left) if (existsNow(work, domainUrn)) chosen.set(id, domainUrn)
}

function existsNow(work: UnitOfWork, urn: Urn): boolean {
  const row = work.entities.get(urn)
  return row !== undefined && isPresentNow(work, row) && !row.isRemoved
}
