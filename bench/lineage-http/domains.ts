/** Checks the domains of assets in answers. */
import { randomFrom } from '../../test/torture/workload.ts'
import type { Ask } from './ask.ts'
import { domainQuery, mustBeRight } from './questions.ts'
import type { Catalog } from './stage.ts'

const checkCount = 300

/** Throws if a dataset is not in its domain. */
export async function checkDomains({ graph, domains }: Catalog, ask: Ask): Promise<void> {
  const random = randomFrom(33)
  for (let count = 0; count < checkCount; count += 1) {
    const node = Math.floor(random() * graph.assetCount)
    const urn = graph.urnOf(node)
    const domain = domains.domainOf(node)
    const association = domain && {
      associatedUrn: urn,
      domain: { urn: domain, properties: { name: nameOf(domain) } }
    }
    const { answer } = await ask(domainQuery, { urn })
    const isRight = JSON.stringify(answer.data) === JSON.stringify({ dataset: { urn, domain: association } })
    mustBeRight(isRight ? null : JSON.stringify(answer.data))
  }
}

/** The last part of the name: `core` for urn:li:domain:finance_core, `finance` for urn:li:domain:finance. */
const nameOf = (domainUrn: string): string => /[^:_]+$/.exec(domainUrn)?.[0] ?? ''
