/** Checks what reads say of the domains of assets. */
import { randomFrom } from '../../test/torture/workload.ts'
import type { Ask } from './ask.ts'
import { domainQuery, mustBeRight } from './questions.ts'
import type { Catalog } from './stage.ts'

const checkCount = 300

/** Throws where a dataset is not in the domain that it was put into. */
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

/** `core` of urn:li:domain:finance_core, `finance` of urn:li:domain:finance. */
const nameOf = (domainUrn: string): string => /[^:_]+$/.exec(domainUrn)?.[0] ?? ''
