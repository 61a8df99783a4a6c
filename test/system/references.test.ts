/**
 * References to missing entities: refused by name through every interface, and never refused because of order
 * alone.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { query } from '../../shared/db/query.ts'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { readLoad, readRejects, sendLoad, type LoadState } from '../torture/catalog-calls.ts'
import { valueAt } from '../support/json-answer.ts'
import { changedTables, tableChecksums } from '../support/table-checksums.ts'
import { withCatalog, type Catalog } from './support/catalog.ts'
import { lines, untilDone } from './support/loads.ts'

const table = (name: string | number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,refer.t${name},PROD)`
const column = (owner: string, name: string): string => `urn:li:schemaField:(${owner},${name})`
const present = table('present')
const absent = table('absent')
const job = 'urn:li:dataJob:(urn:li:dataFlow:(airflow,refer,PROD),j)'
const absentJob = 'urn:li:dataJob:(urn:li:dataFlow:(airflow,refer,PROD),absent)'
const chart = 'urn:li:chart:(looker,refer)'
const absentChart = 'urn:li:chart:(looker,absent)'
const domain = 'urn:li:domain:refer'
const absentDomain = 'urn:li:domain:absent'

const proposal = (
  entityUrn: string,
  aspectName: string,
  value: JsonValue,
  changeType = 'UPSERT'
): JsonObject => ({
  entityType: entityUrn.split(':')[2] ?? '',
  entityUrn,
  changeType,
  aspectName,
  aspect: { json: value }
})

/**
 * Records that refer to something missing, and what is missing. They are proposals, which REST and both
 * formats of loads accept.
 */
const refused: [what: string, proposal: JsonObject, names: string][] = [
  [
    'lineage of an absent table',
    proposal(absent, 'upstreamLineage', { upstreams: [{ dataset: present, type: 'COPY' }] }),
    absent
  ],
  [
    'lineage from an absent table',
    proposal(present, 'upstreamLineage', {
      upstreams: [
        { dataset: present, type: 'COPY' },
        { dataset: absent, type: 'COPY' }
      ]
    }),
    absent
  ],
  [
    'column lineage from an absent table',
    proposal(present, 'upstreamLineage', {
      upstreams: [],
      fineGrainedLineages: [
        {
          upstreamType: 'FIELD_SET',
          upstreams: [column(absent, 'a')],
          downstreamType: 'FIELD',
          downstreams: [column(present, 'b')]
        }
      ]
    }),
    absent
  ],
  [
    'a patch of lineage from an absent table',
    proposal(
      present,
      'upstreamLineage',
      [{ op: 'add', path: `/upstreams/${absent}`, value: { dataset: absent, type: 'COPY' } }],
      'PATCH'
    ),
    absent
  ],
  [
    'the edges of an absent job',
    proposal(absentJob, 'dataJobInputOutput', { inputDatasets: [present], outputDatasets: [] }),
    absentJob
  ],
  [
    'the edges of a job to an absent table',
    proposal(job, 'dataJobInputOutput', {
      inputDatasets: [],
      outputDatasets: [],
      outputDatasetEdges: [{ destinationUrn: absent }]
    }),
    absent
  ],
  [
    'the fields of an absent chart',
    proposal(absentChart, 'inputFields', { fields: [{ schemaFieldUrn: column(present, 'a') }] }),
    absentChart
  ],
  [
    'a chart of an absent table',
    proposal(chart, 'chartInfo', { title: 't', description: 'd', inputs: [{ string: absent }] }),
    absent
  ],
  ['the domain of an absent table', proposal(absent, 'domains', { domains: [domain] }), absent],
  ['an absent domain', proposal(present, 'domains', { domains: [absentDomain] }), absentDomain],
  [
    'a domain below an absent one',
    proposal('urn:li:domain:refer-new', 'domainProperties', { name: 'New', parentDomain: absentDomain }),
    absentDomain
  ]
]

const refusedRecords: [what: string, record: JsonObject, names: string][] = [
  ...refused,
  ['an edge from an absent table', { upstreamUrn: absent, downstreamUrn: present }, absent],
  ['an edge to an absent table', { upstreamUrn: present, downstreamUrn: absent }, absent],
  [
    'an edge of columns of an absent table',
    { upstreamUrn: column(absent, 'a'), downstreamUrn: column(present, 'a') },
    absent
  ],
  ['a domain for an absent table', { op: 'setDomain', entityUrn: absent, domainUrn: domain }, absent],
  [
    'an absent domain for a table',
    { op: 'setDomain', entityUrn: present, domainUrn: absentDomain },
    absentDomain
  ],
  [
    'an absent parent',
    { op: 'createDomain', id: 'refer-new', name: 'New', parentDomain: absentDomain },
    absentDomain
  ]
]

