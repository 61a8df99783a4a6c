/**
 * The catalog that is attacked: 50,000 assets, a hub that reaches most of them, a deep chain, domains nested
 * to the limit, and 10,000 domains of one level.
 */
import type { JsonObject } from '../../shared/model/changes.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'

export const sizes = { assets: 50_000, chain: 60, domains: 40, siblings: 10_000 }

export const assetUrn = (index: number): Urn =>
  toUrn(
    `urn:li:dataset:(urn:li:dataPlatform:${['hive', 'kafka', 'snowflake'][index % 3]},shop.area${index % 100}.table_${index},PROD)`
  )
export const domainUrn = (level: number): Urn => toUrn(`urn:li:domain:level${level}`)

/** What an attack ingests, beside the assets of the catalog. */
export const ingestedUrn = (index: number): Urn =>
  toUrn(`urn:li:dataset:(urn:li:dataPlatform:hive,shop.ingested_${index},PROD)`)

/** The number of neighbours of the hub, each of which leads to ten more. */
const fan = 4_500

const words = ['orders', 'customers', 'payments', 'stock', 'returns', 'visits', 'prices', 'suppliers']

/** Loads, in the order in which they must be sent. */
export function* catalogLoads(recordsPerLoad = 10_000): Generator<JsonObject[]> {
  let load: JsonObject[] = []
  for (const record of records()) {
    load.push(record)
    if (load.length < recordsPerLoad) continue
    yield load
    load = []
  }
  if (load.length > 0) yield load
}

function* records(): Generator<JsonObject> {
  for (let level = 0; level < sizes.domains; level += 1)
    yield {
      op: 'createDomain',
      id: `level${level}`,
      name: `Level ${level}`,
      ...(level > 0 ? { parentDomain: domainUrn(level - 1) } : {})
    }
  for (let index = 0; index < sizes.siblings; index += 1)
    yield {
      op: 'createDomain',
      id: `sibling${index}`,
      name: `Team ${index}`,
      parentDomain: domainUrn(0)
    }
  for (let index = 0; index < sizes.assets; index += 1) {
    yield {
      op: 'upsertEntity',
      urn: assetUrn(index),
      name: `table_${index} ${words[index % words.length]}`,
      description: `All ${words[(index * 7) % words.length]} of area ${index % 100}, one row for each day`
    }
    if (index % 5 === 0)
      yield {
        op: 'setDomain',
        entityUrn: assetUrn(index),
        domainUrn: domainUrn(sizes.domains - 1 - ((index / 5) % 10))
      }
  }
  for (let index = 1; index < sizes.assets; index += 1)
    yield {
      upstreamUrn: assetUrn(index <= fan ? 0 : 1 + ((index - fan) % fan)),
      downstreamUrn: assetUrn(index)
    }
  for (let index = sizes.assets - sizes.chain; index < sizes.assets - 1; index += 1)
    yield { upstreamUrn: assetUrn(index), downstreamUrn: assetUrn(index + 1) }
}
