/**
 * A catalog of 4,000 assets in which whatever the pages count and list is more than they show at once, loaded
 * into a test server.
 */
import type { TestServer } from './server.ts'

export const dataset = (name: string, platform = 'hive'): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`
export const chart = (id: string): string => `urn:li:chart:(looker,${id})`
export const dashboard = (id: string): string => `urn:li:dashboard:(looker,${id})`
export const column = (urn: string, path: string): string => `urn:li:schemaField:(${urn},${path})`
export const domain = (id: string): string => `urn:li:domain:${id}`

const counts = { datasets: 3_600, charts: 300, dashboards: 100 }
const platforms = ['hive', 'snowflake', 'postgres', 'kafka']
const [topDomains, domainsOfEach] = [6, 3]
/** Three tables in each sub-domain, each with an owner of its own in every third. */
const readersCount = 54

/** The asset that most questions are about. */
export const start = dataset('start')
/** The tables that are derived from a column of `start`. */
export const readers = Array.from({ length: readersCount }, (_, index) =>
  dataset(`reader${index}`, platforms[index % platforms.length])
)
export const subDomain = (index: number): string =>
  `area${Math.floor(index / domainsOfEach) % topDomains}-${index % domainsOfEach}`

export const assetsCount = counts.datasets + counts.charts + counts.dashboards

export const aspectRecord = (
  entityType: string,
  entityUrn: string,
  aspectName: string,
  value: object
): object => ({ entityType, entityUrn, changeType: 'UPSERT', aspectName, aspect: value })

const range = (length: number): number[] => Array.from({ length }, (_, index) => index)
const named = (urn: string): object => ({
  op: 'upsertEntity',
  urn,
  name: urn.replace(/^.*[:(]\w+,([^,)]+).*$/, '$1')
})
const owners = (entityUrn: string, names: readonly string[]): object =>
  aspectRecord('dataset', entityUrn, 'ownership', {
    owners: names.map((name) => ({ owner: `urn:li:corpuser:${name}`, type: 'DATAOWNER' })),
    lastModified: { time: 0, actor: 'urn:li:corpuser:ada' }
  })
const edge = (upstreamUrn: string, downstreamUrn: string): object => ({ upstreamUrn, downstreamUrn })

function records(): object[] {
  const others = range(counts.datasets - readersCount - 1).map((index) =>
    dataset(`table${index}`, platforms[index % platforms.length])
  )
  const charts = range(counts.charts).map((index) => chart(`chart${index}`))
  const dashboards = range(counts.dashboards).map((index) => dashboard(`board${index}`))
  return [
    ...range(topDomains).map((index) => ({ op: 'createDomain', id: `area${index}`, name: `Area ${index}` })),
    ...range(topDomains * domainsOfEach).map((index) => ({
      op: 'createDomain',
      id: subDomain(index),
      name: `Part ${index}`,
      parentDomain: domain(`area${Math.floor(index / domainsOfEach)}`)
    })),
    ...[start, ...readers, ...others, ...charts, ...dashboards].map(named),
    // Readers are spread over the sub-domains, two of 17 others are in a domain of the top level.
    ...readers.map((entityUrn, index) => ({
      op: 'setDomain',
      entityUrn,
      domainUrn: domain(subDomain(index % (topDomains * domainsOfEach)))
    })),
    ...others.slice(0, 2_000).map((entityUrn, index) => ({
      op: 'setDomain',
      entityUrn,
      domainUrn: domain(
        index % 17 < 2 ? `area${index % topDomains}` : subDomain(index % (topDomains * domainsOfEach))
      )
    })),
    aspectRecord('dataset', start, 'schemaMetadata', schema(['id', 'amount'])),
    ...readers.flatMap((urn, index) => [
      owners(urn, index % 3 === 0 ? [`owner${index}`, 'ada'] : ['ada']),
      edge(start, urn),
      edge(column(start, 'amount'), column(urn, 'total'))
    ]),
    // Readers also read each other, which is not an edge of `start`.
    ...readers.slice(1, 12).map((urn, index) => edge(readers[index] ?? start, urn)),
    // Each of the first charts shows a column; each dashboard has two charts.
    ...charts
      .slice(0, 4)
      .flatMap((urn, index) => [
        edge(readers[index] ?? start, urn),
        edge(column(readers[index] ?? start, 'total'), column(urn, 'total'))
      ]),
    ...dashboards.flatMap((urn, index) =>
      [2 * index, 2 * index + 1].map((at) => edge(chart(`chart${at}`), urn))
    ),
    // A chain of the others, so that they have lineage as well.
    ...others.slice(1, 1_000).map((urn, index) => edge(others[index] ?? start, urn))
  ]
}

export const schema = (paths: readonly string[]): object => ({
  schemaName: 's',
  platform: 'urn:li:dataPlatform:hive',
  version: 0,
  hash: '',
  platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
  fields: paths.map((fieldPath) => ({
    fieldPath,
    nativeDataType: 'int',
    description: `what ${fieldPath} means`,
    type: { type: { 'com.linkedin.schema.NumberType': {} } }
  }))
})

/** Loads records, and returns the load when it has ended. Throws if it has rejects, unless they are allowed. */
export async function loadRecords(
  server: TestServer,
  list: readonly object[],
  { query = '&missingReferences=create', rejects = false } = {}
): Promise<{ id: string; counts: { [verdict: string]: number } }> {
  const { body: begun } = await server.rest({
    method: 'POST',
    url: `/loads?format=ndjson&wait=25${query}`,
    body: list.map((record) => `${JSON.stringify(record)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' }
  })
  for (let body = begun, waits = 0; waits < 20; waits += 1) {
    if (body.state === 'done' && (rejects || body.counts.rejected === 0)) return body
    if (body.state !== 'applying' && body.state !== 'accepted') {
      const { text: first } = await server.rest({ url: `/loads/${body.id}/rejects?limit=3` })
      throw new Error(JSON.stringify([body, first]))
    }
    ;({ body } = await server.rest({ url: `/loads/${begun.id}?wait=25` }))
  }
  throw new Error('the load does not end')
}

/** Fills a server that has a worker. */
export async function loadLargeCatalog(server: TestServer): Promise<void> {
  await loadRecords(server, records())
}