const edge = (upstreamUrn: string, downstreamUrn: string): string =>
  `{ upstreamUrn: ${JSON.stringify(upstreamUrn)}, downstreamUrn: ${JSON.stringify(downstreamUrn)} }`
const mutations: [mutation: string, names: string][] = [
  [`updateLineage(input: { edgesToAdd: [${edge(present, absent)}], edgesToRemove: [] })`, absent],
  [`updateLineage(input: { edgesToAdd: [${edge(job, present)}, ${edge(absent, job)}] })`, absent],
  [`updateLineage(input: { edgesToAdd: [${edge(column(absent, 'a'), column(present, 'a'))}] })`, absent],
  [`setDomain(entityUrn: ${JSON.stringify(present)}, domainUrn: "${absentDomain}")`, absentDomain],
  [`setDomain(entityUrn: ${JSON.stringify(absent)}, domainUrn: "${domain}")`, absent],
  [`unsetDomain(entityUrn: ${JSON.stringify(absent)})`, absent],
  [`createDomain(input: { name: "New", parentDomain: "${absentDomain}" })`, absentDomain]
]

/**
 * What a load may write even if all of it is refused: rows about the load itself, and the number of its
 * source's name.
 */
const bookkeeping = new Set(['audit', 'chunk', 'load', 'load_declaration', 'reject', 'statement_source'])

async function loaded(
  t: Test,
  { client }: Catalog,
  records: Iterable<string>,
  parameters: Record<string, string> = {}
): Promise<LoadState> {
  return untilDone(t, client, await sendLoad(client, records, parameters))
}

t.test('row 5: what refers to nothing is refused by name and changes nothing', async (t) => {
  const catalog = await withCatalog(t, { workers: 1 })
  const { client, db } = catalog
  await client.make(present, job, chart)
  await client.createDomain({ id: 'refer', name: 'Refer' })
  const before = await tableChecksums(db)

  t.test('in GraphQL', async (t) => {
    for (const [mutation, names] of mutations) {
      const { reason, message, json } = await client.graphql(`mutation { ${mutation} }`)
      t.match(valueAt(json, 'errors.0.extensions'), { code: 400, type: 'BAD_REQUEST' }, mutation)
      t.ok(String(message).includes(names), `${String(reason)}: ${String(message)}`)
    }
    t.same(changedTables(before, await tableChecksums(db)), [])
  })

  t.test('in proposals, alone and among good ones', async (t) => {
    for (const [what, refusedProposal, names] of refused) {
      const good = proposal(table('good'), 'status', { removed: false })
      const requests: { [action: string]: JsonObject } = {
        ingestProposal: { proposal: refusedProposal },
        ingestProposalBatch: { proposals: [good, refusedProposal] }
      }
      for (const [action, body] of Object.entries(requests)) {
        const { status, json } = await client.send('POST', `/aspects?action=${action}`, body)
        t.equal(status, 422, what)
        t.ok(String(valueAt(json, 'message')).includes(names), `${what}: ${JSON.stringify(json)}`)
      }
    }
    t.same(changedTables(before, await tableChecksums(db)), [])
  })

  t.test('in loads of both formats', async (t) => {
    for (const [format, cases] of [
      ['ndjson', refusedRecords],
      ['mcp', refused]
    ] as const) {
      const { id, counts } = await loaded(t, catalog, lines(cases.map(([, record]) => record)), { format })
      t.same(counts, { received: cases.length, applied: 0, unchanged: 0, rejected: cases.length }, format)
      const rejects = await readRejects(client, id)
      t.same(
        rejects.map(({ line }) => line),
        cases.map((_, index) => index + 1)
      )
      for (const [index, [what, , names]] of cases.entries())
        t.ok(rejects[index]?.message.includes(names), `${what}: ${rejects[index]?.message}`)
    }
    t.same(
      changedTables(before, await tableChecksums(db)).filter((name) => !bookkeeping.has(name)),
      []
    )
  })

  t.test('in submitChanges', async (t) => {
    const { data } = await client.graphql(`mutation { submitChanges(input: {
      edgesToAdd: [${edge(absent, present)}], setDomains: [{ entityUrn: ${JSON.stringify(present)}, domainUrn: "${absentDomain}" }], createDomains: [{ name: "New", parentDomain: "${absentDomain}" }]
    }) { id } }`)
    const { id, counts } = await untilDone(t, client, String(valueAt(data, 'submitChanges.id')))
    t.match(counts, { received: 3, rejected: 3 })
    const messages = (await readRejects(client, id)).map(({ message }) => message).join('\n')
    t.ok(messages.includes(absent) && messages.includes(absentDomain), messages)
    t.same(
      changedTables(before, await tableChecksums(db)).filter((name) => !bookkeeping.has(name)),
      []
    )
  })
})

