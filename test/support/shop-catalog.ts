/**
 * The catalog of a shop with 4,000 assets, for tests of the pages: tables of the same name in many systems,
 * nested domains, products, tags, terms, people, groups, runs, and assets that are removed or only mentioned.
 */
import type { JsonObject } from '../../shared/model/changes.ts'
import { aspectRecord, column, domain, loadRecords } from './large-catalog.ts'
import { eventAt, facet } from './openlineage.ts'
import type { TestServer } from './server.ts'

export const table = (platform: string, name: string): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`
const user = (name: string): string => `urn:li:corpuser:${name}`
const tag = (name: string): string => `urn:li:tag:${name}`
const term = (name: string): string => `urn:li:glossaryTerm:${name}`

const nouns = (
  'orders customers payments refunds products invoices shipments carts coupons reviews returns stock stores ' +
  'suppliers prices taxes sessions clicks campaigns emails leads tickets agents contracts plans subscriptions ' +
  'events devices countries currencies accounts ledgers budgets costs forecasts targets employees salaries ' +
  'warehouses parcels routes drivers vehicles claims audits alerts metrics experiments variants cohorts'
).split(' ')

/** Who sells, pays and ships: each has its own table of most nouns, read into one schema of the warehouse. */
const sources = 'stripe shopify salesforce zendesk netsuite adyen braze segment hubspot workday'.split(' ')

type Area = { id: string; name: string; parent?: string }
const areas: readonly Area[] = [
  { id: 'finance', name: 'Finance' },
  { id: 'accounting', name: 'Accounting', parent: 'finance' },
  { id: 'revenue', name: 'Revenue', parent: 'finance' },
  { id: 'billing', name: 'Billing', parent: 'revenue' },
  { id: 'marketing', name: 'Marketing' },
  { id: 'campaigns', name: 'Campaigns', parent: 'marketing' },
  { id: 'sales', name: 'Sales' },
  { id: 'emea', name: 'EMEA', parent: 'sales' },
  { id: 'americas', name: 'Americas', parent: 'sales' },
  { id: 'logistics', name: 'Logistics' },
  { id: 'delivery', name: 'Delivery', parent: 'logistics' },
  { id: 'people', name: 'People' },
  { id: 'support', name: 'Support' },
  { id: 'platform', name: 'Data platform' }
]
/** The schemas of the warehouse that people read, each with the domain of its tables. */
const marts = [
  ['finance', 'revenue'],
  ['accounting', 'accounting'],
  ['marketing', 'campaigns'],
  ['sales', 'emea'],
  ['logistics', 'delivery'],
  ['people', 'people'],
  ['support', 'support']
] as const

const people = [
  ['ada', 'Ada Lovelace', 'Analytics engineer'],
  ['grace', 'Grace Hopper', 'Head of data'],
  ['edgar', 'Edgar Codd', 'Finance analyst'],
  ['barbara', 'Barbara Liskov', 'Data engineer'],
  ['jim', 'Jim Gray', 'Platform engineer'],
  ['margaret', 'Margaret Hamilton', 'Product manager']
] as const

const tags = [
  ['pii', 'Personal data', '#c2410c'],
  ['gold', 'Gold', '#a16207'],
  ['hourly', 'Hourly', '#0369a1'],
  ['legacy', 'Legacy', '#57534e']
] as const
const terms = ['Net revenue', 'Gross margin', 'Active customer', 'Churn', 'Return rate'] as const

/** The assets that most questions are about. */
export const rawOrders = table('snowflake', 'raw.stripe.orders')
export const stagedOrders = table('snowflake', 'staging.stripe.stg_orders')
export const orders = table('snowflake', 'analytics.finance.orders')
export const ordersDashboard = 'urn:li:dashboard:(looker,dashboards.finance)'

const chart = (id: string): string => `urn:li:chart:(looker,${id})`
const dashboard = (id: string): string => `urn:li:dashboard:(looker,dashboards.${id})`
const flow = (id: string): string => `urn:li:dataFlow:(airflow,${id},PROD)`
const job = (flowId: string, id: string): string => `urn:li:dataJob:(${flow(flowId)},${id})`

const edge = (upstreamUrn: string, downstreamUrn: string): object => ({ upstreamUrn, downstreamUrn })
const put = (urn: string, name: string, description?: string): object => ({
  op: 'upsertEntity',
  urn,
  name,
  ...(description === undefined ? {} : { description })
})
const inDomain = (entityUrn: string, id: string): object => ({
  op: 'setDomain',
  entityUrn,
  domainUrn: domain(id)
})
const pick = <Each>(list: readonly Each[], at: number): Each => {
  const found = list[at % list.length]
  if (found === undefined) throw new Error('an empty list')
  return found
}

const owned = (entityType: string, entityUrn: string, names: readonly string[]): object =>
  aspectRecord(entityType, entityUrn, 'ownership', {
    owners: names.map((name) => ({
      owner: name.startsWith('urn:') ? name : user(name),
      type: 'DATAOWNER'
    })),
    lastModified: { time: 0, actor: user('ada') }
  })

const types: { readonly [type: string]: string } = {
  NUMBER: 'NumberType',
  VARCHAR: 'StringType',
  TIMESTAMP: 'DateType'
}
type Field = { path: string; type: string; about?: string; tags?: readonly string[] }
const withColumns = (urn: string, fields: readonly Field[]): object =>
  aspectRecord('dataset', urn, 'schemaMetadata', {
    schemaName: 's',
    platform: 'urn:li:dataPlatform:snowflake',
    version: 0,
    hash: '',
    platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
    fields: fields.map(({ path, type, about, tags: names = [] }) => ({
      fieldPath: path,
      nativeDataType: type,
      type: { type: { [`com.linkedin.schema.${types[type] ?? 'StringType'}`]: {} } },
      ...(about === undefined ? {} : { description: about }),
      ...(names.length > 0 ? { globalTags: { tags: names.map((name) => ({ tag: tag(name) })) } } : {})
    }))
  })

/** The columns of every table of orders. */
const orderFields: readonly Field[] = [
  { path: 'order_id', type: 'NUMBER', about: 'The key of an order.' },
  { path: 'customer_email', type: 'VARCHAR', about: 'Where the receipt was sent.', tags: ['pii'] },
  { path: 'amount', type: 'NUMBER', about: 'What the customer paid, in cents of `currency`.' },
  { path: 'currency', type: 'VARCHAR' },
  { path: 'status', type: 'VARCHAR', about: 'One of `open`, `paid`, `refunded`.' },
  { path: 'ordered_at', type: 'TIMESTAMP' }
]

const aboutOrders = `One row for each **paid order** of the shop, without test orders.

