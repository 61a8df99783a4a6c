/** What a person calls an entity: its name, platform and domain, asked from the server, never a hash or a number in its URN. */
import { nameFromUrn, platformOf, schemaFieldParts } from '../../shared/urn/kinds.ts'
import { toUrn } from '../../shared/urn/urn.ts'
import { askGraphql } from './graphql.ts'
import { isObject } from './load-view.ts'
import type { Server } from './server.ts'

export type EntityCard = {
  urn: string
  type: string
  name: string
  /** Such as `hive`; empty for a type without one. */
  platform: string
  /** The name of the domain; empty for an entity in none. */
  domain: string
}

const placed = ['Dataset', 'DataJob', 'DataFlow', 'Chart', 'Dashboard', 'MLModel', 'MLModelGroup']
const placedFurther = [
  'MLFeature',
  'MLFeatureTable',
  'MLPrimaryKey',
  'Notebook',
  'DataProduct',
  'Application'
]
const surelyNamed = [
  'Dataset',
  'DataJob',
  'DataFlow',
  'Chart',
  'Dashboard',
  'Tag',
  'GlossaryTerm',
  'GlossaryNode'
]
const perhapsNamed = ['MLModel', 'MLModelGroup', 'DataProduct', 'Application']

/**
 * A fragment on Entity that cardOf reads. Names that may be null have another alias: GraphQL refuses one key for values that may be
 * null and values that may not.
 */
export const cardFragment = `
  fragment domainOf on DomainAssociation { domain { urn properties { name } } }
  fragment card on Entity {
    urn
    type
    ${[...placed, ...placedFurther].map((type) => `... on ${type} { domain { ...domainOf } }`).join('\n    ')}
    ${surelyNamed.map((type) => `... on ${type} { described: properties { name } }`).join('\n    ')}
    ${perhapsNamed.map((type) => `... on ${type} { described: properties { maybe: name } }`).join('\n    ')}
    ... on Container { described: properties { name } containerPlatform: platform { name } domain { ...domainOf } }
    ... on DataProcessInstance { described: properties { name } }
    ... on Domain { described: properties { name } }
    ... on Notebook { described: info { maybe: title } }
    ... on Document { described: info { maybe: title } }
    ... on CorpUser { described: properties { maybe: displayName } }
    ... on CorpGroup { described: properties { maybe: displayName } }
  }`

const query = `
  query cards($urns: [String!]!) { entities(urns: $urns) { ...card } }${cardFragment}`

const pageCount = 100

/** The cards of entities, in the order of the URNs. Throws as askGraphql does. */
export async function readCards(server: Server, urns: readonly string[]): Promise<EntityCard[]> {
  const found: EntityCard[] = []
  for (let begin = 0; begin < urns.length; begin += pageCount) {
    const page = urns.slice(begin, begin + pageCount)
    const { entities } = await askGraphql(server, query, { urns: page })
    const cards: unknown[] = Array.isArray(entities) ? entities : []
    found.push(...page.map((urn, at) => cardOf(cards[at] ?? { urn })))
  }
  return found
}

/** Reads what the fragment asked for. */
export function cardOf(entity: unknown): EntityCard {
  const { urn, type, described, containerPlatform, domain } = isObject(entity) ? entity : {}
  const names = isObject(described) ? Object.values(described) : []
  const ofDomain = isObject(domain) && isObject(domain.domain) ? domain.domain : null
  return {
    urn: String(urn),
    type: String(type),
    name: shownName(
      String(urn),
      names.find((name): name is string => typeof name === 'string' && name !== '')
    ),
    platform: platformIn(String(urn), containerPlatform),
    domain: ofDomain === null ? '' : domainName(ofDomain)
  }
}

/** The name that people gave, unless the one in the URN is the same with its qualifiers: `shop.orders` rather than `orders`. */
function shownName(urn: string, given: string | undefined): string {
  const known = toUrn(urn)
  const named =
    urn.startsWith('urn:li:schemaField:') && given === undefined ? columnName(urn) : nameFromUrn(known)
  return given === undefined || named.toLowerCase().endsWith(given.toLowerCase()) ? named : given
}

/** The name of the asset and the path of the column in it. */
export function columnName(urn: string): string {
  const { parentUrn, fieldPath } = schemaFieldParts(toUrn(urn))
  return `${nameFromUrn(parentUrn)}.${fieldPath}`
}

function platformIn(urn: string, ofContainer: unknown): string {
  const inUrn = platformOf(toUrn(urn))
  if (inUrn !== null) return nameFromUrn(inUrn)
  const name = isObject(ofContainer) ? ofContainer.name : null
  return typeof name === 'string' && name !== 'unknown' ? name : ''
}

function domainName({ urn, properties }: Record<string, unknown>): string {
  const name = isObject(properties) ? properties.name : null
  return typeof name === 'string' ? name : nameFromUrn(toUrn(String(urn)))
}
