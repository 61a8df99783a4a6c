/** Puts what a transaction has brought into existence into the domains that the domain rules give it. */
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../db/database.ts'
import { assetNameOf } from '../../model/asset-name.ts'
import { domainChooser, isRuledUrn, type DomainChooser } from '../../model/domain-rules.ts'
import { findEventNamespaces, readRulesRevision, readRulesRow } from '../../store/domain-rules.ts'
import { findEntities, type EntityRow } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import { loadAssociationCells, offerDomain } from './association-cells.ts'
import type { Cells } from './cells.ts'
import { isPresentNow, rememberEntity, type WorkingSet } from './working-set.ts'

type ReadyRules = { domains: Urn[]; choose: DomainChooser; needsNamespaces: boolean }

/** A revision is of one list of rules for ever, so what is kept under it is never old. Processes of tests have several databases. */
const ready = new LRUCache<string, ReadyRules>({ max: 4 })

/**
 * To be called when the records have been folded and before anything is written: what it does is a change of the same transaction, and undone with it. Costs
 * a small statement or two where assets were made, and nothing where not. What a record of the transaction says of the domain of its asset stays.
 */
export async function applyDomainRules(tx: Tx, set: WorkingSet, cells: Cells): Promise<void> {
  const made = [...set.created].flatMap((id) => {
    const row = set.byId.get(id)
    return row && isRuledUrn(row.urn) && !cells.associations.get(id)?.row ? [row] : []
  })
  if (made.length === 0) return
  const rules = await rulesInForce(tx)
  if (!rules) return
  const chosen = await chooseDomains(tx, set, made, rules)
  const unread = [...chosen.keys()].filter((id) => !cells.associations.has(id))
  for (const [id, cell] of await loadAssociationCells(tx, set, unread)) cells.associations.set(id, cell)
  for (const [id, domainUrn] of chosen) {
    const cell = cells.associations.get(id)
    if (cell) offerDomain(set, cell, domainUrn)
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

/** By asset, the domain that the rules give it. */
async function chooseDomains(
  tx: Tx,
  set: WorkingSet,
  made: readonly EntityRow[],
  { domains, choose, needsNamespaces }: ReadyRules
): Promise<Map<number, Urn>> {
  const namespaces = needsNamespaces
    ? await findEventNamespaces(
        tx,
        made.map(({ urn }) => urn)
      )
    : new Map<Urn, string>()
  const unread = domains.filter((urn) => !set.entities.has(urn))
  for (const row of await findEntities(tx, unread)) rememberEntity(set, row)
  const existing = new Set(domains.filter((urn) => isThere(set, urn)))
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

function isThere(set: WorkingSet, urn: Urn): boolean {
  const row = set.entities.get(urn)
  return row !== undefined && isPresentNow(set, row)
}
