/** Replaces the domain rules. Once the call returns, every process applies the new rules to new assets. */
import { randomUUID } from 'node:crypto'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { inWriteTurn } from '../../db/write-turns.ts'
import { CatalogError } from '../../errors.ts'
import { readDomainRules, type DomainRule } from '../../model/domain-rules.ts'
import { appendAudit } from '../../store/audit.ts'
import { lockRules, readRulesRow, writeRules } from '../../store/domain-rules.ts'
import { findEntities } from '../../store/entities.ts'
import { lockAsWriter } from '../../store/order-of-changes.ts'
import type { Call } from './call.ts'

/**
 * The input as clients send it. With `revision`, the rules are replaced only if they have not changed since
 * the client read them.
 */
export type SetDomainRulesInput = { rules?: unknown; revision?: unknown }

/**
 * Throws BAD_REQUEST, LIMIT_EXCEEDED (domainRulesMaxCount, domainRulePatternMaxChars), INVALID_URN,
 * INVALID_CHARACTER, MISSING_REFERENCE for a domain that does not exist, and CONFLICT if the rules have
 * changed since they were read.
 */
export function setDomainRules(db: Db, input: SetDomainRulesInput, call: Call): Promise<void> {
  const rules = readDomainRules(input.rules, 'rules')
  return inWriteTurn(db, { actor: call.actor, keys: ['the domain rules'] }, () => inTransaction(db, write))

  async function write(tx: Tx): Promise<void> {
    // A domain that exists now cannot be deleted before the rules are stored.
    await lockAsWriter(tx)
    await lockRules(tx)
    const before = await readRulesRow(tx)
    if (input.revision !== undefined && input.revision !== (before?.revision ?? null))
      throw new CatalogError('CONFLICT', 'The rules have been changed since; read them again', {
        field: 'revision'
      })
    await checkDomains(tx, rules)
    const revision = randomUUID()
    await writeRules(tx, { revision, rules, actor: call.actor.urn })
    await appendAudit(tx, {
      actor: call.actor.urn,
      tokenId: call.actor.tokenId,
      operation: 'setDomainRules',
      seq: null,
      loadId: null,
      chunkId: null,
      requestId: call.requestId,
      details: { revision, before: before?.rules ?? [], rules }
    })
  }
}

async function checkDomains(tx: Tx, rules: readonly DomainRule[]): Promise<void> {
  const rows = await findEntities(tx, [...new Set(rules.map(({ domainUrn }) => domainUrn))])
  const existing = new Set(rows.filter(({ isPresent }) => isPresent).map(({ urn }) => urn))
  const absent = rules.findIndex(({ domainUrn }) => !existing.has(domainUrn))
  const urn = rules[absent]?.domainUrn
  if (urn !== undefined)
    throw new CatalogError('MISSING_REFERENCE', `${urn} does not exist`, {
      urn,
      field: `rules[${absent}].domainUrn`
    })
}