const tableCount = 9_980
const nestedCount = 19

/**
 * References to each table and domain: a chain of tables, some of them in domains, and a chain of domains,
 * deepest first.
 */
function referring(): JsonObject[] {
  const domainOf = (index: number): string => `urn:li:domain:refer-${index}`
  return [
    ...Array.from({ length: tableCount - 1 }, (_, index): JsonObject =>
      index % 2 === 0
        ? { upstreamUrn: table(index), downstreamUrn: table(index + 1) }
        : proposal(table(index + 1), 'upstreamLineage', {
            upstreams: [{ dataset: table(index), type: 'COPY' }]
          })
    ),
    { op: 'setDomain', entityUrn: table(5), domainUrn: domainOf(nestedCount - 1) },
    proposal(table(6), 'domains', { domains: [domainOf(0)] }),
    ...Array.from({ length: nestedCount - 1 }, (_, index): JsonObject => ({
      op: 'createDomain',
      id: `refer-${nestedCount - 1 - index}`,
      name: `Nested ${index}`,
      parentDomain: domainOf(nestedCount - 2 - index)
    }))
  ]
}

function creating(): JsonObject[] {
  return [
    { op: 'createDomain', id: 'refer-0', name: 'Top' },
    ...Array.from({ length: tableCount }, (_, index): JsonObject => ({
      op: 'upsertEntity',
      urn: table(index),
      name: `t${index}`
    }))
  ]
}

async function holdsAll(t: Test, { db, client }: Catalog): Promise<void> {
  const [row] = await query<{ edges: number }>(db, 'select count(*)::int as edges from statement')
  t.equal(row?.edges, tableCount - 1)
  const { data } = await client.graphql(
    `{ dataset(urn: ${JSON.stringify(table(5))}) { domain { domain { urn parentDomains { count } } } } }`
  )
  t.equal(valueAt(data, 'dataset.domain.domain.parentDomains.count'), nestedCount - 1)
}

t.test(
  'row 5: 20,001 records, each reference before what it refers to, are accepted whole by two workers',
  async (t) => {
    const catalog = await withCatalog(t, { workers: 2 })
    const records = [...referring(), ...creating()]
    while (records.length < 20_001)
      records.unshift({
        op: 'setDomain',
        entityUrn: table((records.length % 100) + 10),
        domainUrn: 'urn:li:domain:refer-1'
      })
    const { counts } = await loaded(t, catalog, lines(records))
    t.same(counts, { received: 20_001, applied: 20_001, unchanged: 0, rejected: 0 })
    await holdsAll(t, catalog)
    for (const worker of catalog.workers)
      t.match(worker.said(), /looked at a chunk/, 'both workers had their share')
  }
)

t.test('row 5: over two loads the order of acceptance decides', async (t) => {
  const catalog = await withCatalog(t, { workers: 2 })
  const { db, client } = catalog

  await t.test('what refers, accepted first and settled, is rejected by name', async (t) => {
    const { id, counts } = await loaded(t, catalog, lines(referring()))
    t.equal(counts.rejected, counts.received)
    const [first] = await readRejects(client, id)
    t.match(first, { line: 1, message: table(0) })
  })

  await t.test('what creates, accepted first but slow, is waited for', async (t) => {
    await client.make(table(0))
    const tx = await db.transaction()
    // the worker that takes the chunk with this table waits here
    await query(tx, 'select 1 from entity where urn = ? for update', [table(0)])
    const first = await sendLoad(client, lines(creating().reverse()), { source: 'creates' })
    const second = await sendLoad(client, lines(referring()), { source: 'refers' })
    await sleep(1_500)
    const states = [await readLoad(client, first), await readLoad(client, second)]
    await tx.commit()
    t.not(states[0]?.state, 'done', 'the first is held')
    t.equal(states[1]?.counts.rejected, 0, 'and the second not rejected')
    for (const id of [first, second]) t.match((await untilDone(t, client, id)).counts, { rejected: 0 })
    await holdsAll(t, catalog)
  })
})