- Refunds are in \`analytics.finance.refunds\`.
- \`amount\` is in cents.

See the [handbook](https://handbook.example.org/orders) before you change it.`

const abouts = [
  'One row for each, without those of tests.',
  'A snapshot of every day; the newest counts.',
  'What the reports of the team are made of, in euros.'
] as const
/** Of three tables in four something is told. */
const aboutMart = (noun: string, index: number): string | undefined =>
  index % 4 === 3
    ? undefined
    : `${noun.slice(0, 1).toUpperCase()}${noun.slice(1)} as the team reads them. ${pick(abouts, index)}`

/** Assets of one kind, with what is known of each. */
function warehouse(): object[] {
  const records: object[] = []
  sources.forEach((source, at) => {
    nouns.forEach((noun, index) => {
      const raw = table('snowflake', `raw.${source}.${noun}`)
      const staged = table('snowflake', `staging.${source}.stg_${noun}`)
      records.push(put(raw, noun), put(staged, `stg_${noun}`), edge(raw, staged))
      // Every fourth source has its tables in a database of its own, which a job copies.
      if (at % 4 === 0) {
        const own = table('postgres', `${source}.public.${noun}`)
        records.push(put(own, noun), edge(own, raw))
      }
      if (at % 5 === 1) records.push(put(table('kafka', `${source}.${noun}.v1`), `${source}.${noun}.v1`))
      if (index % 3 === 0) records.push(inDomain(staged, 'platform'))
    })
  })
  marts.forEach(([schema, area], at) => {
    nouns.forEach((noun, index) => {
      const mart = table('snowflake', `analytics.${schema}.${noun}`)
      records.push(
        put(mart, noun, noun === 'orders' && schema === 'finance' ? aboutOrders : aboutMart(noun, index)),
        inDomain(mart, index % 7 === 6 ? pick(areas, index).id : area),
        owned('dataset', mart, [
          pick(people, at + index)[0],
          ...(index % 5 === 0 ? ['urn:li:corpGroup:finance-data'] : [])
        ]),
        edge(table('snowflake', `staging.${pick(sources, at + index)}.stg_${noun}`), mart)
      )
      for (const copy of ['bigquery', 'databricks'].slice(0, at % 3))
        records.push(
          put(table(copy, `${schema}.${noun}`), noun),
          edge(mart, table(copy, `${schema}.${noun}`))
        )
      if (index % 4 === 0)
        records.push(
          aspectRecord('dataset', mart, 'globalTags', { tags: [{ tag: tag(pick(tags, at + index)[0]) }] })
        )
      if (index % 9 === 0)
        records.push(
          aspectRecord('dataset', mart, 'glossaryTerms', {
            terms: [{ urn: term(pick(terms, at + index).replace(' ', '_')) }],
            auditStamp: { time: 0, actor: user('ada') }
          })
        )
    })
  })
  for (let index = 0; index < 1_930; index += 1) {
    records.push(put(lakeFile(index), `v${index}`))
  }
  return records
}

