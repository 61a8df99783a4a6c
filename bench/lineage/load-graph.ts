/**
 * Writes a benchmark's graph directly into the catalog's tables, as if loads had written it, and puts its
 * assets into some domains.
 */
import type { Call } from '../../shared/catalog/write/call.ts'
import { createDomain } from '../../shared/catalog/write/create-domain.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { edgePairOf, type EdgePair } from '../../shared/model/lineage-fields.ts'
import { bareRecordKey } from '../../shared/model/record-keys.ts'
import { findEntities } from '../../shared/store/entities.ts'
import { urnKey } from '../../shared/urn/urn-key.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import { copyIn } from './copy-in.ts'
import { entityIdOf, nodeCountOf, type BenchGraph } from './graphs.ts'
import { analyze, withoutIndexes } from './without-indexes.ts'

const manualSourceId = 1

/** Who writes in benchmarks. */
export const benchCall: Call = {
  actor: { urn: toUrn('urn:li:corpuser:bench'), tokenId: null, scopes: ['admin'], domainUrns: null },
  requestId: null
}

/** The domains of a loaded graph: four at the top, two below each; two thirds of the assets are in one. */
export type LoadedDomains = { urns: Urn[]; domainOf: (asset: number) => Urn | null }

/** The catalog must be migrated and empty. Afterwards node n is entity n + 1, and every node exists. */
export async function loadIntoCatalog(db: Db, graph: BenchGraph): Promise<LoadedDomains> {
  await withoutIndexes(db, 'entity', () =>
    copyIn(db, 'entity (id, urn, urn_key, entity_type, parent_id, is_present)', entityLines(graph))
  )
  await query(db, `select setval(pg_get_serial_sequence('entity', 'id'), ?::int)`, [nodeCountOf(graph)])
  await withoutIndexes(db, 'statement', () =>
    copyIn(
      db,
      'statement (downstream_id, upstream_id, owner_id, field, source_id, record_key, position, seq, line)',
      statementLines(graph)
    )
  )
  return loadDomainsOf(db, graph.assetCount)
}

function* entityLines({ assetCount, columnCount, urnOf, typeOf, parentOf }: BenchGraph): Generator<string> {
  for (let node = 0; node < assetCount + columnCount; node += 1) {
    const urn = urnOf(node)
    const parent = parentOf(node)
    yield `${entityIdOf(node)}\t${urn}\t${urnKey(urn)}\t${typeOf(node)}\t${parent === null ? '\\N' : entityIdOf(parent)}\tt`
  }
}

function* statementLines(graph: BenchGraph): Generator<string> {
  const pairs = new Map<string, EdgePair>()
  const pairOf = (upstream: number, downstream: number): EdgePair => {
    const key = `${graph.typeOf(upstream)} ${graph.typeOf(downstream)}`
    const pair = pairs.get(key) ?? edgePairOf(graph.typeOf(upstream), graph.typeOf(downstream))
    if (!pair) throw new Error(`no lineage leads between ${key}`)
    pairs.set(key, pair)
    return pair
  }
  for (const { upstream, downstream } of [graph.edges, graph.columnEdges]) {
    for (let edge = 0; edge < upstream.length; edge += 1) {
      const up = upstream[edge] ?? 0
      const down = downstream[edge] ?? 0
      const { owner, fieldCode } = pairOf(up, down)
      const owning = owner === 'downstream' ? down : up
      yield `${entityIdOf(down)}\t${entityIdOf(up)}\t${entityIdOf(graph.parentOf(owning) ?? owning)}\t${fieldCode}\t${manualSourceId}\t${bareRecordKey}\t${edge % 1_000}\t0\t0`
    }
  }
}

/** Four domains at the top, two below each, and two thirds of the assets (the entities from 1 on) in them. */
export async function loadDomainsOf(db: Db, assetCount: number): Promise<LoadedDomains> {
  const urns: Urn[] = []
  for (const top of ['finance', 'sales', 'logistics', 'people']) {
    const above = await createDomain(db, { id: top, name: top }, benchCall)
    urns.push(above)
    for (const part of ['core', 'reporting'])
      urns.push(await createDomain(db, { id: `${top}_${part}`, name: part, parentDomain: above }, benchCall))
  }
  const domainOf = (asset: number) => (asset % 3 === 0 ? null : (urns[asset % urns.length] ?? null))
  const idOf = new Map((await findEntities(db, urns)).map((row) => [row.urn, row.id]))
  await copyIn(
    db,
    'domain_association (entity_id, domain_id, version, seq, line, actor)',
    associationLines(assetCount, domainOf, idOf)
  )
  await analyze(db, 'domain_association')
  return { urns, domainOf }
}

function* associationLines(
  assetCount: number,
  domainOf: LoadedDomains['domainOf'],
  idOf: ReadonlyMap<Urn, number>
): Generator<string> {
  for (let asset = 0; asset < assetCount; asset += 1) {
    const domain = domainOf(asset)
    const id = domain && idOf.get(domain)
    if (id) yield `${entityIdOf(asset)}\t${id}\t1\t0\t0\t${benchCall.actor.urn}`
  }
}
