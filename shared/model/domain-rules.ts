/**
 * Domain rules: patterns of platform, namespace and name, each with a domain. The first rule that matches an
 * asset decides.
 */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { urnOfType } from '../urn/kinds.ts'
import { entityTypeOf, type Urn } from '../urn/urn.ts'
import type { AssetName } from './asset-name.ts'
import { entityTypeInfo, entityTypes } from './entity-types.ts'
import { isObject } from './json-values.ts'
import { namePattern } from './name-pattern.ts'
import { checkLine } from './text-checks.ts'

const patternNames = ['platform', 'namespace', 'name'] as const

/** All given patterns must match. At least one is given. */
export type DomainRule = { platform?: string; namespace?: string; name?: string; domainUrn: Urn }

/** The index of the first rule that matches the asset and whose domain exists; null if there is none. */
export type DomainChooser = (
  asset: AssetName,
  exists: (domainUrn: Urn) => boolean
) => { index: number; domainUrn: Urn } | null

/** Whether rules apply to this type: everything that can be both in a domain and in lineage, and flows. */
const isRuled = (entityType: string): boolean => {
  const { isAsset, hasLineage } = entityTypeInfo(entityType)
  return isAsset && hasLineage
}
export const isRuledUrn = (urn: Urn): boolean => isRuled(entityTypeOf(urn))
export const ruledEntityTypes: readonly string[] = entityTypes.map(({ name }) => name).filter(isRuled)

/**
 * Reads rules; `field` names the input. Throws BAD_REQUEST, INVALID_URN, LIMIT_EXCEEDED (domainRulesMaxCount,
 * domainRulePatternMaxChars), INVALID_CHARACTER.
 */
export function readDomainRules(sent: unknown, field: string): DomainRule[] {
  if (!Array.isArray(sent))
    throw new CatalogError('BAD_REQUEST', `${field} must be a list of rules`, { field })
  const maximum = limits.domainRulesMaxCount
  if (sent.length > maximum)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `${field} has ${sent.length} rules; at most ${maximum} are allowed`,
      {
        field,
        limit: 'domainRulesMaxCount',
        maximum,
        actual: sent.length
      }
    )
  return sent.map((each: unknown, index) => readRule(each, `${field}[${index}]`))
}

function readRule(sent: unknown, field: string): DomainRule {
  if (!isObject(sent)) throw new CatalogError('BAD_REQUEST', `${field} must be an object`, { field })
  const unknown = Object.keys(sent).find(
    (key) => key !== 'domainUrn' && !patternNames.some((name) => name === key)
  )
  if (unknown !== undefined)
    throw new CatalogError(
      'BAD_REQUEST',
      `${field}.${unknown.slice(0, 100)} is unknown; a rule has ${patternNames.join(', ')} and domainUrn`,
      {
        field: `${field}.${unknown.slice(0, 100)}`
      }
    )
  const patterns: Partial<Record<(typeof patternNames)[number], string>> = {}
  for (const name of patternNames) {
    const text = sent[name]
    if (text === undefined || text === null) continue
    if (typeof text !== 'string')
      throw new CatalogError('BAD_REQUEST', `${field}.${name} must be a text`, { field: `${field}.${name}` })
    patterns[name] = checkLine(text, { field: `${field}.${name}`, limit: 'domainRulePatternMaxChars' })
  }
  if (Object.keys(patterns).length === 0)
    throw new CatalogError(
      'BAD_REQUEST',
      `${field} needs a pattern: ${patternNames.join(', ')}; name "*" matches everything`,
      {
        field
      }
    )
  return { ...patterns, domainUrn: urnOfType(sent.domainUrn, 'domain', `${field}.domainUrn`) }
}

/** Prepares the rules, so that patterns are parsed once and not for each asset. */
export function domainChooser(rules: readonly DomainRule[]): DomainChooser {
  const tests = rules.map((rule) => ({
    domainUrn: rule.domainUrn,
    patterns: patternNames.flatMap((part) => {
      const pattern = rule[part]
      return pattern === undefined ? [] : [{ part, fits: namePattern(pattern) }]
    })
  }))
  return ({ platform, namespace, name }, exists) => {
    const asset = {
      platform: (platform ?? '').toLowerCase(),
      namespace: namespace.toLowerCase(),
      name: name.toLowerCase()
    }
    const index = tests.findIndex(
      ({ domainUrn, patterns }) => exists(domainUrn) && patterns.every(({ part, fits }) => fits(asset[part]))
    )
    const rule = tests[index]
    return rule ? { index, domainUrn: rule.domainUrn } : null
  }
}