const lakeFile = (index: number): string =>
  table('s3', `shop-lake/${pick(sources, index)}/${pick(nouns, index)}/v${index}`)
const removed = (): object[] =>
  Array.from({ length: 40 }, (_, index) =>
    aspectRecord('dataset', lakeFile(index), 'status', { removed: true })
  )

function dashboards(): object[] {
  return marts.flatMap(([schema, area], at) => [
    put(
      dashboard(schema),
      `${
        pick(
          areas,
          areas.findIndex(({ id }) => id === area)
        ).name
      } overview`
    ),
    inDomain(dashboard(schema), area),
    owned('dashboard', dashboard(schema), [pick(people, at)[0]]),
    ...nouns
      .slice(0, 16)
      .flatMap((noun) => [
        put(chart(`${schema}.${noun}_by_week`), `${noun.slice(0, 1).toUpperCase()}${noun.slice(1)} by week`),
        edge(table('snowflake', `analytics.${schema}.${noun}`), chart(`${schema}.${noun}_by_week`)),
        edge(chart(`${schema}.${noun}_by_week`), dashboard(schema))
      ])
  ])
}

function jobs(): object[] {
  return sources.flatMap((source) => [
    put(flow(`load_${source}`), `load_${source}`),
    inDomain(flow(`load_${source}`), 'platform'),
    ...nouns
      .slice(0, 8)
      .flatMap((noun) => [
        put(job(`load_${source}`, `stage_${noun}`), `stage_${noun}`),
        edge(table('snowflake', `raw.${source}.${noun}`), job(`load_${source}`, `stage_${noun}`)),
        edge(job(`load_${source}`, `stage_${noun}`), table('snowflake', `staging.${source}.stg_${noun}`))
      ])
  ])
}

/** What the finance orders are made of and lead to, column by column. */
function ordersInDetail(): object[] {
  const model = 'urn:li:mlModel:(urn:li:dataPlatform:mlflow,demand_forecast,PROD)'
  return [
    ...[rawOrders, stagedOrders, orders].map((urn) => withColumns(urn, orderFields)),
    ...orderFields.flatMap(({ path }) => [
      edge(column(rawOrders, path), column(stagedOrders, path)),
      edge(column(stagedOrders, path), column(orders, path))
    ]),
    edge(stagedOrders, orders),
    ...nouns.slice(1, 12).flatMap((noun) => {
      const mart = table('snowflake', `analytics.finance.${noun}`)
      return [
        edge(orders, mart),
        withColumns(mart, [{ path: `${noun}_total`, type: 'NUMBER' }]),
        edge(column(orders, 'amount'), column(mart, `${noun}_total`))
      ]
    }),
    put(model, 'demand_forecast', 'Demand of the next *four weeks*.'),
    edge(orders, model),
    inDomain(model, 'delivery'),
    aspectRecord('dataset', orders, 'institutionalMemory', {
      elements: [
        {
          url: 'https://handbook.example.org/orders',
          description: 'Handbook: orders',
          createStamp: { time: 0, actor: user('ada') }
        }
      ]
    }),
    edge(table('mysql', 'legacy.orders_archive'), rawOrders),
    edge(orders, orders)
  ]
}

function described(): object[] {
  return [
    ...areas.map(({ id, name, parent }) => ({
      op: 'createDomain',
      id,
      name,
      ...(parent === undefined ? {} : { parentDomain: domain(parent) }),
      description: `All that belongs to **${name}**.`
    })),
    ...areas
      .filter(({ parent }) => parent === undefined)
      .map(({ id }, at) => owned('domain', domain(id), [pick(people, at)[0]])),
    ...people.map(([name, displayName, title]) =>
      aspectRecord('corpuser', user(name), 'corpUserInfo', {
        active: true,
        displayName,
        title,
        email: `${name}@shop.example.org`
      })
    ),
    aspectRecord('corpGroup', 'urn:li:corpGroup:finance-data', 'corpGroupInfo', {
      displayName: 'Finance data',
      description: 'Owns what the finance team reads.',
      email: 'finance-data@shop.example.org',
      admins: [],
      members: [],
      groups: []
    }),
    ...tags.map(([name, title, colorHex]) =>
      aspectRecord('tag', tag(name), 'tagProperties', {
        name: title,
        description: `Marks ${title}.`,
        colorHex
      })
    ),
    ...terms.map((name) =>
      aspectRecord('glossaryTerm', term(name.replace(' ', '_')), 'glossaryTermInfo', {
        name,
        definition: `What **${name.toLowerCase()}** means here.`,
        termSource: 'INTERNAL'
      })
    )
  ]
}

