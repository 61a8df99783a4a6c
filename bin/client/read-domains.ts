/** Reads the domains, all of them or those below one, as a list in the order of their tree. */
import { exitCodes, Refusal } from '../failure.ts'
import { askGraphql } from './graphql.ts'
import { isObject } from './load-view.ts'
import type { Server } from './server.ts'

/** `depth` counts from 0 at the root of the list. */
export type DomainNode = {
  urn: string
  name: string
  description: string | null
  parent: string | null
  assetCount: number
  depth: number
}

type Domain = Omit<DomainNode, 'depth'>

const pageCount = 50

const query = `
  query domains($input: ScrollAcrossEntitiesInput!) {
    scrollAcrossEntities(input: $input) {
      nextScrollId
      searchResults { entity { urn ... on Domain { properties { name description } parentDomains { domains { urn } } entities(input: { count: 0 }) { total } } } }
    }
  }`

/**
 * Siblings ordered by name, each before its children. `root` is the URN where the tree begins; null means the
 * top level. Throws as askGraphql does.
 */
export async function readDomainTree(server: Server, root: string | null): Promise<DomainNode[]> {
  const children = new Map<string | null, Domain[]>()
  const domains = await readDomains(server)
  const known = new Set(domains.map(({ urn }) => urn))
  for (const domain of domains.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    // a soft-deleted parent is not listed, so its children begin at the top
    const place = domain.parent !== null && known.has(domain.parent) ? domain.parent : null
    const siblings = children.get(place) ?? []
    children.set(place, siblings)
    siblings.push(domain)
  }
  const found: DomainNode[] = []
  const open = (root === null ? (children.get(null) ?? []) : domains.filter(({ urn }) => urn === root))
    .map((domain) => ({ ...domain, depth: 0 }))
    .toReversed()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { urn, depth } = node
    found.push(node)
    open.push(...(children.get(urn) ?? []).map((domain) => ({ ...domain, depth: depth + 1 })).toReversed())
  }
  return found
}

async function readDomains(server: Server): Promise<Domain[]> {
  const found: Domain[] = []
  for (let scrollId: unknown = null; ;) {
    const { scrollAcrossEntities: page } = await askGraphql(server, query, {
      input: {
        types: ['DOMAIN'],
        query: '*',
        count: pageCount,
        scrollId,
        searchFlags: { skipAggregates: true }
      }
    })
    if (!isObject(page) || !Array.isArray(page.searchResults))
      throw new Refusal(
        'Unexpected answer from the server: not a list of domains. Is this a Tributary server?',
        exitCodes.unreachable
      )
    found.push(...page.searchResults.map((result) => domainOf(isObject(result) ? result.entity : null)))
    scrollId = page.nextScrollId
    if (typeof scrollId !== 'string') return found
  }
}

function domainOf(entity: unknown): Domain {
  const { urn, properties, parentDomains, entities } = isObject(entity) ? entity : {}
  const { name, description } = isObject(properties) ? properties : {}
  const [parent]: unknown[] =
    isObject(parentDomains) && Array.isArray(parentDomains.domains) ? parentDomains.domains : []
  return {
    urn: String(urn),
    name: typeof name === 'string' ? name : String(urn),
    description: typeof description === 'string' ? description : null,
    parent: isObject(parent) ? String(parent.urn) : null,
    assetCount: isObject(entities) ? Number(entities.total) : 0
  }
}
