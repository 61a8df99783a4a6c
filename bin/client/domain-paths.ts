/** Asks the server what people call domains given by their URNs. */
import { askGraphql } from './graphql.ts'
import { isObject } from './load-view.ts'
import type { Server } from './server.ts'

const query = `
  query paths($urns: [String!]!) {
    entities(urns: $urns) { urn ... on Domain { properties { name } parentDomains { domains { urn ... on Domain { properties { name } } } } } }
  }`

const pageCount = 100

/** The path of each domain, such as Sales/Orders; its URN if the server knows no name. Throws as askGraphql does. */
export async function readDomainPaths(
  server: Server,
  urns: readonly string[]
): Promise<(urn: string) => string> {
  const paths = new Map<string, string>()
  const different = [...new Set(urns)]
  for (let begin = 0; begin < different.length; begin += pageCount) {
    const { entities } = await askGraphql(server, query, { urns: different.slice(begin, begin + pageCount) })
    for (const entity of Array.isArray(entities) ? entities : []) {
      const { urn, parentDomains } = isObject(entity) ? entity : {}
      const above: unknown[] =
        isObject(parentDomains) && Array.isArray(parentDomains.domains) ? parentDomains.domains : []
      const names = [entity, ...above].map(nameOf).toReversed()
      if (names.every((name) => name !== null)) paths.set(String(urn), names.join('/'))
    }
  }
  return (urn) => paths.get(urn) ?? urn
}

function nameOf(domain: unknown): string | null {
  const name = isObject(domain) && isObject(domain.properties) ? domain.properties.name : null
  return typeof name === 'string' ? name : null
}
