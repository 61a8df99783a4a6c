/** Reads the domain rules, and what they would change for assets that are already in the catalog. */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { assetNameOf } from '../../model/asset-name.ts'
import {
  domainChooser,
  readDomainRules,
  ruledEntityTypes,
  type DomainRule
} from '../../model/domain-rules.ts'
import { findEventNamespaces, pageOfUnassigned, readRulesRow } from '../../store/domain-rules.ts'
import { findEntities } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import { pageCount } from '../entities/page-count.ts'

/** `exists`: whether the domain exists. The rule is skipped while it does not. */
type DomainRuleView = DomainRule & { exists: boolean }

/**
 * In the order in which they apply. `revision`, `changedAt` and `changedBy` are null if no rules were ever
 * set.
 */
export type DomainRulesView = {
  rules: DomainRuleView[]
  revision: string | null
  changedAt: Date | null
  changedBy: string | null
}

export async function readRules(db: Db | Tx): Promise<DomainRulesView> {
  const row = await readRulesRow(db)
  const rules = row?.rules ?? []
  const existing = await existingDomains(db, rules)
  return {
    rules: rules.map((rule) => ({ ...rule, exists: existing.has(rule.domainUrn) })),
    revision: row?.revision ?? null,
    changedAt: row?.changedAt ?? null,
    changedBy: row?.actor ?? null
  }
}

/** The domains, named by the rules, that exist. */
async function existingDomains(db: Db | Tx, rules: readonly DomainRule[]): Promise<Set<Urn>> {
  const rows = await findEntities(db, [...new Set(rules.map(({ domainUrn }) => domainUrn))])
  return new Set(rows.filter(({ isPresent }) => isPresent).map(({ urn }) => urn))
}

/** `rule` is the index of the rule that decides, from 0. */
export type RuledAsset = { entityUrn: Urn; domainUrn: Urn; rule: number }

/**
 * The input as clients send it. Without `rules`, the stored rules are tried. `after` is `next` of the
 * previous page.
 */
export type PreviewInput = { rules?: unknown; after?: number | null; count?: number | null }

/** `next` is null on the last page. */
export type PreviewPage = { changes: RuledAsset[]; looked: number; next: number | null }

/** The number of assets that are examined together. */
const assetsPerSlice = 5_000
/** A page ends after this many assets, even if none of them matches, so that its time is bounded. */
const lookedMaxCount = 100_000
const previewDefaultCount = 1_000

/**
 * The assets that the rules would put into a domain now: they exist, are in no domain, and were never removed
 * from one. Each page shows the state at the time of its request. Throws BAD_REQUEST, LIMIT_EXCEEDED,
 * INVALID_URN, INVALID_CHARACTER.
 */
export async function previewRules(db: Db, input: PreviewInput): Promise<PreviewPage> {
  const count = pageCount(input.count, 'count', previewDefaultCount)
  const given = input.rules === undefined ? null : readDomainRules(input.rules, 'rules')
  return inTransaction(
    db,
    async (tx) => {
      const page: PreviewPage = { changes: [], looked: 0, next: null }
      for await (const slice of slicesOf(tx, given, input.after ?? 0)) {
        page.looked += slice.looked
        for (const asset of slice.assets) {
          page.changes.push(asset)
          if (page.changes.length === count) return { ...page, next: asset.id }
        }
        if (page.looked >= lookedMaxCount) return { ...page, next: slice.lastId }
      }
      return page
    },
    { readOnly: true, isolation: 'repeatable read' }
  ).then(({ changes, ...page }) => ({
    ...page,
    changes: changes.map(({ entityUrn, domainUrn, rule }) => ({ entityUrn, domainUrn, rule }))
  }))
}

/**
 * All assets that the stored rules would put into a domain, a slice at a time. `db` may be a transaction with
 * a fixed snapshot.
 */
export async function* ruledAssets(db: Db | Tx): AsyncGenerator<RuledAsset[]> {
  for await (const { assets } of slicesOf(db, null, 0)) yield assets
}

type Slice = { assets: (RuledAsset & { id: number })[]; looked: number; lastId: number }

async function* slicesOf(
  db: Db | Tx,
  given: readonly DomainRule[] | null,
  begin: number
): AsyncGenerator<Slice> {
  const rules = given ?? (await readRulesRow(db))?.rules ?? []
  if (rules.length === 0) return
  const choose = domainChooser(rules)
  const existing = await existingDomains(db, rules)
  const needsNamespaces = rules.some(({ namespace }) => namespace !== undefined)
  for (let after = begin; ;) {
    const rows = await pageOfUnassigned(db, ruledEntityTypes, after, assetsPerSlice)
    const namespaces = needsNamespaces
      ? await findEventNamespaces(
          db,
          rows.map(({ urn }) => urn)
        )
      : new Map<Urn, string>()
    after = rows.at(-1)?.id ?? after
    yield {
      looked: rows.length,
      lastId: after,
      assets: rows.flatMap(({ id, urn }) => {
        const name = assetNameOf(urn)
        const choice = choose({ ...name, namespace: namespaces.get(urn) ?? name.namespace }, (domain) =>
          existing.has(domain)
        )
        return choice ? [{ id, entityUrn: urn, domainUrn: choice.domainUrn, rule: choice.index }] : []
      })
    }
    if (rows.length < assetsPerSlice) return
  }
}