const products = (): object[] =>
  (
    [
      ['orders', 'Orders', 'revenue', [orders, rawOrders, stagedOrders]],
      ['returns', 'Returns', 'delivery', [table('snowflake', 'analytics.logistics.returns')]]
    ] as const
  ).flatMap(([id, name, area, assets]) => [
    aspectRecord('dataProduct', `urn:li:dataProduct:${id}`, 'dataProductProperties', {
      name,
      description: `Everything about ${name.toLowerCase()}.`,
      assets: assets.map((destinationUrn) => ({ destinationUrn }))
    }),
    inDomain(`urn:li:dataProduct:${id}`, area)
  ])

const failedWith = { message: 'Numeric value "n/a" is not recognized', programmingLanguage: 'SQL' }

/** The jobs that write tables of the warehouse, in order, with what each reads. */
const builds: readonly (readonly [schema: string, noun: string, reads: readonly string[]])[] = [
  ['finance', 'orders', ['staging.stripe.stg_orders']],
  ['finance', 'ledgers', ['staging.zendesk.stg_ledgers']],
  ['finance', 'costs', ['staging.netsuite.stg_costs']],
  ['finance', 'budgets', ['analytics.finance.ledgers', 'analytics.finance.costs']],
  ['finance', 'forecasts', ['analytics.finance.budgets']],
  ['sales', 'orders', ['staging.netsuite.stg_orders']],
  ['marketing', 'orders', ['staging.salesforce.stg_orders']],
  ['logistics', 'orders', ['staging.netsuite.stg_orders']]
]
/** How many hours ago a job ran, the oldest first. */
const hoursAgo = [218, 194, 170, 146, 122, 98, 74, 50, 26, 2] as const

/** Runs of the jobs: the last one of the finance orders failed, as did one before, and what follows it waits. */
function runs(): JsonObject[] {
  const named = (name: string): JsonObject => ({ namespace: 'snowflake', name })
  const event = (
    [schema, noun, reads]: (typeof builds)[number],
    eventTime: number,
    eventType: string,
    run: JsonObject
  ): JsonObject => ({
    ...eventAt(0, {
      eventType,
      run,
      job: {
        namespace: 'airflow',
        name: `${schema}.build_${noun}`,
        facets: {
          sql: facet({ query: `insert into ${noun} select * from stg_${noun} where not is_test` }),
          sourceCodeLocation: facet({ type: 'git', url: `https://git.example.org/shop/${noun}.sql` })
        }
      },
      inputs: reads.map(named),
      outputs: [named(`analytics.${schema}.${noun}`)]
    }),
    eventTime: new Date(eventTime).toISOString()
  })
  return builds.flatMap((build, at) =>
    hoursAgo.flatMap((hours, place) => {
      const started = Date.now() - hours * 3_600_000 + at * 240_000
      const runId = `019d0000-0000-7000-8000-0000000${at}0${String(place).padStart(3, '0')}`
      const hasFailed = (at === 0 && (hours === 2 || hours === 122)) || (at === 6 && hours === 74)
      return [
        event(build, started, 'START', { runId }),
        event(
          build,
          started + (60 + ((at * 7 + place * 11) % 40) * 6) * 1_000,
          hasFailed ? 'FAIL' : 'COMPLETE',
          {
            runId,
            facets: hasFailed ? { errorMessage: facet(failedWith) } : {}
          }
        )
      ]
    })
  )
}

/** A load of 60 lines of which 20 fit, to be told why the others do not. */
const mostlyRejected = (): object[] =>
  Array.from({ length: 60 }, (_, index) =>
    index < 20
      ? edge(rawOrders, table('snowflake', `staging.${pick(sources, index)}.stg_${pick(nouns, index)}`))
      : edge(rawOrders, table('snowflake', `nowhere.${index}`))
  )

/** Fills a server that has a worker, and returns the id of a load that has 40 rejects. */
export async function loadShopCatalog(server: TestServer): Promise<{ rejectedLoad: string }> {
  await loadRecords(server, [
    ...described(),
    ...warehouse(),
    ...dashboards(),
    ...jobs(),
    ...ordersInDetail(),
    ...products()
  ])
  await loadRecords(server, removed())
  for (const event of runs()) {
    const { status, text } = await server.rest({ method: 'POST', url: '/api/v1/lineage', body: event })
    if (status >= 300) throw new Error(text)
  }
  const { id } = await loadRecords(server, mostlyRejected(), { query: '', rejects: true })
  return { rejectedLoad: id }
}
